"""The paragraph on the hidden widths: what a layer costs."""

from hypothesis import strategies as st
from timm.models.vision_transformer import Attention
from torch import nn

from imlp_audit.claims import Sides, claim_about, macs
from imlp_audit.models.mixer import ChannelMixing, MixerLayer, PatchEmbedding

_size = st.integers(1, 3)
claim = claim_about(P=_size, grid=st.tuples(_size, _size), hidden=st.tuples(_size, _size), S=_size, C=_size)


def _mixer_macs(P: int, rows: int, columns: int, hidden: tuple[int, int]) -> int:
    def mixer() -> nn.Module:
        return nn.Sequential(PatchEmbedding(P, 2), MixerLayer(rows * columns, 2, *hidden))

    return macs(mixer, 1, 3, rows * P, columns * P)


@claim(
    share=0.3,
    place="paragraph on the hidden widths",
    printed="Note that D_S is selected independently of the number of input patches. Therefore, the computational "
    "complexity of the network is linear in the number of input patches",
)
def cost_linear_in_patches(P: int, grid: tuple[int, int], hidden: tuple[int, int]) -> Sides:
    """A Mixer's complexity is linear in the number of input patches.

    Read as: k times the patches, of the same size, take k times the multiply-accumulates of the patch projection and of
    the layers, since D_S (and D_C) stay as they are.
    """
    rows, columns = grid
    once = _mixer_macs(P, rows, columns, hidden)
    return [(_mixer_macs(P, k * rows, columns, hidden), k * once) for k in (2, 3)]


@claim(
    share=0.3,
    place="paragraph on the hidden widths",
    printed="Since D_C is independent of the patch size, the overall complexity is linear in the number of pixels in "
    "the image",
)
def cost_linear_in_pixels(P: int, grid: tuple[int, int], hidden: tuple[int, int]) -> Sides:
    """A Mixer's complexity is linear in the number of pixels of the image.

    Read as: for any patch size P, with D_S and D_C fixed, an image takes as many times the multiply-accumulates of
    another as it has times its pixels.
    """
    rows, columns = grid
    pixels, more_pixels = rows * P * columns * P, 2 * rows * P * 3 * columns * P
    return _mixer_macs(P, 2 * rows, 3 * columns, hidden) * pixels, _mixer_macs(P, rows, columns, hidden) * more_pixels


@claim(place="paragraph on the hidden widths", printed="unlike ViT whose complexity is quadratic")
def vit_quadratic(S: int, C: int) -> Sides:
    """ViT's complexity is quadratic in the number of input patches.

    Read as: the multiply-accumulates of a ViT layer, self-attention and an MLP on channels, are a polynomial of degree
    2 in the number of patches: equal steps of it change them by amounts that grow by the same amount 4 C > 0 each time.
    """

    def cost(n: int) -> int:
        return macs(lambda: Attention(C, 1), 1, n, C) + macs(lambda: ChannelMixing(C, 4 * C), 1, n, C)

    return [(cost(n + 2) - 2 * cost(n + 1) + cost(n), 4 * C) for n in (S, S + 1)]
