"""Different input elements have scales that are different weights, and biases that differ where their terms do.

Place: Sec. 3, Corollary 1 (2)
Corrected: m_{cj} = w^a_{cj}; n_{cj} - n_{c'j} = w^a_{c'j} x_{c'} - w^a_{cj} x_c, so that n_{cj} != n_{c'j} if and
    only if w^a_{cj} x_c != w^a_{c'j} x_{c'}
Bound: none: the numbers are exact
"""

from __future__ import annotations

from itertools import permutations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.dependence import jacobian
from imlp_audit.equations.imlp._biases import FirstLayer
from imlp_audit.equations.strategies import matrices, vectors


def judge(case: FirstLayer, arithmetic: Arithmetic) -> Trial:
    """Hold the scales against the weights, and the differences of biases against those of terms."""
    wa, x = arithmetic.tensor(case.wa), arithmetic.tensor(case.x)
    scales = equal(jacobian(lambda x: x @ wa, x).T, arithmetic.matrix(case.wa), **case.shown())
    if not scales.holds:
        return scales
    biases = x @ wa - x[:, None] * wa
    pairs = list(permutations(case.inputs, 2))
    differences = [(biases[c] - biases[d]).tolist() for c, d in pairs]
    terms = [[case.wa[d][j] * case.x[d] - case.wa[c][j] * case.x[c] for j in case.hidden] for c, d in pairs]
    return Trial(differences == terms, {**case.shown(), "differences of biases": differences, "of terms": terms})


def _layers(inputs: int, hidden: int) -> st.SearchStrategy[FirstLayer]:
    return st.builds(FirstLayer, vectors(inputs), matrices(inputs, hidden))


CLAIM = Claim(st.tuples(st.integers(2, 3), st.integers(1, 3)).flatmap(lambda size: _layers(*size)), judge)
