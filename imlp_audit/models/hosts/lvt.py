"""LVT (CVPR 2022) by the number of its recursions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, final

from pydantic import Field

from imlp_audit.models.hosts.host import IMAGENET_SIZE, BuildRequest, ClassCount, Host, ImageInput, NamedParts, Traits

if TYPE_CHECKING:
    from torch import nn


@final
class Lvt(Host):
    """`recursions` is r_num of the recursive atrous self-attention: LVT-R1 to R4. Each is a pass over its layers."""

    recursions: Annotated[int, Field(gt=0, le=100)]

    @classmethod
    def traits(cls) -> Traits:
        """Return what holds for every size of it."""
        return Traits(
            key="lvt",
            reads=ImageInput(IMAGENET_SIZE),
            classes=ClassCount.IN_RECIPE,
            replaceable=True,
            class_token_optional=False,
            stem=frozenset(),
            head=frozenset({"norm", "head"}),
            body=frozenset({"backbone", "post_network", "aux_head"}),
            parts=((r"^backbone\.(proj|norm)\b", "patch embedding"),),
        )

    def family(self) -> None:
        """Return None: nothing is open about it."""

    def patch_side(self) -> None:
        """Return None: its patches overlap."""

    def clue(self) -> NamedParts:
        """Return names of modules that only such models have."""
        return NamedParts(frozenset({"backbone"}), None)

    def build(self, request: BuildRequest) -> nn.Module:
        """Build LVT with its classifier for images of one size."""
        from imlp_audit.models.nets.lvt import build_lvt

        return build_lvt(self, request.size(), request.labels)
