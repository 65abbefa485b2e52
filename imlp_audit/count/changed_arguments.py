"""Other arguments of a model: usual ones, and those that its repository gives it, whose files are read and not run."""

from __future__ import annotations

import ast
import inspect
import operator
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import SequenceMatcher
from fractions import Fraction
from itertools import combinations, islice, product
from math import inf
from pathlib import Path
from types import MappingProxyType, ModuleType

import yaml
from torch import nn

from imlp_audit.count.from_repository import parameters_of, read_defaults
from imlp_audit.count.request import ModelRequest, Setting, read_configurations
from imlp_audit.errors import AuditError
from imlp_audit.files import read_text
from imlp_audit.models.host import TensorInput
from imlp_audit.models.importing import repository
from imlp_audit.models.recipe_changes import find_leaves, merge

_APART = 8  # times, for two arguments to be confused
_LEAST_FACTOR = 0.25  # less is a rate
_CLASSES = (1000, 100, 10, 200, 365, 2, 5, 19, 20, 21, 80, 81, 90, 91, 150, 171, 0, 21841, 21842, 21843)
_VOCABULARIES = (30522, 28996, 119547, 21128, 30000, 50257, 50265, 32000, 32128, 250002, 64000, 128256, 151936)
_USUAL = {"vocab": _VOCABULARIES, "widen": (10, 8, 2, 4, 1)}  # and of wide ResNets
_KNOWN_DEPTHS = "2,2,2,2 3,4,6,3 3,4,23,3 3,8,36,3 2,2,6,2 2,2,18,2 3,3,9,3 3,3,27,3"
_DEPTHS = [[int(depth) for depth in depths.split(",")] for depths in _KNOWN_DEPTHS.split()]
"""Of ResNets, Swins and ConvNeXts, and of all that follow them."""
_WIDTH = re.compile(r"dim|chan|width|hidden|embe?d|feat|filter|plane|d_model|d_inner|ffn?$|^n[dgc]?f$")
_TAKEN = re.compile(r"""\bkwargs\.(?:get|pop)\(["'](\w+)["'](?:, *([-\w.]+))?\)""")
_HALVES = (Fraction(1, 2), 2)
_PLAIN = (bool, int, float, str, tuple, list)
Changed = Mapping[Setting, object]
"""New values of some settings."""
_MOST_FILES, _MOST_BYTES, _MOST_READ = 3000, 100_000, 3_000_000
_MOST_WRONG = 40  # lines of a file that this Python does not read
_MOST_USES = 24
_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}
_YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Use = tuple[str, str, dict[str, object]]
"""A file, where in it arguments are given, and their values by name."""


def read_settings(request: ModelRequest, model: nn.Module, maker: Callable[..., object]) -> Changed:
    """Return what a model is made of, by name: its arguments, and those keys of a configuration that its code names."""
    signature, own = dict[Setting, object](), vars(model)
    for name, default in known_arguments(model, maker).items():
        if isinstance(default, _PLAIN):
            signature[name,] = own[name] if type(own.get(name)) is type(default) else default
    if request.library == "transformers":
        config = getattr(model, "config", None)
        own = {**vars(config), "num_labels": getattr(config, "num_labels", None)}
        known = {*parameters_of(type(config)), "num_labels"}
        signature |= {(name,): value for name, value in own.items() if name in known and type(value) in (int, bool)}
    given: dict[Setting, object] = find_leaves(merge(read_defaults(request, lambda _: None), request.arguments))
    if any(len(name) > 1 for name in given) or request.defaults is not None:
        code = "".join(_sources(model, maker).values())
        given = {name: value for name, value in given.items() if len(name) < 2 or name[-1] in code}
    return {**signature, **given}


def known_arguments(model: nn.Module, maker: Callable[..., object]) -> dict[str, object]:
    """Return the parameters of a model's class and of what makes it, with their defaults."""
    found = dict[str, object]()
    for one in (type(model), maker):
        known = (par for par in parameters_of(one).values() if par.kind not in (par.VAR_KEYWORD, par.VAR_POSITIONAL))
        found |= {**_keywords(one), **{par.name: _default(par) for par in known if par.name != "self"}}
    return found


def _default(one: inspect.Parameter) -> object:
    """Return the default of a parameter; a switch that may be None is off."""
    return False if one.default is None and "bool" in str(one.annotation) else one.default


def _keywords(maker: Callable[..., object]) -> Mapping[str, object]:
    """Return what code takes out of its `**kwargs` by name, with the defaults; None stands for a switch that is off."""
    try:
        taken = _TAKEN.findall(inspect.getsource(maker))
    except (OSError, TypeError):
        return {}
    defaults = {name: _literal(ast.parse(default or "None", mode="eval").body) for name, default in taken}
    return {name: False if value == (None,) else value[0] for name, value in defaults.items() if value}


def _sources(model: nn.Module, maker: Callable[..., object]) -> Mapping[ModuleType, str]:
    """Return the files that define the classes of a model, or what makes it, with their text."""
    found = dict[ModuleType, str]()
    for name in dict.fromkeys(one.__module__ for one in (maker, *map(type, model.modules()))):
        with suppress(OSError, TypeError, KeyError):
            if not name.startswith("torch."):
                found[sys.modules[name]] = inspect.getsource(sys.modules[name])
    return found


def change_arguments(
    request: ModelRequest, settings: Changed, model: nn.Module, maker: Callable[..., object]
) -> Iterator[Changed]:
    """Yield other values: of one number or switch at a time, of all widths together, integers exchanged, and pairs.

    An argument that is given may be left at its default, first of all.
    """
    defaults = known_arguments(model, maker)
    left: list[tuple[Setting, object]] = [
        ((name,), defaults[name]) for name in request.arguments if isinstance(defaults.get(name), _PLAIN)
    ]
    integers = {name: value for name, value in settings.items() if type(value) is int and value > 0}
    sizes = {name: value for name, value in integers.items() if not _counts_classes(name)}
    pairs = sorted(combinations(sizes, 2), key=lambda pair: -SequenceMatcher(None, pair[0][-1], pair[1][-1]).ratio())
    apart = {(a, b): max(sizes[a] / sizes[b], sizes[b] / sizes[a]) for a, b in pairs if sizes[a] != sizes[b]}
    like = [pair for pair, times in apart.items() if times <= _APART]
    both = [pair for pair, times in apart.items() if times <= _APART**2]  # given together, easily confused
    given = [pair for pair in both if set(pair) <= {(name,) for name in request.arguments}]
    swapped = [{one: sizes[other], other: sizes[one]} for one, other in given]
    doubled = [(name, value) for name, size in sizes.items() for value in (2 * size, max(1, size // 2))]
    usual: list[tuple[Setting, object]] = [((name,), value) for name, some in request.tries.items() for value in some]
    usual += [(name, n) for name in integers for n in (_CLASSES if _counts_classes(name) else _usual_sizes(name))]
    usual += [(name, not value) for name, value in settings.items() if isinstance(value, bool)]
    usual += _compared(settings, model, maker) if request.file is not None else ()
    rest = [(name, other) for name, value in settings.items() for other in _scaled(value)] + doubled
    rest += [(name, value) for name, size in sizes.items() for value in (size + 1, max(1, size - 1))]
    yield from swapped[:1]  # those whose names are most alike
    yield from ({name: value} for name, value in left if value != settings.get(name))
    yield from swapped[1:]
    yield from ({name: value} for name, value in usual if value != settings.get(name))
    widths = [name for name, size in sizes.items() if size > 4 and _WIDTH.search(name[-1].lower())]  # not of an image
    yield from ({name: round(by * sizes[name]) for name in widths} for by in _HALVES if len(widths) > 1)
    yield from ({name: value} for name, value in rest if value != settings.get(name))
    yield from ({one: sizes[other], other: sizes[one]} for one, other in like if (one, other) not in given)
    classes = [(name, n) for name in integers if _counts_classes(name) for n in _CLASSES[:4] if n != integers[name]]
    yield from ({one: n, name: value} for (name, value), (one, n) in product(doubled, classes))


def _scaled(value: object) -> Iterator[object]:
    """Yield a factor, or the numbers of all stages, doubled and halved, and other depths; nothing of a rate."""
    if isinstance(value, float) and _LEAST_FACTOR <= value < inf:
        yield from (2 * value, value / 2)
    if isinstance(value, tuple | list) and value and all(type(one) is int and one > 0 for one in value):
        yield from (type(value)(max(1, round(one * by)) for one in value) for by in _HALVES[::-1])
        if len(value) == len(_DEPTHS[0]) and list(value) in _DEPTHS:
            yield from (type(value)(depths) for depths in _DEPTHS)


def _compared(settings: Changed, model: nn.Module, maker: Callable[..., object]) -> Iterator[tuple[Setting, object]]:
    """Yield what the code compares a word or an integer with, and the other keys of a table that it looks it up in."""
    for module, source in _sources(model, maker).items():
        for name, value in settings.items():
            if type(value) in (str, int):
                word = re.escape(name[-1])
                texts = re.findall(rf"\b{word} *[!=]= *(\d+|\"\w+\"|'\w+')", source)
                tables = (vars(module).get(one) for one in re.findall(rf"\b(\w+)\[[\w.]*\b{word}\]", source))
                keys = (key for table in tables if isinstance(table, Mapping) for key in table)
                others = dict.fromkeys((*map(ast.literal_eval, texts), *keys))
                yield from ((name, one) for one in others if type(one) is type(value))


def write_change(changed: Changed, settings: Changed) -> str:
    """Say what is changed."""
    words = {".".join(name): value for name, value in changed.items()}
    exchanged = len(changed) == 2 and list(changed.values()) == [settings.get(name) for name in [*changed][::-1]]
    return f"{' and '.join(words)} exchanged" if exchanged else describe(words)


def _counts_classes(name: Setting) -> bool:
    return "class" in name[-1].lower() or name[-1].lower() in {"num_labels", "nc"}


def _usual_sizes(name: Setting) -> Sequence[int]:
    return next((some for word, some in _USUAL.items() if word in name[-1].lower()), ())


def find_other_requests(
    request: ModelRequest, file: Path, now: Mapping[str, object], configs: Sequence[str]
) -> Iterator[tuple[str, ModelRequest]]:
    """Yield the request with other arguments that the repository gives, and as other files of it define the model.

    `now` are its arguments and defaults as they are, `configs` the configuration files that were given.
    """
    root, seen = repository(file), list[object]([(file, {})])
    name, called = request.name.partition(".")[0], request.name.rpartition(".")[2]
    sources = {path: text for path, text in _read_all(root) if path.suffix == ".py" and path != file.resolve()}
    others = [path for path, text in sources.items() if f"class {name}(" in text or f"def {name}(" in text]
    uses = list(islice(find_uses(root, called, now, request.arguments), _MOST_USES))
    alone = [(user, where, {key: value}) for user, where, values in uses for key, value in values.items()]
    for user, where, values in (*uses, *alone[:_MOST_USES]):
        changed = {key: value for key, value in values.items() if now.get(key, inspect.Parameter.empty) != value}
        near = max((file, *others), key=lambda one: len(os.path.commonpath((one.resolve(), root / user))))
        if (near, changed) not in seen:
            seen.append((near, changed))
            words = f"as in {where}: {describe(changed)}".removesuffix(": ")
            yield words, replace(request, file=near, arguments={**request.arguments, **changed})
    for text in configs:
        given, colon, section = text.rpartition("=")[2].partition(":")
        for other in siblings(Path(given)):
            try:
                arguments, _ = read_configurations((f"{other}{colon}{section}",))
            except AuditError:
                continue
            yield f"as in {other.as_posix()}", replace(request, arguments={**request.arguments, **arguments})
    for name, value in request.arguments.items():
        if isinstance(value, str) and Path(value).suffix and Path(value).is_file():
            for other in siblings(Path(value)):
                yield f"{name}={other.as_posix()}", request.changed({(name,): other.as_posix()})
    for other in others:
        shown = other.relative_to(root).as_posix()
        tensors = {name: value for name, value in request.arguments.items() if isinstance(value, TensorInput)}
        yield f"as {shown} defines it", replace(request, file=other)
        yield f"as {shown} defines it, with its defaults", replace(request, file=other, arguments=tensors)


def find_uses(root: Path, name: str, now: Mapping[str, object], given: Mapping[str, object]) -> Iterator[Use]:
    """Yield where a class or function is called, with its arguments as far as they are known; configurations; flags.

    In a call, a name stands for the argument of that name that is `given`, for a flag, or for what is `now`.
    """
    texts = [(path.relative_to(root).as_posix(), text) for path, text in _read_all(root)]
    flags = {shown: _flags(text) for shown, text in texts if shown.endswith(".py") and "add_argument" in text}
    known = {key: one for values in (now, *flags.values()) for key, one in values.items() if isinstance(one, _PLAIN)}
    for shown, text in texts:
        if shown.endswith(".py") and name in text:
            yield from _calls(shown, text, name, list(now), {**known, **flags.get(shown, {}), **given})
    for shown, text in texts:
        if sum(one.lower() in text.lower() for one in now) < 2:
            continue
        if not shown.endswith(".py"):
            yield from ((shown, shown, found) for found in _mappings(_parse(text), now))
        elif defaults := {key: one for key, one in flags.get(shown, {}).items() if key in now}:
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


def _calls(shown: str, text: str, name: str, parameters: list[str], known: Mapping[str, object]) -> Iterator[Use]:
    for call in _nodes(text):
        if not isinstance(call, ast.Call):
            continue
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
        given = {one.arg: _literal(one.value, known) for one in call.keywords if one.arg is not None}
        if called == "dict" and given.get("type") == (name,):  # mmcv's way to write configurations
            given.pop("type")
        elif called != name:
            continue
        else:
            places = (_literal(one, known) for one in call.args)
            given = {**dict(zip(parameters, places, strict=False)), **given}
        if found := {key: value[0] for key, value in given.items() if value}:
            yield shown, f"{shown}:{call.lineno}", found


def _flags(text: str) -> dict[str, object]:
    """Return the defaults of flags by name."""
    found: dict[str, object] = {}
    for call in _nodes(text):
        if isinstance(call, ast.Call) and getattr(call.func, "attr", None) == "add_argument" and call.args:
            names = [str(one[0]).lstrip("-").replace("-", "_") for one in map(_literal, call.args) if one]
            given = {one.arg: value[0] for one in call.keywords if (value := _literal(one.value))}
            default = given.get("default", {"store_true": False, "store_false": True}.get(str(given.get("action"))))
            found |= dict.fromkeys(names, default) if default is not None else {}
    return found


def _nodes(text: str) -> Iterator[ast.AST]:
    """Yield what a file's code consists of, without lines that this Python does not read, as of Python 2."""
    lines = text.expandtabs().splitlines()
    for _ in range(_MOST_WRONG):
        try:
            yield from ast.walk(ast.parse("\n".join(lines)))
            return
        except SyntaxError as error:
            at = min(error.lineno or 1, len(lines)) - 1
            wrong = lines[at].lstrip()
            other = "except:" if wrong.startswith("except") else "if 1:" if wrong.endswith(":") else "pass"
            lines[at] = lines[at].replace(wrong, other) if wrong not in ("", other) else ""
        except (ValueError, RecursionError):
            return


def _literal(node: ast.expr, known: Mapping[str, object] = MappingProxyType({})) -> tuple[object, ...]:
    """Return the value of a literal, of a name that is known, or of a sum or product of these, if it has one."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in known:
            return (known[name],)
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            sides = [one for side in (node.left, node.right) for one in _literal(side, known)]
            if len(sides) == 2 and all(type(one) in (int, float) for one in sides):
                with suppress(ArithmeticError):
                    return (_ARITHMETIC[type(node.op)](*sides),)
            return ()
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return ()


def describe(values: Mapping[str, object]) -> str:
    """Write arguments as a call has them; of many the first."""
    shown = [f"{name}={value}" for name, value in values.items()]
    return ", ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")
