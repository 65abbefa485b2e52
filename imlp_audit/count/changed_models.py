"""A model counted again under changes of one thing: an argument, the size of its images, its form, or all arguments
that the repository itself gives it somewhere.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from fractions import Fraction
from itertools import combinations, islice, product
from math import inf, prod
from pathlib import Path

import yaml
from torch import nn

from imlp_audit.count.full_count import CountRequest, build_requested, count_each
from imlp_audit.count.request import Changes, ModelRequest, read_configurations
from imlp_audit.errors import AuditError, BuildError
from imlp_audit.files import read_text
from imlp_audit.models.host import TensorInput
from imlp_audit.models.importing import repository
from imlp_audit.models.names.known import Library, known_models
from imlp_audit.models.names.match import variants_of
from imlp_audit.records.counted import CountReport

_MOST = 80  # changes of arguments
_MOST_USES = 24
_APART = 8  # times, for two arguments to be confused
_LEAST_FACTOR = 0.25  # less is a rate
_CLASSES = (1000, 100, 10, 200, 365, 2, 5, 19, 20, 21, 80, 81, 90, 91, 150, 171, 0)
_MANY_CLASSES = (21841, 21842, 21843)
_SIDES = (224, 256, 384, 512, 288, 192, 128, 320, 448, 240, 160, 96, 299, 112, 176, 208, 352, 416, 480)  # usual first
_SIZES = (
    *((side, side) for side in (*_SIDES, 640, 1024)),
    *((720, 1280), (360, 640), (240, 426), (180, 320)),  # of an image that is enlarged, once to four times
    *((512, 1024), (1024, 2048), (512, 2048), (352, 1216), (1080, 1920)),  # of streets
    *((800, 1333), (800, 1280), (480, 640), (256, 192), (384, 288), (256, 128)),  # of objects, rooms and persons
)
_LEAST_SIDE = 8  # a smaller one is a number of channels
_FARTHEST = 4  # times the work that would be printed so, if it grew as the inputs do
_FORMS = ("fuse", "switch_to_deploy", "reparameterize", "convert_to_deploy", "deploy")
"""What models call the method that brings them into the form in which they are used."""


def count_changes(asked: Changes) -> Iterator[tuple[str, str, CountReport | str]]:
    """Yield the model counted; then the kind of each change, its words, and the model under it, or why it failed.

    What is most often the cause comes first: a search may be ended.
    """
    whole = next(iter(count_each([CountRequest(asked.request, parts=True)])))
    yield "", "", whole
    if isinstance(whole, str) or not asked.wanted:
        return
    asked = replace(asked, flops=asked.flops if whole.flops is not None else ())
    try:
        model, maker = build_requested(asked.request)
    except BuildError:  # of code that can be run only once
        return
    rows = count_each([CountRequest(one, bool(asked.flops), parts=True) for one in asked.rows.values()])
    yield from (("row", name, counted) for name, counted in zip(asked.rows, rows, strict=True))
    for where, names in find_frozen(repository(asked.request.file)) if asked.request.file is not None else ():
        under = tuple(f"{name}." for name in names)
        left = sum(one.numel() for name, one in model.named_parameters() if not name.startswith(under))
        words = f"without what {where} freezes: {', '.join(names)}"
        yield "parts", words, whole.model_copy(update={"parameters": {"all": left}, "flops": None})
    every = list(_changes(asked, whole, model, maker))
    found = count_each([counting for _, _, counting in every])
    yield from ((kind, words, counted) for (kind, words, _), counted in zip(every, found, strict=True))


def _changes(
    asked: Changes, whole: CountReport, model: nn.Module, maker: Callable[..., object]
) -> Iterator[tuple[str, str, CountRequest]]:
    request, work = asked.request, bool(asked.flops)
    yield "form", "batch norms folded into the convolutions", CountRequest(request, work, "folded")
    for name in _FORMS if request.file is not None else ():
        if any(callable(getattr(one, name, None)) for one in model.modules()):
            yield "form", f"after the model's own {name}()", CountRequest(request, work, name)
    if request.recipe is not None:
        return
    uses = _as_in_the_repository(asked, model, maker) if request.file is not None else _as_in_the_library(request)
    for words, changed in islice(uses, _MOST_USES):
        yield "repository", words, CountRequest(changed, work)
    for words, changed in _other_sizes(request):
        larger = Fraction(_read(changed), _read(request) or 1) * (whole.flops or {}).get("macs", 0)
        if any(larger / _FARTHEST <= printed <= larger * _FARTHEST for printed in asked.flops):
            yield "size", words, CountRequest(changed)
    for words, changed in islice(_other_arguments(request, model, maker), _MOST):
        yield "argument", words, CountRequest(changed, work)


def _read(request: ModelRequest) -> int:
    """Return how many numbers a model reads."""
    return sum(prod(one.shape) for one in request.reads)


def _other_sizes(request: ModelRequest) -> Iterator[tuple[str, ModelRequest]]:
    """Yield the request with usual sizes of images or frames, with one of the batch, and with one side changed.

    Of images of several sizes, the largest gets the usual size, and the others change as it does.
    """
    inputs = request.reads
    if len(batch := {one.shape[0] for one in inputs if one.shape}) == 1 and batch != {1}:
        single = tuple(one.scaled({0: Fraction(1, *batch)}) if one.shape else one for one in inputs)
        yield f"one of the batch of {max(batch)}", replace(request, inputs=single)
    height, width = max((one.shape[-2:] for one in inputs if one.is_image), default=(0, 0))
    for size in _SIZES if height else ():
        by = {-2: Fraction(size[0], height), -1: Fraction(size[1], width)}
        scaled = tuple(one.scaled(by) if one.is_image else one for one in inputs)
        if scaled != inputs:
            yield f"images of {size[0]} x {size[1]}", replace(request, inputs=scaled)
    for shape, one in {one.shape: one for one in inputs[::-1]}.items():
        square = one.is_image and shape[-2] == shape[-1]
        sides = [axis for axis in range(-1, -2 if square else -len(shape), -1) if shape[axis] >= _LEAST_SIDE]
        for axis, factor in product(sides, (Fraction(1, 2), Fraction(2), Fraction(1, 4))):
            alike = [len(other.shape) == len(shape) and other.shape[axis] == shape[axis] for other in inputs]
            scaled = tuple(x.scaled({axis: factor}) if same else x for x, same in zip(inputs, alike, strict=True))
            now = one.scaled({axis: factor}).shape
            words = " x ".join(map(str, now[-2:] if one.is_image else now[1:]))
            yield f"{one.name or ('images' if one.is_image else 'inputs')} of {words}", replace(request, inputs=scaled)


def _as_in_the_library(request: ModelRequest) -> Iterator[tuple[str, ModelRequest]]:
    """Yield models whose names have one word more."""
    name = request.name.partition(".")[0]
    if request.library in ("timm", "torchvision") and name in known_models(Library(request.library)):
        for other in variants_of(name, Library(request.library)):
            yield f"{request.library}:{other} in its place", replace(request, name=other)


def _as_in_the_repository(
    asked: Changes, model: nn.Module, maker: Callable[..., object]
) -> Iterator[tuple[str, ModelRequest]]:
    """Yield the request with other arguments that the repository gives, and as other files of it define the model."""
    request = asked.request
    assert request.file is not None
    root, own = repository(request.file), {**_known(type(model)), **_known(maker)}
    now, seen = {**own, **request.arguments}, list[object]([(request.file, {})])
    others = list(find_others(request.file.resolve(), root, request.name))
    for user, where, values in find_uses(root, request.name, now):
        changed = {name: value for name, value in values.items() if now.get(name, _Unset) != value}
        near = max((request.file, *others), key=lambda file: len(os.path.commonpath((file.resolve(), root / user))))
        if (near, changed) not in seen:
            seen.append((near, changed))
            words = f"as in {where}: {describe(changed)}".removesuffix(": ")
            yield words, replace(request, file=near, arguments={**request.arguments, **changed})
    for text in asked.configs:
        file, colon, section = text.rpartition("=")[2].partition(":")
        for other in siblings(Path(file)):
            try:
                arguments, _ = read_configurations((f"{other}{colon}{section}",))
            except AuditError:
                continue
            yield f"as in {other.as_posix()}", replace(request, arguments={**request.arguments, **arguments})
    for name, value in request.arguments.items():
        if isinstance(value, str) and Path(value).suffix and Path(value).is_file():
            for other in siblings(Path(value)):
                yield f"{name}={other.as_posix()}", request.with_argument(name, other.as_posix())
    for other in others:
        shown = other.relative_to(root).as_posix()
        tensors = {name: value for name, value in request.arguments.items() if isinstance(value, TensorInput)}
        yield f"as {shown} defines it", replace(request, file=other)
        yield f"as {shown} defines it, with its defaults", replace(request, file=other, arguments=tensors)


class _Unset:
    """In place of the value of an argument that has none."""


def _known(maker: Callable[..., object]) -> dict[str, object]:
    """Return the parameters of a signature, with their defaults."""
    try:
        known = inspect.signature(maker).parameters.values()
    except (TypeError, ValueError):
        return {}
    plain = (one for one in known if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL) and one.name != "self")
    own = {one.name: _Unset if one.default is one.empty else _default(one) for one in plain}
    return {**own, **{name: value for name, value in _keywords(maker).items() if name not in own}}


def _default(one: inspect.Parameter) -> object:
    """Return the default of a parameter; a switch that may be None is off."""
    return False if one.default is None and "bool" in str(one.annotation) else one.default


def _keywords(maker: Callable[..., object]) -> Mapping[str, object]:
    """Return what code takes out of its `**kwargs` by name, with the defaults; None stands for a switch that is off."""
    try:
        code = maker.__init__ if isinstance(maker, type) else maker  # type: ignore[misc]
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError):
        return {}
    taken: dict[str, object] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="kwargs"), attr="get" | "pop"),
                args=[ast.Constant(value=str() as name), *rest],
            ):
                default = rest[0].value if rest and isinstance(rest[0], ast.Constant) else None
                taken[name] = False if default is None else default
    return taken


def _other_arguments(
    request: ModelRequest, model: nn.Module, maker: Callable[..., object]
) -> Iterator[tuple[str, ModelRequest]]:
    """Yield other values of the signature's numbers and truth values, one at a time, and integers exchanged."""
    found = {**_settable(type(model), model), **_settable(maker, model), **request.arguments}
    integers = {name: value for name, value in found.items() if type(value) is int and value > 0}
    sizes = {name: value for name, value in integers.items() if not _counts_classes(name)}
    values: list[tuple[str, object]] = [(name, value) for name, some in request.tries.items() for value in some]
    values += [(name, n) for name in integers if _counts_classes(name) for n in _CLASSES]
    values += [(name, not value) for name, value in found.items() if isinstance(value, bool)]
    values += [(name, value) for name, size in sizes.items() for value in (2 * size, max(1, size // 2))]
    values += [(name, other) for name, value in found.items() for other in _scaled(value)]
    values += [(name, n) for name in integers if _counts_classes(name) for n in _MANY_CLASSES]
    values += [(name, value) for name, size in sizes.items() for value in (size + 1, max(1, size - 1))]
    tried = [(name, value) for name, value in dict.fromkeys(values) if value != found.get(name)]
    pairs = sorted(combinations(sizes, 2), key=lambda pair: -SequenceMatcher(None, *pair).ratio())
    exchanged = [(one, other) for one, other in pairs if sizes[one] != sizes[other]]
    given = [pair for pair in exchanged if set(pair) <= set(request.arguments)]
    like = [pair for pair in exchanged if 1 / _APART <= sizes[pair[0]] / sizes[pair[1]] <= _APART]
    for one, other in given:  # both were written down: they are easily confused
        yield _exchange(request, sizes, one, other)
    yield from ((f"{name}={value}", request.with_argument(name, value)) for name, value in tried)
    for one, other in like:
        if (one, other) not in given:
            yield _exchange(request, sizes, one, other)


def _scaled(value: object) -> tuple[object, ...]:
    """Return a factor, or the widths of all stages, doubled and halved; nothing of a rate, or of anything else."""
    if isinstance(value, float) and _LEAST_FACTOR <= value < inf:
        return 2 * value, value / 2
    if isinstance(value, tuple | list) and value and all(type(one) is int and one > 0 for one in value):
        return tuple(2 * one for one in value), tuple(max(1, one // 2) for one in value)
    return ()


def _exchange(request: ModelRequest, sizes: Mapping[str, int], one: str, other: str) -> tuple[str, ModelRequest]:
    changed = request.with_argument(one, sizes[other]).with_argument(other, sizes[one])
    return f"{one} and {other} exchanged", changed


def _counts_classes(name: str) -> bool:
    return "class" in name or name in {"num_labels", "nc"}


def _settable(maker: Callable[..., object], model: nn.Module) -> Mapping[str, object]:
    """Return the arguments of a signature whose defaults are numbers or switches, with what the model has of them."""
    own = vars(model)
    return {
        name: own[name] if type(own.get(name)) is type(default) else default
        for name, default in _known(maker).items()
        if isinstance(default, bool | int | float | tuple | list)
    }


_MOST_FILES, _MOST_BYTES, _MOST_READ = 3000, 100_000, 3_000_000
_YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Use = tuple[str, str, dict[str, object]]
"""A file, where in it arguments are given, and their values by name."""


def find_uses(root: Path, name: str, parameters: Collection[str]) -> Iterator[Use]:
    """Yield where a class or function is called, and with which literal arguments; then configurations that name them.

    Files are read and not run.
    """
    texts = [(path.relative_to(root).as_posix(), text) for path, text in _read_all(root)]
    for shown, text in texts:
        if shown.endswith(".py") and name in text:
            yield from _calls(shown, text, name, list(parameters))
    for shown, text in texts:
        if sum(one.lower() in text.lower() for one in parameters) < 2:
            continue
        if not shown.endswith(".py"):
            yield from ((shown, shown, found) for found in _mappings(_parse(text), parameters))
        elif "add_argument" in text and (defaults := _flags(text, parameters)):
            yield shown, f"the flags of {shown}", defaults


def find_frozen(root: Path) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the files that freeze modules by name, `p.requires_grad = False` in a loop, and these; none is run."""
    for path, text in _read_all(root):
        names = dict[str, None]()
        for loop in _nodes(text) if path.suffix == ".py" and "requires_grad" in text else ():
            match loop:
                case ast.For(iter=ast.Call(func=ast.Attribute(attr="parameters", value=ast.Attribute() as module))):
                    if any(ast.unparse(line).endswith(".requires_grad = False") for line in loop.body):
                        names[ast.unparse(module).replace(".module.", ".").partition(".")[2]] = None
        if names:
            yield path.relative_to(root).as_posix(), list(names)


def find_others(file: Path, root: Path, name: str) -> Iterator[Path]:
    """Yield other files of a repository that define the name."""
    for path, text in _read_all(root):
        if path.suffix == ".py" and path != file and (f"class {name}(" in text or f"def {name}(" in text):
            yield path


def siblings(file: Path) -> Iterator[Path]:
    """Yield the other files of its kind in a file's folder."""
    yield from sorted(one for one in file.parent.glob(f"*{file.suffix}") if one != file and one.is_file())


def _read_all(root: Path) -> Iterator[tuple[Path, str]]:
    read = 0
    paths = (path for path in sorted(root.rglob("*")) if path.suffix in (".py", ".yaml", ".yml", ".json"))
    for path, _ in zip(paths, range(_MOST_FILES), strict=False):
        try:
            text = read_text(path, _MOST_BYTES)
        except Exception:  # a link, no text, too large: not read
            continue
        read += len(text)
        if read > _MOST_READ:
            return
        yield path, text


def _parse(text: str) -> object:
    try:
        if text.lstrip()[:1] == "{":
            return json.loads(text)
        return None if "&" in text and "*" in text else _YAML(text).get_single_data()
    except (ValueError, yaml.YAMLError, RecursionError):
        return None


def _mappings(value: object, parameters: Collection[str]) -> Iterator[dict[str, object]]:
    if isinstance(value, list):
        for one in value:
            yield from _mappings(one, parameters)
    if isinstance(value, dict):
        known = {one.lower(): one for one in parameters}
        found = {known[str(key).lower()]: one for key, one in value.items() if str(key).lower() in known}
        if len(found) > 1 and not any(isinstance(one, dict) for one in found.values()):
            yield found
        for one in value.values():
            yield from _mappings(one, parameters)


def _calls(shown: str, text: str, name: str, parameters: list[str]) -> Iterator[Use]:
    for call in _nodes(text):
        if not isinstance(call, ast.Call):
            continue
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
        given = {one.arg: _literal(one.value) for one in call.keywords if one.arg is not None}
        if called == "dict" and given.get("type") == (name,):  # mmcv's way to write configurations
            given.pop("type")
        elif called != name:
            continue
        else:
            given = {**dict(zip(parameters, map(_literal, call.args), strict=False)), **given}
        if found := {key: value[0] for key, value in given.items() if value}:
            yield shown, f"{shown}:{call.lineno}", found


def _flags(text: str, parameters: Collection[str]) -> dict[str, object]:
    """Return the defaults of flags that are called as the parameters are."""
    found: dict[str, object] = {}
    for call in _nodes(text):
        if isinstance(call, ast.Call) and getattr(call.func, "attr", None) == "add_argument" and call.args:
            names = [str(one[0]).lstrip("-").replace("-", "_") for one in map(_literal, call.args) if one]
            value = next((_literal(one.value) for one in call.keywords if one.arg == "default"), ())
            found |= {name: value[0] for name in names if name in parameters and value and value[0] is not None}
    return found


def _nodes(text: str) -> Iterator[ast.AST]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    yield from ast.walk(tree)


def _literal(node: ast.expr) -> tuple[object, ...]:
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return ()


def describe(values: Mapping[str, object]) -> str:
    """Write arguments as a call has them; of many the first."""
    shown = [f"{name}={value}" for name, value in values.items()]
    return ", ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")
