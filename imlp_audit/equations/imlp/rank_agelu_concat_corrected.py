"""concat(AGeLU, AGeLU') keeps the degree C' where no two arguments of GeLU are equal or opposite, and none is constant.

A beta of zero makes a unit constant. Otherwise beta and theta make no difference: alpha or gamma have to.

Place: Sec. 5.2 on Table 3
Corrected: beta_j GeLU(m'_{cj} x_c + n'_{cj}) + theta_j, j = 1, ..., C', are linearly independent functions of x_c if
    beta_j != 0, m'_{cj} != 0 and (m'_{cj}, n'_{cj}) != +-(m'_{ck}, n'_{ck}) for all j != k
Bound: a minor of the functions' values that is larger than its own bound proves independence
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.claim import Claim
from imlp_audit.equations.imlp._agelu import Coefficients
from imlp_audit.equations.imlp._amlp import Amlp
from imlp_audit.equations.imlp._units import apart
from imlp_audit.equations.imlp.rank_agelu_concat import judge
from imlp_audit.equations.strategies import matrices, vectors

_SCALES = st.sampled_from((1.0, -1.0, 2.0, -2.0, 0.5, -0.5))
_SHIFTS = st.sampled_from((0.0, 1.0, -1.0, 2.0, -2.0))


def amlps_apart(width: int, half: int) -> st.SearchStrategy[Amlp]:
    """AMLPs of which no two hidden units are equal or opposite under GeLU."""
    scales, shifts = vectors(half, _SCALES), vectors(half, _SHIFTS)
    agelus = st.builds(Coefficients, scales, scales, shifts, shifts)
    second = st.just(((1.0,) * width,) * (2 * half))
    cases = st.builds(Amlp, vectors(width, _SHIFTS), matrices(width, half, _SCALES), agelus, agelus, second)
    return cases.filter(lambda case: apart(case.units()))


CLAIM = Claim(st.tuples(st.integers(1, 2), st.integers(1, 2)).flatmap(lambda size: amlps_apart(*size)), judge)
