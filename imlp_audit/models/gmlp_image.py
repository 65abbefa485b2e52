"""gMLP on the patches of an image (arXiv 2105.08050, Sec. 3; the coursework's Sec. 3.2, Table 4)."""

from __future__ import annotations

from functools import partial

from torch import nn

from imlp_audit.models.gmlp import GmlpBlock
from imlp_audit.models.hosts.gmlp import Gmlp
from imlp_audit.models.mixer import PatchClassifier, number_of_patches


class GmlpClassifier(PatchClassifier):
    """gMLP blocks where MLP-Mixer has its layers; what is before and after them is the same (coursework, Sec. 3).

    The epsilons are timm's: 1e-6, and inside the gate torch's own 1e-5.
    """

    def __init__(self, sizes: Gmlp, image: tuple[int, int], classes: int) -> None:
        tokens = number_of_patches(image, sizes.patch)
        norm = partial(nn.LayerNorm, eps=1e-6)
        blocks = (
            GmlpBlock(sizes.width, sizes.hidden, tokens, sizes.gate, norm_layer=norm, gate_norm_layer=nn.LayerNorm)
            for _ in range(sizes.layers)
        )
        super().__init__(image, sizes.patch, sizes.width, blocks, classes)


def build_gmlp(host: Gmlp, size: tuple[int, int], classes: int) -> nn.Module:
    """Build gMLP for images of `size` = (height, width) with fresh weights. Raises BuildError."""
    return GmlpClassifier(host, size, classes)
