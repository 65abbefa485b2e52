"""MLP-Mixer by its sizes (arXiv 2105.01601, Table 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from imlp_audit.models.hosts.host import (
    IMAGENET_SIZE,
    BuildRequest,
    ClassCount,
    Count,
    Host,
    ImageInput,
    Layers,
    NamedParts,
    Traits,
)

if TYPE_CHECKING:
    from torch import nn


@final
class Mixer(Host):
    """`width` is C, `tokens_hidden` D_S and `channels_hidden` D_C; S follows from the image and the patch."""

    layers: Layers
    patch: Count
    width: Count
    tokens_hidden: Count
    channels_hidden: Count

    @classmethod
    def traits(cls) -> Traits:
        """Return what holds for every size of it."""
        return Traits(
            key="mixer",
            reads=ImageInput(IMAGENET_SIZE),
            classes=ClassCount.IN_RECIPE,
            replaceable=False,
            class_token_optional=False,
            stem=frozenset({"stem"}),
            head=frozenset({"norm", "head"}),
            body=frozenset({"blocks"}),
            parts=(),
        )

    def family(self) -> None:
        """Return None: nothing is open about it."""

    def patch_side(self) -> int:
        """Return the side of a patch."""
        return self.patch

    def clue(self) -> NamedParts:
        """Return names of modules that only such models have."""
        return NamedParts(frozenset({"token_mixing"}), self.width)

    def build(self, request: BuildRequest) -> nn.Module:
        """Build MLP-Mixer for images of one size."""
        from imlp_audit.models.mixer import build_mixer

        return build_mixer(self, request.size(), request.labels)
