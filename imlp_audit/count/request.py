"""What `count` is asked to count: a model of a library, or of somebody's file, and what it reads. Torch-free."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from imlp_audit.errors import UsageError, did_you_mean

LIBRARIES = ("timm", "torchvision", "transformers")
DTYPES = ("float32", "float64", "float16", "bfloat16", "complex64", "int64", "int32", "bool")
_SIZES = re.compile(r"\d{1,9}(,\d{1,9}){0,7}")


@dataclass(frozen=True)
class Given:
    """One input: its name where the forward pass takes it by name, and a tensor's shape and type, or a constant."""

    name: str | None = None
    shape: tuple[int, ...] = ()
    dtype: str = "float32"
    constant: object = None
    is_constant: bool = False

    def __str__(self) -> str:
        what = json.dumps(self.constant) if self.is_constant else f"{list(self.shape)} {self.dtype}"
        return f"{self.name}: {what}" if self.name else what


@dataclass(frozen=True)
class ModelRequest:
    """A model: of a library by its name, or what `name` in `file` makes for the arguments.

    `paths` are folders on the import path, `stubs` packages that are not installed and not needed.
    """

    library: str | None
    name: str
    file: Path | None = None
    arguments: Mapping[str, object] = field(default_factory=dict)
    inputs: tuple[Given, ...] = ()
    paths: tuple[Path, ...] = ()
    stubs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.library or self.file}:{self.name}"

    def with_argument(self, name: str, value: object) -> ModelRequest:
        """Return a request with another argument."""
        return replace(self, arguments={**self.arguments, name: value})

    def with_side(self, side: int) -> ModelRequest | None:
        """Return a request with square images of another side; None where it does not read one image."""
        one = self.inputs[0] if len(self.inputs) == 1 else None
        if one is None or len(one.shape) != 4 or one.shape[1] > one.shape[2]:
            return None
        return replace(self, inputs=(replace(one, shape=(*one.shape[:2], side, side)),))


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
    if not name.isidentifier():
        raise UsageError(f"{name!r} cannot be a name in Python; write {where}:NAME, of a class or a function")
    return None, name, file


def parse_arguments(texts: Sequence[str]) -> dict[str, object]:
    """Read `name=value`, the value as JSON, as Python's True, False and None, or else as text; `a.b=1` goes into a."""
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
        into[last] = _value(value)
    return found


def _value(text: str) -> object:
    known: Mapping[str, object] = {"True": True, "False": False, "None": None}
    if text in known:
        return known[text]
    try:
        return json.loads(text) if len(text) < 10_000 else text
    except (ValueError, RecursionError):
        return text


def parse_inputs(texts: Sequence[str]) -> tuple[Given, ...]:
    """Read `3,224,224`, `x=3,224,224`, `ids=128:int64`, `x=[4,3,32,32]` (with the batch) or `t:=10` (a constant)."""
    return tuple(map(_input, texts))


def _input(text: str) -> Given:
    name, constant, value = text.partition(":=")
    if constant:
        return Given(_name(name, text), constant=_value(value), is_constant=True)
    name, equals, sizes = text.rpartition("=")
    sizes, colon, dtype = sizes.partition(":")
    if colon and dtype not in DTYPES:
        raise UsageError(f"--input {text}: unknown type {dtype!r}; {did_you_mean(dtype, DTYPES, 'use')}")
    whole = sizes.startswith("[") and sizes.endswith("]")
    inside = sizes[1:-1] if whole else sizes
    if inside and not _SIZES.fullmatch(inside):
        raise UsageError(f"--input {text}: write sizes without the batch, such as 3,224,224, or [4,3,224,224] with it")
    shape = tuple(map(int, inside.split(","))) if inside else ()
    return Given(_name(name, text) if equals else None, shape if whole else (1, *shape), dtype or "float32")


def _name(text: str, whole: str) -> str:
    if not text.isidentifier():
        raise UsageError(f"--input {whole}: {text!r} cannot be the name of an argument")
    return text
