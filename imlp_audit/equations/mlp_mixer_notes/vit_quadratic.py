"""ViT's complexity is quadratic in the number of input patches.

Read as: the multiply-accumulates of a ViT layer, self-attention and an MLP on channels, are a polynomial of degree 2 in
the number of patches: equal steps of it change them by amounts that grow by the same amount 4 C > 0 each time.

Place: paragraph on the hidden widths
Printed: unlike ViT whose complexity is quadratic
Bound: none: the ledger of a forward pass is exact
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._counts import second_differences, vit_layer_macs


def judge(case: tuple[int, int], arithmetic: Arithmetic) -> Trial:
    """Take second differences of the ledger, at S patches and C channels."""
    s, c = case
    grows_by = second_differences([vit_layer_macs(n, c) for n in range(s, s + 4)])
    return Trial(grows_by == [4 * c] * 2, {"S": s, "C": c, "second differences": grows_by})


CLAIM = Claim(st.tuples(st.integers(1, 3), st.integers(1, 3)), judge)
