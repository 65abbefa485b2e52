"""Classifiers of torchvision by their names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, final

from pydantic import Field

from imlp_audit.models.hosts.host import (
    IMAGENET_SIZE,
    BuildRequest,
    ClassCount,
    FirstLayer,
    Host,
    ImageInput,
    Traits,
)

if TYPE_CHECKING:
    from torch import nn


CLASSIFIER = r"^[a-z0-9_]+$"


@final
class Torchvision(Host):
    """A classifier of torchvision. A recipe gives only its name: `torchvision: resnet50`."""

    architecture: Annotated[str, Field(pattern=CLASSIFIER)]

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

        return build_torchvision(self.architecture, request)

    @classmethod
    def unpack(cls, value: object) -> object:
        """Return the one field, which a recipe gives as the value of its key."""
        return value if isinstance(value, Torchvision) else {"architecture": value}

    def value(self) -> str:
        """Return the name of the architecture."""
        return self.architecture

    def kin(self) -> str:
        """Return the first word of the name: "resnet" of resnet50."""
        word = re.search("[a-z]+", self.architecture)
        return word.group() if word else self.architecture
