"""concat(AGeLU, AGeLU') keeps the degree of non-linearity C', whatever the coefficients.

Read as: the C' hidden units are linearly independent as functions of x_1, at every step of training. The smallest case
is the step that training starts with: both AGeLUs are GeLU then, and come apart only as they are trained.

Place: Sec. 5.2 on Table 3
Printed: the two AGeLU functions do not decrease the degree of non-linearity
Nearest: rank_agelu_concat_corrected
Bound: a minor of the functions' values that is larger than its own bound proves independence; equal functions prove
    dependence
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._agelu import Coefficients
from imlp_audit.equations.imlp._amlp import Amlp
from imlp_audit.equations.imlp._ranks import first_layer, sampled_equal
from imlp_audit.equations.imlp._units import independent


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Look for hidden units that are dependent."""
    hidden, units = case.t2_of(first_layer(case, arithmetic), arithmetic), case.units()
    sampled = sampled_equal(hidden, units, arithmetic, **case.shown())
    if not sampled.holds or independent(units):
        return sampled
    shown = {"W^d": case.wd, **case.first.shown(), **case.second.shown("'"), "functions": list(map(str, units))}
    return Trial(False, {**shown, "linearly independent": False})


def _agelus() -> st.SearchStrategy[Coefficients]:
    few, shifts = st.tuples(st.sampled_from((1.0, 2.0))), st.tuples(st.sampled_from((0.0, 1.0)))
    return st.builds(Coefficients, few, few, shifts, shifts)


CLAIM = Claim(st.builds(Amlp, st.just((1.0,)), st.just(((1.0,),)), _agelus(), _agelus(), st.just(((1.0,),) * 2)), judge)
