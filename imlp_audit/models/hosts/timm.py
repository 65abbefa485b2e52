"""Architectures of timm by their names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, final

from pydantic import Field, JsonValue, field_validator

from imlp_audit.models.hosts.host import BuildRequest, ClassCount, Clue, FirstLayer, Host, OwnImageInput, Traits
from imlp_audit.models.values import FrozenMap, Values, refuse_arguments

if TYPE_CHECKING:
    from torch import nn

# A bare architecture name: timm would take "hf-hub:..." as an order to download.
ARCHITECTURE = r"^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)?$"
Architecture = Annotated[str, Field(pattern=ARCHITECTURE)]

_SAID_ELSEWHERE = {"num_classes": "classes", "img_size": "image"}


@final
class Timm(Host):
    """A classifier of timm: the name of its architecture, and what is changed of its `arguments`.

    A recipe gives the name alone where nothing is: `timm: deit_tiny_patch16_224`.
    """

    architecture: Architecture
    arguments: Values = Field(default_factory=FrozenMap)

    @field_validator("arguments")
    @classmethod
    def _sizes_only(cls, arguments: FrozenMap[JsonValue]) -> FrozenMap[JsonValue]:
        refuse_arguments(arguments, _SAID_ELSEWHERE)
        return arguments

    @classmethod
    def traits(cls) -> Traits:
        """Return what holds for every classifier of timm; those without timm's MLPs are found when they are built."""
        return Traits(
            key="timm",
            reads=OwnImageInput(),
            classes=ClassCount.IN_RECIPE,
            replaceable=True,
            class_token_optional=True,
            stem=frozenset({"patch_embed", "patch_embeds", "stem", "conv_stem", "conv1", "bn1", "norm_pre"}),
            head=frozenset({"norm", "fc_norm", "head", "head_dist", "head_drop", "classifier", "fc", "bn2"})
            | {"global_pool", "attn_pool", "conv_head"},
            body=None,
            parts=(),
        )

    def family(self) -> None:
        """Return None: timm's code is the model."""

    def patch_side(self) -> None:
        """Return None: the sizes that an architecture takes are known once it is built."""

    def clue(self) -> Clue:
        """Return the name of the first layer's weight, which timm knows."""
        from imlp_audit.models.nets.timm import find_first_layer

        return FirstLayer(find_first_layer(self.architecture))

    def build(self, request: BuildRequest) -> nn.Module:
        """Build the architecture. A removed class token leaves the average of the patches after the last norm."""
        from imlp_audit.models.nets.timm import build_timm

        return build_timm(self.architecture, self.arguments, request)

    @classmethod
    def unpack(cls, value: object) -> object:
        """Return the fields; a recipe may give the architecture alone."""
        return {"architecture": value} if isinstance(value, str) else value

    def value(self) -> object:
        """Return the name of the architecture, with its arguments if there are any."""
        return super().value() if self.arguments else self.architecture

    def kin(self) -> str:
        """Return the first word of the name: "deit" of deit_tiny_patch16_224."""
        word = re.search("[a-z]+", self.architecture.removeprefix("tf_").removeprefix("dm_"))
        return word.group() if word else self.architecture
