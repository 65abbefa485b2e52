"""With AReLUs each output of the AMLP, against x_c, has C' kinks too: the same degree of non-linearity.

Tested where alpha, beta and theta of the two AReLUs differ, and no weight is zero.

Place: Sec. 4.1, last paragraph, for Fig. 2's phi = ReLU
Printed: the proposed AMLP module (Eq. 6) is also a generator that generates the same degree of non-linearity
Nearest: fig2_amlp_kinks_corrected
Bound: none: rational arithmetic
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._agelu import Coefficients
from imlp_audit.equations.imlp._relu import ReluModule


def judge(case: ReluModule, arithmetic: Arithmetic) -> Trial:
    """Count the places where the slope changes."""
    found = case.kinks(0)
    shown = {"W^d": case.first, **case.arelu.shown(" of both"), "W^e": case.second, "C'": case.hidden}
    return Trial(len(found) == case.hidden, {**shown, "kinks of y_1 against x_1, at": list(map(str, found))})


def _amlps() -> st.SearchStrategy[ReluModule]:
    """AMLPs of C = 1 and C' = 2, whose weights are 1."""
    two, gammas = st.permutations((1.0, 2.0)).map(tuple), st.tuples(*[st.sampled_from((0.0, 1.0))] * 2)
    agelus = st.builds(Coefficients, alpha=two, beta=two, gamma=gammas, theta=st.just((0.0, 1.0)))
    return agelus.map(lambda agelu: ReluModule((0.0,), ((1.0,),), agelu, ((1.0,), (1.0,))))


CLAIM = Claim(_amlps(), judge)
