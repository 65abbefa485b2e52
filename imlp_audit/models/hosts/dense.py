"""Detectors and segmenters on a timm backbone (imlp Tables 6 and 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from imlp_audit.models.hosts.host import BuildRequest, ClassCount, Count, Host, ImageInput, NamedParts, Size, Traits
from imlp_audit.models.hosts.timm import Architecture

if TYPE_CHECKING:
    from torch import nn

COCO_SIZE: Size = (800, 1280)
ADE_SIZE: Size = (512, 2048)


@final
class MaskRcnn(Host):
    """Mask R-CNN with a feature pyramid on a timm backbone; COCO has 80 classes."""

    backbone: Architecture
    classes: Count = 80

    @classmethod
    def traits(cls) -> Traits:
        """Return what holds for every size of it."""
        return Traits(
            key="mask_rcnn",
            reads=ImageInput(COCO_SIZE),
            classes=ClassCount.IN_HOST,
            replaceable=True,
            class_token_optional=False,
            stem=frozenset(),
            head=frozenset(),
            body=frozenset({"detector"}),
            parts=(
                (r"\bbackbone\.(body\.)?norms\b", "norms of the features"),
                (r"\bfpn\b", "feature pyramid"),
                (r"\brpn\b", "proposal head"),
                (r"\broi_heads\b", "box and mask heads"),
            ),
        )

    def family(self) -> None:
        """Return None: nothing is open about it."""

    def patch_side(self) -> None:
        """Return None: the backbone checks the size."""

    def clue(self) -> NamedParts:
        """Return names of modules that only such models have."""
        return NamedParts(frozenset({"roi_heads"}), None)

    def build(self, request: BuildRequest) -> nn.Module:
        """Build the detector for images of one size."""
        from imlp_audit.models.nets.mask_rcnn import build_mask_rcnn

        return build_mask_rcnn(self, request.size(COCO_SIZE))


@final
class UperNet(Host):
    """UperNet with its auxiliary head on a timm backbone; ADE20K has 150 classes."""

    backbone: Architecture
    classes: Count = 150

    @classmethod
    def traits(cls) -> Traits:
        """Return what holds for every size of it."""
        return Traits(
            key="upernet",
            reads=ImageInput(ADE_SIZE),
            classes=ClassCount.IN_HOST,
            replaceable=True,
            class_token_optional=False,
            stem=frozenset(),
            head=frozenset(),
            body=frozenset({"backbone", "decode_head", "auxiliary_head"}),
            parts=(
                (r"\bbackbone\.(body\.)?norms\b", "norms of the features"),
                (r"^(decode|auxiliary)_head\b", "segmentation heads"),
            ),
        )

    def family(self) -> None:
        """Return None: nothing is open about it."""

    def patch_side(self) -> None:
        """Return None: the backbone checks the size."""

    def clue(self) -> NamedParts:
        """Return names of modules that only such models have."""
        return NamedParts(frozenset({"auxiliary_head"}), None)

    def build(self, request: BuildRequest) -> nn.Module:
        """Build the segmenter for images of one size."""
        from imlp_audit.models.nets.upernet import build_upernet

        return build_upernet(self, request.size(ADE_SIZE))
