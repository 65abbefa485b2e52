"""Architectures of timm by their names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, final

from pydantic import Field

from imlp_audit.models.hosts.host import BuildRequest, ClassCount, Clue, FirstLayer, Host, OwnImageInput, Traits

if TYPE_CHECKING:
    from torch import nn

# A bare architecture name: timm would take "hf-hub:..." as an order to download.
ARCHITECTURE = r"^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)?$"
Architecture = Annotated[str, Field(pattern=ARCHITECTURE)]


@final
class Timm(Host):
    """A classifier of timm. A recipe gives only the name of its architecture: `timm: deit_tiny_patch16_224`."""

    architecture: Architecture

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

        return build_timm(self.architecture, request)

    @classmethod
    def unpack(cls, value: object) -> object:
        """Return the one field, which a recipe gives as the value of its key."""
        return value if isinstance(value, Timm) else {"architecture": value}

    def value(self) -> str:
        """Return the name of the architecture."""
        return self.architecture

    def kin(self) -> str:
        """Return the first word of the name: "deit" of deit_tiny_patch16_224."""
        word = re.search("[a-z]+", self.architecture.removeprefix("tf_").removeprefix("dm_"))
        return word.group() if word else self.architecture
