"""The paragraph on the hidden widths: what a layer costs."""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.counts import second_differences, vit_layer_macs

from ._network import Network, networks


@claim(networks())
def cost_linear_in_patches(case: Network, arithmetic: Arithmetic) -> Trial:
    """A Mixer's complexity is linear in the number of input patches.

    Read as: k times the patches, of the same size, take k times the multiply-accumulates of the patch projection and of
    the layers, since D_S (and D_C) stay as they are.

    Place: paragraph on the hidden widths
    Printed: Note that D_S is selected independently of the number of input patches. Therefore, the computational
        complexity of the network is linear in the number of input patches
    Bound: none: the ledger of a forward pass is exact
    """
    # Hold the ledger for twice the patches, and for three times, against the network's own.
    own, *more = (replace(case, rows=k * case.rows).macs() for k in (1, 2, 3))
    shown = {"multiply-accumulates": own, "with 2 S and 3 S patches": more}
    return Trial(more == [2 * own, 3 * own], {**case.shown(), **shown})


@claim(networks())
def cost_linear_in_pixels(case: Network, arithmetic: Arithmetic) -> Trial:
    """A Mixer's complexity is linear in the number of pixels of the image.

    Read as: for any patch size P, with D_S and D_C fixed, an image takes as many times the multiply-accumulates of
    another as it has times its pixels.

    Place: paragraph on the hidden widths
    Printed: Since D_C is independent of the patch size, the overall complexity is linear in the number of pixels in the
        image
    Bound: none: the ledger of a forward pass is exact
    """
    # Hold the ledger of an image twice as high and three times as wide against the network's own.
    larger = replace(case, rows=2 * case.rows, columns=3 * case.columns)
    own, more = case.macs(), larger.macs()
    shown = {"multiply-accumulates": own, "HW of the larger image": larger.pixels, "for it": more}
    return Trial(more * case.pixels == own * larger.pixels, {**case.shown(), **shown})


@claim(st.tuples(st.integers(1, 3), st.integers(1, 3)))
def vit_quadratic(case: tuple[int, int], arithmetic: Arithmetic) -> Trial:
    """ViT's complexity is quadratic in the number of input patches.

    Read as: the multiply-accumulates of a ViT layer, self-attention and an MLP on channels, are a polynomial of degree
    2 in the number of patches: equal steps of it change them by amounts that grow by the same amount 4 C > 0 each time.

    Place: paragraph on the hidden widths
    Printed: unlike ViT whose complexity is quadratic
    Bound: none: the ledger of a forward pass is exact
    """
    # Take second differences of the ledger, at S patches and C channels.
    s, c = case
    grows_by = second_differences([vit_layer_macs(n, c) for n in range(s, s + 4)])
    return Trial(grows_by == [4 * c] * 2, {"S": s, "C": c, "second differences": grows_by})
