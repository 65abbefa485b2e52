"""Token mixing has a bias in each of its projections.

Read as: the products with W_1 and W_2 get a vector of their own added, b_1 (D_S) and b_2 (S), and nothing else in the
equation changes.

Place: Sec. 2.1, after the definition of GELU
Printed: Так же используется механизм пробрасывания связей и сдвиги каждой проекции.
Bound: as without biases, with one rounding more in each projection
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import Mixing, run, token_mixed, token_mixings, with_biases


def judge(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Hold the module against the equation with biases."""
    printed = token_mixed(arithmetic.matrix(case.table), case, arithmetic)
    module = run(case.token_mixing(arithmetic), case.table, arithmetic)
    shown = {"X": case.table, "W_1": case.first, "W_2": case.second}
    return equal(module, printed, **shown, b_1=case.first_bias, b_2=case.second_bias)


CLAIM = Claim(token_mixings(st.integers(1, 3), st.integers(1, 3)).flatmap(with_biases), judge)
