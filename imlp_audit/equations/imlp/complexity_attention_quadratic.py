"""Plain self-attention does 4 n C^2 + 2 n^2 C multiply-accumulates on n tokens of width C: quadratic in n.

For every number of heads that divides C.

Place: Sec. 1
Printed: Efficient self-attention operations reduce computational complexity of previous self-attention operation from
    O(n^2) to O(n)
Bound: none: multiply-accumulates are counted
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._blocks import multiply_accumulates
from imlp_audit.equations.imlp._vit import attention


def judge(case: tuple[int, int, int], _: Arithmetic) -> Trial:
    """Hold what the ledger tells against the polynomial."""
    n, heads, head_width = case
    c = heads * head_width
    counted = multiply_accumulates(attention(c, heads), 1, n, c)
    shown = {"n": n, "C": c, "heads": heads, "counted": counted, "4 n C^2 + 2 n^2 C": 4 * n * c * c + 2 * n * n * c}
    return Trial(counted == shown["4 n C^2 + 2 n^2 C"], shown)


CLAIM = Claim(st.tuples(st.integers(1, 16), st.integers(1, 3), st.integers(1, 8)), judge)
