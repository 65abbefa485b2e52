"""A Mixer's complexity is linear in the number of pixels of the image.

Read as: for any patch size P, with D_S and D_C fixed, an image takes as many times the
multiply-accumulates of another as it has times its pixels.

Place: paragraph on the hidden widths
Printed: Since D_C is independent of the patch size, the overall complexity is linear in the number of pixels in the
    image
Bound: none: the ledger of a forward pass is exact
"""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mlp_mixer_notes._network import Network, networks


def judge(case: Network, arithmetic: Arithmetic) -> Trial:
    """Hold the ledger of an image twice as high and three times as wide against the network's own."""
    larger = replace(case, rows=2 * case.rows, columns=3 * case.columns)
    own, more = case.macs(), larger.macs()
    shown = {"multiply-accumulates": own, "HW of the larger image": larger.pixels, "for it": more}
    return Trial(more * case.pixels == own * larger.pixels, {**case.shown(), **shown})


CLAIM = Claim(networks(), judge)
