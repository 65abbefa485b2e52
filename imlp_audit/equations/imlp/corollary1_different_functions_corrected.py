"""The C' functions of x_c are different and nonlinear where no scale is zero and no two units share scale and bias.

Place: Sec. 3, Corollary 1 (1)
Corrected: phi(m_{cj} x_c + n_{cj}), j = 1, ..., C', phi = GeLU, are C' different nonlinear functions of x_c if
    m_{cj} != 0 and (m_{cj}, n_{cj}) != (m_{ck}, n_{ck}) for all j != k
Bound: two functions are different where their values differ by more than the bounds of both; those of GeLU and of its
    argument, exact here
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.claim import Claim
from imlp_audit.equations.imlp._biases import FirstLayer
from imlp_audit.equations.imlp.corollary1_different_functions import judge
from imlp_audit.equations.strategies import matrices, nonzero, vectors


def _layers(inputs: int, hidden: int) -> st.SearchStrategy[FirstLayer]:
    return st.builds(FirstLayer, vectors(inputs), matrices(inputs, hidden, nonzero()))


def _all_differ(case: FirstLayer) -> bool:
    return all(len(set(case.units(c))) == len(case.hidden) for c in case.inputs)


CLAIM = Claim(
    st.tuples(st.integers(1, 3), st.integers(1, 4)).flatmap(lambda size: _layers(*size)).filter(_all_differ), judge
)
