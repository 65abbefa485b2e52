"""The MLP's nonlinear degree is C' where no scale is zero and no two arguments of GeLU are equal or opposite.

Place: Sec. 3, after Corollary 1
Corrected: phi(m_{cj} x_c + n_{cj}), j = 1, ..., C', phi = GeLU, are linearly independent functions of x_c if
    m_{cj} != 0 and (m_{cj}, n_{cj}) != +-(m_{ck}, n_{ck}) for all j != k
Bound: a minor of the functions' values that is larger than its own bound proves independence
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.claim import Claim
from imlp_audit.equations.imlp._biases import FirstLayer
from imlp_audit.equations.imlp._units import apart
from imlp_audit.equations.imlp.corollary1_degree import judge
from imlp_audit.equations.strategies import matrices, vectors

_WEIGHTS = st.sampled_from((1.0, -1.0, 2.0, -2.0, 0.5, -0.5))


def _layers(inputs: int, hidden: int) -> st.SearchStrategy[FirstLayer]:
    return st.builds(FirstLayer, vectors(inputs, _WEIGHTS), matrices(inputs, hidden, _WEIGHTS))


def _apart(case: FirstLayer) -> bool:
    return all(apart(case.units(c)) for c in case.inputs)


CLAIM = Claim(
    st.tuples(st.integers(1, 3), st.integers(1, 3)).flatmap(lambda size: _layers(*size)).filter(_apart), judge
)
