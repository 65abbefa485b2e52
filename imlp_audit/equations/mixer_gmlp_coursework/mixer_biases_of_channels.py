"""Channel mixing has a bias in each of its projections.

Read as: the products with W_3 and W_4 get a vector of their own added, b_3 (D_C) and b_4 (C), and nothing else in the
equation changes.

Place: Sec. 2.1, after the definition of GELU
Printed: Так же используется механизм пробрасывания связей и сдвиги каждой проекции.
Bound: as without biases, with one rounding more in each projection
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import Mixing, channel_mixed, channel_mixings, run, with_biases


def judge(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Hold the module against the equation with biases."""
    printed = channel_mixed(arithmetic.matrix(case.table), case, arithmetic)
    module = run(case.channel_mixing(arithmetic), case.table, arithmetic)
    shown = {"U": case.table, "W_3": case.first, "W_4": case.second}
    return equal(module, printed, **shown, b_3=case.first_bias, b_4=case.second_bias)


CLAIM = Claim(channel_mixings(st.integers(1, 3), st.integers(1, 3)).flatmap(with_biases), judge)
