"""What `count` is asked to count: a model of a library or of a file, its configurations, what it reads. Torch-free."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path
from types import MappingProxyType

import yaml

from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.files import read_text
from imlp_audit.models.available_hosts import Timm, Torchvision
from imlp_audit.models.host import TensorInput
from imlp_audit.models.own import PythonModule
from imlp_audit.models.readings import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.recipe_changes import merge

LIBRARIES = ("timm", "torchvision", "transformers")
DTYPES = ("float32", "float64", "float16", "bfloat16", "complex64", "int64", "int32", "bool")
_TENSOR = re.compile(r"\[(\d{1,9}(?:,\d{1,9}){0,7})\]:(float32|int64|bool)")
_SIZES = re.compile(r"\d{1,9}(,\d{1,9}){0,7}")
MOST_BYTES = 2**20  # of a configuration
_REFERENCE = re.compile(r"\$\{([\w.]+)\}")
_DEEPEST = 20
Values = dict[str, object]
Setting = tuple[str, ...]
"""The names on the way to a value: of an argument, or of a key of the configuration that an argument is."""


@dataclass(frozen=True)
class Given:
    """One input: its name where the forward pass takes it by name, and a tensor's shape and type, or a constant.

    Inputs of one name that are `listed` make a list; that named `a.b` is what a mapping `a` holds as `b`.
    """

    name: str | None = None
    listed: bool = False
    shape: tuple[int, ...] = ()
    dtype: str = "float32"
    constant: object = None
    is_constant: bool = False

    @property
    def is_image(self) -> bool:
        """Whether it is a batch of images, or of frames."""
        return len(self.shape) in (4, 5) and self.shape[1] <= min(self.shape[-2:])

    def scaled(self, by: Mapping[int, Fraction]) -> Given:
        """Return a tensor with some of its axes longer or shorter."""
        shape = {axis % len(self.shape): round(self.shape[axis] * factor) for axis, factor in by.items()}
        return replace(self, shape=tuple(shape.get(axis, size) for axis, size in enumerate(self.shape)))

    def __str__(self) -> str:
        what = json.dumps(self.constant) if self.is_constant else f"{list(self.shape)} {self.dtype}"
        return f"{self.name}: {what}" if self.name else what


_IMAGE = Given(shape=(1, 3, 224, 224))  # of a classifier, where nothing is said


@dataclass(frozen=True)
class ModelRequest:
    """A model: of a library by its name, or what `name` in `file` makes for the arguments.

    `paths` are folders on the import path, `stubs` packages to put a stand-in in place of, `argv` the words that a
    script would be given. `defaults` are a Python file and the name in it of the configuration that the arguments
    change. A spec's model that is neither is made by its `recipe`, under a reading; `tries` are values of arguments.
    """

    library: str | None
    name: str
    file: Path | None = None
    arguments: Mapping[str, object] = field(default_factory=dict)
    inputs: tuple[Given, ...] = ()
    paths: tuple[Path, ...] = ()
    stubs: tuple[str, ...] = ()
    defaults: tuple[Path, str] | None = None
    argv: tuple[str, ...] = ()
    recipe: tuple[Recipe, AnyReading | None] | None = None
    tries: Mapping[str, Sequence[object]] = field(default_factory=dict)

    @classmethod
    def of(cls, recipe: Recipe, reading: AnyReading | None) -> ModelRequest:
        """Return a spec's model: a library's or a file's where it is that as it is, so that it can be changed."""
        host = recipe.host
        plain = recipe.as_written().keys() <= {host.key, "image", "classes"}
        if plain and isinstance(host, Timm | Torchvision):
            inputs = (Given(shape=(1, 3, *recipe.image)),) if recipe.image is not None else ()
            classes = {"num_classes": recipe.classes} if recipe.classes is not None else {}
            return cls(host.key, host.architecture, arguments={**host.arguments, **classes}, inputs=inputs)
        if plain and isinstance(host, PythonModule) and host.folder and not host.inputs:
            given = Given(shape=(1, *host.input)) if host.input else Given(shape=(1, host.tokens or 1), dtype="int64")
            folders, file = (*(host.folder / one for one in host.path), host.folder), host.folder / host.file
            return cls(None, host.name, file, dict(host.arguments), (given,), folders, host.stubs, tries=host.tries)
        return cls(None, recipe.name, recipe=(recipe, reading))

    def __str__(self) -> str:
        return f"{self.library or self.file}:{self.name}" if self.recipe is None else self.name

    def changed(self, values: Mapping[Setting, object]) -> ModelRequest:
        """Return a request with other values of some arguments, or of what lies in them."""
        arguments = dict(self.arguments)
        for (first, *inner), value in values.items():
            for name in reversed(inner):
                value = {name: value}
            arguments = merge(arguments, {first: value})
        return replace(self, arguments=arguments)

    @property
    def reads(self) -> tuple[Given, ...]:
        """The inputs; an image where a model of a library gets none."""
        return self.inputs or ((_IMAGE,) if self.library in ("timm", "torchvision") else ())


@dataclass(frozen=True)
class Changes:
    """A model to count, and to count again under changes, if any are `wanted`.

    With printed `flops`, work is counted under them too, and inputs of other sizes are tried that may have so much.
    Rare changes are tried for numbers that are `exact` enough to tell them from chance.
    `configs` are the configuration files of its arguments, if any. `rows` are the models of other rows of a table,
    counted as they are.
    """

    request: ModelRequest
    wanted: bool = True
    flops: tuple[Fraction, ...] = ()
    configs: tuple[str, ...] = ()
    rows: Mapping[str, ModelRequest] = field(default_factory=dict)
    exact: bool = False


def parse_model(text: str) -> tuple[str | None, str, Path | None]:
    """Read `timm:NAME`, `torchvision:NAME`, `transformers:CLASS` or `path/net.py:NAME`. Raises UsageError."""
    where, colon, name = text.rpartition(":")
    if not colon or not where or not name:
        forms = "timm:NAME, torchvision:NAME, transformers:CLASS or FILE.py:NAME"
        raise UsageError(f"{text!r} names no model; write {forms}")
    if where in LIBRARIES:
        return where, name, None
    file = Path(where)
    if not where.endswith(".py"):
        raise UsageError(f"{where!r}: give a library or a Python file; {did_you_mean(where, LIBRARIES)}")
    if not file.is_file():
        raise UsageError(f"{where}: there is no such file")
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(f"{name!r} cannot be a name in Python; write {where}:NAME, of a class or a function")
    return None, name, file


def parse_arguments(texts: Sequence[str]) -> dict[str, object]:
    """Read `name=value`, the value as JSON, as Python's True, False and None, or else as text; `a.b=1` goes into a.

    `name=[16,16]:float32` is a tensor.
    """
    found: dict[str, object] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not all(part.isidentifier() for part in name.split(".")):
            raise UsageError(f"--arg {text}: write --arg name=value")
        *outer, last = name.split(".")
        into = found
        for part in outer:
            inside = into.setdefault(part, {})
            if not isinstance(inside, dict):
                raise UsageError(f"--arg {text}: {part} has a value already")
            into = inside
        into[last] = _value(value, f"--arg {name}=")
    return found


def _value(text: str, flag: str) -> object:
    known: Mapping[str, object] = {"True": True, "False": False, "None": None}
    if text in known:
        return known[text]
    if (tensor := _TENSOR.fullmatch(text)) is not None:
        return TensorInput(shape=[*map(int, tensor[1].split(","))], dtype=tensor[2])
    try:
        return json.loads(text) if len(text) < 10_000 else text
    except (ValueError, RecursionError):
        pass
    if text[:1] in ("{", "["):
        try:
            return _Loader(text).get_single_data()
        except (yaml.YAMLError, RecursionError) as error:
            raise UsageError(f"{flag}{text}: the value is neither JSON nor YAML; check its brackets") from error
    try:
        return float(text)  # .1 and 1e-5, as Python writes them
    except ValueError:
        return text


def parse_inputs(texts: Sequence[str]) -> tuple[Given, ...]:
    """Read `3,224,224`, `x=3,224,224`, `ids=128:int64`, `x=[4,3,32,32]` (with the batch) or `t:=10` (a constant).

    `x[]=3,8,224,224` is one of a list of tensors, `[]=3,8,224,224` one of a list without a name, and `x.left=3,8,224`
    one of a mapping.
    """
    given = tuple(map(_input, texts))
    for (one, listed), (other, too) in combinations([(each.name, each.listed) for each in given if each.name], 2):
        if (one == other and not (listed and too)) or one.startswith(f"{other}.") or other.startswith(f"{one}."):
            raise UsageError(f"--input {other}: {one} was given before, for the same argument; leave one of them out")
    return given


def _input(text: str) -> Given:
    name, constant, value = text.partition(":=")
    if constant:
        return Given(_name(name, text), constant=_value(value, f"--input {name}:="), is_constant=True)
    name, equals, sizes = text.rpartition("=")
    sizes, colon, dtype = sizes.partition(":")
    if colon and dtype not in DTYPES:
        raise UsageError(f"--input {text}: unknown type {dtype!r}; {did_you_mean(dtype, DTYPES, 'use')}")
    whole = sizes.startswith("[") and sizes.endswith("]")
    inside = sizes[1:-1] if whole else sizes
    if inside and not _SIZES.fullmatch(inside):
        raise UsageError(f"--input {text}: write sizes without the batch, such as 3,224,224, or [4,3,224,224] with it")
    shape = tuple(map(int, inside.split(","))) if inside else ()
    listed = name.endswith("[]")
    name = name.removesuffix("[]")
    return Given(
        _name(name, text) if name or (equals and not listed) else None,
        listed,
        shape if whole else (1, *shape),
        dtype or "float32",
    )


def _name(text: str, whole: str) -> str:
    if not all(part.isidentifier() for part in text.split(".", 1)):
        raise UsageError(f"--input {whole}: {text!r} is not NAME or NAME.KEY of an argument")
    return text


def read_configurations(
    texts: Sequence[str], arguments: Mapping[str, object] = MappingProxyType({})
) -> tuple[Values, tuple[Path, str] | None]:
    """Return the arguments that `FILE[:SECTION]` hold, and `FILE.py[:NAME]`, which the model's own process reads.

    Of several files a later one changes an earlier one, and `arguments` change all. `NAME=FILE` holds what
    `${NAME.key}` of another file, or of an argument, refers to. Raises UsageError.
    """
    found: Values = {}
    known: Values = {}
    defaults: tuple[Path, str] | None = None
    for text in texts:
        name, equals, where = text.rpartition("=")
        file, colon, section = where.partition(":")
        path = Path(file)
        if path.suffix == ".py":
            if not path.is_file():
                raise UsageError(f"--config {text}: there is no such file")
            if colon and not section.isidentifier():
                raise UsageError(f"--config {text}: write FILE.py, or FILE.py:NAME of a configuration or its maker")
            if defaults is not None:
                raise UsageError(f"--config {text}: only one Python file is read; give the rest with --arg")
            defaults = path, section
            continue
        values = _section(_read(path), section.split("."), path) if colon else _read(path)
        if equals:
            known[name] = values
        else:
            known = {**known, path.resolve().parent.name: values}
            found = merge(found, values)
    found = merge(found, arguments)
    return {key: _resolve(value, {**known, **found}, 0) for key, value in found.items()}, defaults


def _read(path: Path) -> Values:
    text = read_text(path, MOST_BYTES, path)
    try:
        loader = _Loader(text)
        loader.name = path.name
        node = loader.get_single_node()
        if node is not None and _weigh(node, {}) > MOST_BYTES:
            raise UsageError(f"{path}: an alias such as *name holds itself, or too many values; remove it")
        found = loader.construct_document(node) if node is not None else None
    except (yaml.YAMLError, RecursionError) as error:
        text = "nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise UsageError(f"{path}: {text}; correct it, or take the part that you need: FILE:SECTION") from error
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise UsageError(f"{path}: it holds no arguments by name, such as `width: 96`")
    return found


def _weigh(node: yaml.Node, known: dict[yaml.Node, int]) -> int:
    """Return how many values a node holds, with what aliases repeat; too many where it holds itself."""
    if node not in known:
        known[node] = MOST_BYTES
        inside = chain(*node.value) if isinstance(node, yaml.MappingNode) else node.value
        known[node] = 1 + sum(_weigh(one, known) for one in inside if isinstance(one, yaml.Node))
    return known[node]


class _Loader(yaml.SafeLoader):
    """Reads any tag as the text, list or mapping that it marks, and `1e-5` as the number that it is."""


def _untagged(loader: yaml.SafeLoader, _tag: str, node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    return loader.construct_sequence(node, deep=True) if isinstance(node, yaml.SequenceNode) else node.value


_Loader.add_multi_constructor("!", _untagged)
_Loader.add_multi_constructor("tag:yaml.org,2002:python/", _untagged)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+"), list("-+0123456789")
)


def _section(values: Values, names: Sequence[str], path: Path) -> Values:
    for name in names:
        inside = values.get(name)
        if not isinstance(inside, dict):
            raise UsageError(f"{path}: it has no section {name!r}; it has {', '.join(map(str, values))}")
        values = inside
    return values


def _resolve(value: object, known: Values, depth: int) -> object:
    """Return a value with what it refers to, as `${data.image.h}`."""
    if depth > _DEEPEST:
        raise UsageError(f"a configuration refers to itself: {value}")
    if isinstance(value, dict):
        return {key: _resolve(one, known, depth) for key, one in value.items()}
    if isinstance(value, list):
        return [_resolve(one, known, depth) for one in value]
    whole = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if whole is None:
        return value
    found: object = known
    for name in whole[1].split("."):
        if not isinstance(found, dict) or name not in found:
            top = whole[1].partition(".")[0]
            raise UsageError(f"{value} is in no configuration that was given; add the file: --config {top}=FILE")
        found = found[name]
    return _resolve(found, known, depth + 1)
