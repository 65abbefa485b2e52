"""Models of transformers by their class and configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Self, final

from pydantic import Field, JsonValue, field_validator, model_validator

from imlp_audit.models.hosts.host import BuildRequest, ClassCount, Count, FirstLayer, Host, OwnImageInput, Traits
from imlp_audit.models.values import FrozenMap, Inputs, Values

if TYPE_CHECKING:
    from torch import nn

CLASS_NAME = r"^[A-Z][A-Za-z0-9]*$"


@final
class Transformers(Host):
    """A model of transformers: the class `architecture` with the fields of its configuration that are not its defaults.

    It reads an image, `tokens` tokens of text, or the `inputs` that are named.
    """

    architecture: Annotated[str, Field(pattern=CLASS_NAME)]
    config: Values = Field(default_factory=FrozenMap)
    tokens: Count | None = None
    inputs: Inputs | None = None

    @field_validator("config")
    @classmethod
    def _nothing_is_downloaded(cls, config: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        if "use_pretrained_backbone: true" in _lines(config):
            raise ValueError("use_pretrained_backbone: models are built with fresh weights, and nothing is downloaded")
        return config

    @model_validator(mode="after")
    def _reads_one_thing(self) -> Self:
        if self.tokens is not None and self.inputs is not None:
            raise ValueError("give only one of tokens and inputs")
        return self

    @classmethod
    def traits(cls) -> Traits:
        """Return what holds for every model of transformers."""
        return Traits(
            key="transformers",
            reads=OwnImageInput(),
            classes=ClassCount.IN_RECIPE,
            replaceable=False,
            class_token_optional=False,
            stem=frozenset(),
            head=frozenset({"classifier"}),
            body=None,
            parts=((r"\bembed(ding)?s?\b", "embedding"), (r"^[a-z_]+\b", "body")),
        )

    def family(self) -> None:
        """Return None: the configuration is the model."""

    def patch_side(self) -> None:
        """Return None: the model checks the size."""

    def clue(self) -> FirstLayer:
        """Return the name of the first tensor."""
        from imlp_audit.models.nets.transformers import find_first_tensor

        return FirstLayer(find_first_tensor(self))

    def build(self, request: BuildRequest) -> nn.Module:
        """Build the model from its configuration."""
        from imlp_audit.models.nets.transformers import build_transformers

        return build_transformers(self, request)

    @classmethod
    def unpack(cls, value: object) -> object:
        """Return the fields; a recipe may give the class alone."""
        return {"architecture": value} if isinstance(value, str) else value

    def kin(self) -> str:
        """Return the first word of the class: "ViT" of ViTForImageClassification."""
        return re.split("(?<!^)(?:For|Model|LMHead)", self.architecture)[0]


def _lines(config: Mapping[str, JsonValue]) -> set[str]:
    """Return the fields of a configuration, and of those inside it, a line each."""
    found: set[str] = set()
    for name, value in config.items():
        found |= _lines(value) if isinstance(value, Mapping) else {f"{name}: {value}".lower()}
    return found
