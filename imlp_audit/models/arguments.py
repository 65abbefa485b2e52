"""What a spec hands on to somebody else's code: arguments, configurations and inputs. Torch-free."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
)

from imlp_audit.models.host import Count, Size

PYTHON_NAME = r"^[A-Za-z_]\w*$"
Name = Annotated[str, Field(pattern=PYTHON_NAME)]

_WORDS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None}
T = TypeVar("T")


class FrozenMap(dict[str, T]):
    """A mapping that nobody changes, so that it can be part of a key. 1, 1.0 and true are different values."""

    def __hash__(self) -> int:  # type: ignore[override]  # a dict has none
        return hash(repr(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dict) and repr(self) == repr(other)

    def __ne__(self, other: object) -> bool:
        return not self == other


def _read(written: object) -> object:
    """Read the numbers, truth values and nulls that a spec gives as text."""
    match written:
        case str() if written in _WORDS:
            return _WORDS[written]
        case str() if re.fullmatch(r"-?\d{1,18}", written, re.ASCII):
            return int(written)
        case str() if re.fullmatch(r"-?\d{1,18}(\.\d{1,18})?(e-?\d{1,2})?", written, re.ASCII):
            return float(written)
        case list() | tuple():
            return [_read(value) for value in written]
        case Mapping():
            return {name: _read(value) for name, value in written.items()}
        case _:
            return written


Values: TypeAlias = Annotated[dict[Name, JsonValue], BeforeValidator(_read), AfterValidator(FrozenMap)]
"""Values by name: numbers, words, true, false, null, lists and mappings of these."""

_Some: TypeAlias = Annotated[list[JsonValue], Field(min_length=1, max_length=20)]
Tries: TypeAlias = Annotated[dict[Name, _Some], BeforeValidator(_read), AfterValidator(FrozenMap)]
"""Values that an argument may have, by its name."""


class TensorInput(BaseModel):
    """A tensor that a model reads: its shape without the batch, and its type. Numbers are 0, truth values true."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shape: Annotated[list[Count], Field(max_length=8)]
    dtype: Literal["float32", "int64", "bool"] = "float32"


Inputs: TypeAlias = Annotated[dict[Name, TensorInput], Field(min_length=1), AfterValidator(FrozenMap)]
"""What a model reads, by the names of its arguments."""

LARGEST_SIDE = 16384


def _sides(image: object) -> tuple[int, ...]:
    """Read `224` as `[224, 224]`; raise ValueError for what is neither a side nor two."""
    sides = [image, image] if isinstance(image, str | int) else image
    texts = [str(side) for side in sides] if isinstance(sides, list | tuple) else []
    if len(texts) != 2 or not all(
        re.fullmatch("[1-9][0-9]{0,4}", side) and int(side) <= LARGEST_SIDE for side in texts
    ):
        raise ValueError(f"image: give a side in pixels, or [height, width], of at most {LARGEST_SIDE}, not {image!r}")
    return tuple(map(int, texts))


Sides = Annotated[Size, BeforeValidator(_sides)]
"""The side of an image in pixels, or its height and width."""
