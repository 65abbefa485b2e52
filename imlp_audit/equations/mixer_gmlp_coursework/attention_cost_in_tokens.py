"""Transformers are quadratic in tokens, as gMLP is.

Read as: the multiply-accumulates of self-attention and the fully connected layers after it are a polynomial of degree 2
in S: equal steps of S change them by amounts that grow by the same amount, 4 C.

Place: Sec. 3.1, last sentence
Printed: вычислительная сложность gMLP линейна по количеству каналов, но квадратична по токенам. Такую же сложность
    имеют Трансформеры.
Bound: none: the ledger of a forward pass is exact
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._counts import second_differences
from imlp_audit.equations.mixer_gmlp_coursework._shapes import Sizes, sizes
from imlp_audit.equations.mixer_gmlp_coursework._transformer import transformer_macs


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Take second differences of the ledger by S."""
    found = second_differences([transformer_macs(s, case.c, case.d_c) for s in range(case.s, case.s + 4)])
    return Trial(found == [4 * case.c] * 2, {**case.shown(), "second differences by S": found})


CLAIM = Claim(sizes((1, 2, 3)), judge, share=0.2)
