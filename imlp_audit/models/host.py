"""What a base model ("host") of a recipe says about itself. Torch-free, so that specs can hold hosts.

A host is a final subclass of `Host`, and states what differs from the defaults here. `tests/models/test_hosts.py` holds
what it says against the model that it builds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from imlp_audit.models.readings import AnyReading, ClassToken, Family

if TYPE_CHECKING:
    from torch import nn

Size: TypeAlias = tuple[int, int]
"""Height and width in pixels."""

IMAGENET_SIZE: Size = (224, 224)
IMAGENET_CLASSES = 1000


def _whole(value: object) -> object:
    """Refuse numbers in forms that only Python reads, such as 1_92 or 4.0."""
    if isinstance(value, str) and not re.fullmatch("[0-9]+", value):
        raise ValueError(f"write a whole number in digits, not {value!r}")
    return value


Count = Annotated[int, BeforeValidator(_whole), Field(gt=0, le=1_000_000)]
"""A number of channels, tokens, words, ...: positive, and no larger than any model's."""

Layers = Annotated[int, BeforeValidator(_whole), Field(gt=0, le=1000)]
"""A number of layers. It is limited because each layer is built: a typing error must not fill the memory."""


class Setting(StrEnum):
    """A hyper-parameter that tables print, of a model of equal blocks."""

    LAYERS = "layers"
    IMAGE = "image"
    PATCH = "patch"
    WIDTH = "width"
    TOKENS = "tokens"
    TOKENS_HIDDEN = "tokens_hidden"
    CHANNELS_HIDDEN = "channels_hidden"


class Reads(StrEnum):
    """What a host reads, and where its size stands: in the recipe, or beside the host's own fields."""

    IMAGE = "image"  # of 224 x 224 unless the recipe gives another size
    OWN_IMAGE = "own_image"  # its usual size is known once it is built
    TOKENS = "tokens"
    OWN = "own"  # the host's own fields say what


PartNames: TypeAlias = tuple[tuple[str, str], ...]
"""Regular expressions for paths without their numbers, and what the parts found there are called."""


@dataclass(frozen=True)
class BuildRequest:
    """What a host is built for, beyond its own sizes: what the recipe says of it, and the reading it is built under."""

    image: Size | None = None
    classes: int | None = None
    reading: AnyReading | None = None
    class_token: ClassToken = ClassToken.KEPT

    @property
    def size(self) -> Size:
        """The size of the input, ImageNet's unless the recipe gives another."""
        return self.image or IMAGENET_SIZE

    @property
    def labels(self) -> int:
        """The number of classes, ImageNet's unless the recipe gives another."""
        return self.classes or IMAGENET_CLASSES


class Host(BaseModel):
    """A model by its sizes, as a recipe writes it. Frozen; unknown keys are refused.

    `key` is its key in a recipe. `builder` is a module of this folder, which is imported when the host is built and not
    before, and what in it makes the model of a request and of the host's fields; a paper's own code has none, and runs
    in `models.build` alone. `classified` hosts have as many classes as the recipe says, `replaceable` ones may have
    timm's MLPs, whose place blocks can take, `foldable` ones a deployed form. `stem` and `head` are names of outermost
    modules, and `parts` names parts where timm's names do not. A checkpoint of the host has one of the `modules` in a
    tensor's path, where there are any.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: ClassVar[str]
    builder: ClassVar[str]
    reads: ClassVar[Reads] = Reads.IMAGE
    classified: ClassVar[bool] = True
    replaceable: ClassVar[bool] = False
    foldable: ClassVar[bool] = False
    stem: ClassVar[frozenset[str]] = frozenset()
    head: ClassVar[frozenset[str]] = frozenset()
    parts: ClassVar[PartNames] = ()
    modules: ClassVar[frozenset[str]] = frozenset()

    @property
    def family(self) -> Family | None:
        """The axes that the host itself depends on; `solve` adds up such a host, a `Stack`, from its layers."""
        return None

    @property
    def patch_side(self) -> int | None:
        """The side of the patches, which must divide the image's; None where any size is taken."""
        side: int | None = getattr(self, "patch", None)
        return side

    def build(self, request: BuildRequest) -> nn.Module:
        """Build the host with fresh weights on the current default device. Raises BuildError."""
        module, _, name = self.builder.partition(":")
        model: nn.Module = getattr(import_module(f"imlp_audit.models.{module}"), name)(request, **dict(self))
        return model

    @classmethod
    def unpack(cls, value: object) -> object:
        """Return the fields of a host, given the value of its key in a recipe, which may be the architecture alone."""
        return {"architecture": value} if isinstance(value, str) and "architecture" in cls.model_fields else value

    def value(self) -> object:
        """Return the value of the host's key in a recipe: its fields as they were given."""
        return self.model_dump(exclude_unset=True, by_alias=True)


class Stack(Host):
    """A host of equal layers: what stands around them, and as often as there are layers one of them."""

    layers: Layers


def divides(part: int, whole: int, name: str) -> None:
    """Raise ValueError where `part` does not divide `whole`; `name` says which two these are."""
    if whole % part:
        raise ValueError(f"{name}: {part} does not divide {whole}")


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
