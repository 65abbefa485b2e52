"""Sec. 4.3, Fig. 4: the whole IMLP."""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal

from ._layouts import Fig4, imlps


@claim(imlps(), proof=Proof("all numbers and any phi", Fig4.sizes))
def fig4_imlp(case: Fig4, arithmetic: Arithmetic) -> Trial:
    """The package's IMLP is Fig. 4 in every layout that a host may have: a fully-connected layer, two AGeLUs whose
    outputs are concatenated, the depthwise block on the grid, and a second fully-connected layer.

    Read as: in evaluation; tokens are the grid row by row, and a class token passes the depthwise block by.

    Place: Sec. 4.3, Fig. 4 (b)
    Printed: The channel-wise enhancement part includes the AGeLU function and concatenation operation. The spatial-wise
        enhancement part includes a depthwise block
    Bound: that of Eq. 5 up to the concatenation, carried through the convolution, the batch norm (4 u for its
        reciprocal root), GeLU (its largest slope, and 6 u of its own) and the second layer
    """
    # Hold the module against the parts of the figure, one after the other.
    return equal(case.output(arithmetic), case.printed(arithmetic), **case.shown())
