"""Classifiers of torchvision by their names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, final

from pydantic import Field, JsonValue, field_validator

from imlp_audit.models.hosts.host import (
    IMAGENET_SIZE,
    BuildRequest,
    ClassCount,
    FirstLayer,
    Host,
    ImageInput,
    Traits,
)
from imlp_audit.models.values import FrozenMap, Values, refuse_arguments

if TYPE_CHECKING:
    from torch import nn


CLASSIFIER = r"^[a-z0-9_]+$"
_SAID_ELSEWHERE = {"num_classes": "classes", "image_size": "image", "input_size": "image"}


@final
class Torchvision(Host):
    """A classifier of torchvision: its name, and what is changed of its `arguments`.

    A recipe gives the name alone where nothing is: `torchvision: resnet50`.
    """

    architecture: Annotated[str, Field(pattern=CLASSIFIER)]
    arguments: Values = Field(default_factory=FrozenMap)

    @field_validator("arguments")
    @classmethod
    def _sizes_only(cls, arguments: FrozenMap[JsonValue]) -> FrozenMap[JsonValue]:
        refuse_arguments(arguments, _SAID_ELSEWHERE)
        return arguments

    @classmethod
    def traits(cls) -> Traits:
        """Return what holds for every classifier of torchvision."""
        return Traits(
            key="torchvision",
            reads=ImageInput(IMAGENET_SIZE),
            classes=ClassCount.IN_RECIPE,
            replaceable=False,
            class_token_optional=False,
            stem=frozenset({"conv1", "bn1", "stem", "conv_proj", "Conv2d_1a_3x3"}),
            head=frozenset({"fc", "classifier", "head", "heads", "norm"}),
            body=None,
            parts=((r"^(features|layer\d|trunk_output|blocks|encoder)\b", "body"),),
        )

    def family(self) -> None:
        """Return None: torchvision's code is the model."""

    def patch_side(self) -> None:
        """Return None: an architecture with patches refuses other sizes when it is built or run."""

    def clue(self) -> FirstLayer:
        """Return the name of the first tensor."""
        from imlp_audit.models.nets.torchvision import find_first_tensor

        return FirstLayer(find_first_tensor(self.architecture))

    def build(self, request: BuildRequest) -> nn.Module:
        """Build the architecture for images of one size."""
        from imlp_audit.models.nets.torchvision import build_torchvision

        return build_torchvision(self.architecture, self.arguments, request)

    @classmethod
    def unpack(cls, value: object) -> object:
        """Return the fields; a recipe may give the architecture alone."""
        return {"architecture": value} if isinstance(value, str) else value

    def value(self) -> object:
        """Return the name of the architecture, with its arguments if there are any."""
        return super().value() if self.arguments else self.architecture

    def kin(self) -> str:
        """Return the first word of the name: "resnet" of resnet50."""
        word = re.search("[a-z]+", self.architecture)
        return word.group() if word else self.architecture
