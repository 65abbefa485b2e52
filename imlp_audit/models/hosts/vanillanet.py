"""VanillaNet's block (arXiv 2305.12972)."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from imlp_audit.models.hosts.host import (
    IMAGENET_SIZE,
    BuildRequest,
    ClassCount,
    Count,
    FeatureMapInput,
    Host,
    NamedParts,
    Traits,
)

if TYPE_CHECKING:
    from torch import nn


@final
class VanillaBlock(Host):
    """A block of VanillaNet on a feature map of `width` channels, which it doubles, and of the recipe's `image` size.

    `act_num` is n of its series activation (imlp, Eq. 10).
    """

    width: Count
    act_num: Count = 3

    @classmethod
    def traits(cls) -> Traits:
        """Return what holds for every size of it."""
        return Traits(
            key="vanilla_block",
            reads=FeatureMapInput(IMAGENET_SIZE),
            classes=ClassCount.NONE,
            replaceable=False,
            class_token_optional=False,
            stem=frozenset(),
            head=frozenset(),
            body=frozenset({"conv", "pool", "act"}),
            parts=(
                (r"^conv\b", "convolution"),
                (r"^pool\b", "pooling"),
                (r"^act\b", "series activation"),
            ),
        )

    def family(self) -> None:
        """Return None: nothing is open about it."""

    def patch_side(self) -> None:
        """Return None: a block has no patches."""

    def clue(self) -> NamedParts:
        """Return names of modules that only such models have."""
        return NamedParts(frozenset({"act"}), self.width)

    def build(self, request: BuildRequest) -> nn.Module:
        """Build the block for maps of one size."""
        from imlp_audit.models.vanillanet import build_vanilla_block

        return build_vanilla_block(self, request.size())
