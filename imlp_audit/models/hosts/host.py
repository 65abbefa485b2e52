"""What every host says about itself. Torch-free, so that specs can hold hosts.

A host is a final subclass of `Host` in a module of this folder: nothing lists it elsewhere. mypy reports a member that
it lacks, `find_hosts` refuses it, and `tests/models/test_hosts.py` holds what it says against the model it builds.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from imlp_audit.errors import BuildError
from imlp_audit.models.reading import AnyReading, ClassToken, Family, TextReading

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


@dataclass(frozen=True)
class ImageInput:
    """The host reads images, of this size unless the recipe gives another."""

    size: Size


@dataclass(frozen=True)
class OwnImageInput:
    """The host reads images; their usual size is known once it is built."""


@dataclass(frozen=True)
class FeatureMapInput:
    """The host reads feature maps of this size unless the recipe gives another."""

    size: Size


@dataclass(frozen=True)
class TokenInput:
    """The host reads token ids, so a recipe gives no size."""


@dataclass(frozen=True)
class OwnInput:
    """The host's own fields say what it reads, so a recipe gives no size."""


Input: TypeAlias = ImageInput | OwnImageInput | FeatureMapInput | TokenInput | OwnInput


class ClassCount(StrEnum):
    """Where the number of classes stands."""

    IN_RECIPE = "in_recipe"
    IN_HOST = "in_host"
    NONE = "none"


PartNames: TypeAlias = tuple[tuple[str, str], ...]
"""Regular expressions for paths without their numbers, and what the parts found there are called."""


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What holds for a host of any size. Nothing has a default: every host states it.

    `key` is its key in a recipe. `replaceable` hosts have timm's MLPs, whose place blocks can take. `stem`, `head` and
    `body` are the names of its outermost modules (`body` is None where any others are the body). `parts` name its
    parts where timm's names do not. `class_token_optional` hosts can be built without their class token.
    """

    key: str
    reads: Input
    classes: ClassCount
    replaceable: bool
    class_token_optional: bool
    stem: frozenset[str]
    head: frozenset[str]
    body: frozenset[str] | None
    parts: PartNames


@dataclass(frozen=True)
class NamedParts:
    """A checkpoint of the host has one of these names in a tensor's path, and a tensor with an axis of this width."""

    names: frozenset[str]
    width: int | None


@dataclass(frozen=True)
class FirstLayer:
    """A checkpoint of the host has a tensor of this name, its first layer's weight; None where that is not known."""

    weight: str | None


Clue: TypeAlias = NamedParts | FirstLayer


@dataclass(frozen=True)
class BuildRequest:
    """What a host is built for, beyond its own sizes: what the recipe says of it, and the reading it is built under."""

    image: Size | None = None
    classes: int | None = None
    reading: AnyReading | None = None
    class_token: ClassToken = ClassToken.KEPT

    def size(self, usual: Size = IMAGENET_SIZE) -> Size:
        """Return the size of the input, the usual one unless the recipe gives another."""
        return self.image or usual

    @property
    def labels(self) -> int:
        """The number of classes, ImageNet's unless the recipe gives another."""
        return self.classes or IMAGENET_CLASSES


class Host(BaseModel, ABC):
    """A model by its sizes, as a recipe writes it. Frozen; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    @abstractmethod
    def traits(cls) -> Traits:
        """Return what holds for the host whatever its sizes are."""

    @abstractmethod
    def family(self) -> Family | None:
        """Return the family of axes that the host itself depends on, None where its text leaves nothing open.

        `solve` adds up such a host from its layers, so it must be a `Stack`.
        """

    @abstractmethod
    def patch_side(self) -> int | None:
        """Return the side of the patches, which must divide the image's; None where any size is taken."""

    @abstractmethod
    def clue(self) -> Clue:
        """Return what shows, without building the host, that a checkpoint cannot be its."""

    @abstractmethod
    def build(self, request: BuildRequest) -> nn.Module:
        """Build the host with fresh weights on the current default device. Raises BuildError."""

    @classmethod
    def unpack(cls, value: object) -> object:
        """Return the fields of a host, given the value of its key in a recipe."""
        return value

    def value(self) -> object:
        """Return the value of the host's key in a recipe: its fields as they were given."""
        return self.model_dump(exclude_unset=True)

    def kin(self) -> str:
        """Return the name that the host shares with the other sizes of its architecture."""
        return self.traits().key


class Stack(Host):
    """A host of equal layers: what stands around them, and as often as there are layers one of them."""

    layers: Layers

    def with_layers(self, layers: int) -> Self:
        """Return the host with another number of layers."""
        return self.model_copy(update={"layers": layers})


def divides(part: int, whole: int, name: str) -> None:
    """Raise ValueError where `part` does not divide `whole`; `name` says which two these are."""
    if whole % part:
        raise ValueError(f"{name}: {part} does not divide {whole}")


def text_reading(request: BuildRequest, key: str) -> TextReading:
    """Return the reading that a model of language is built under. Raises BuildError where there is none."""
    if not isinstance(request.reading, TextReading):
        raise BuildError(f"{key}: its model needs a reading of language models, and the paper has none")
    return request.reading
