"""The bias of x_c in the MLP depends on just those other input elements whose weight is not zero.

Place: Sec. 3, Corollary 1 (3)
Corrected: n_{cj} depends on x_i if and only if i != c and w^a_{ij} != 0
Bound: none: a derivative that is exactly zero is told from one that is not
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._biases import FirstLayer
from imlp_audit.equations.imlp.corollary1_bias_on_all_others import bias_depends
from imlp_audit.equations.strategies import matrices, vectors


def judge(case: FirstLayer, arithmetic: Arithmetic) -> Trial:
    """Hold what the biases depend on against the weights."""
    for c in case.inputs:
        found = bias_depends(case, c, arithmetic).tolist()
        weighted = [[i != c and case.wa[i][j] != 0 for i in case.inputs] for j in case.hidden]
        if found != weighted:
            return Trial(False, {**case.shown(), "c": c + 1, "n_{cj} depends on x_i": found})
    return Trial(True)


def _layers(inputs: int, hidden: int) -> st.SearchStrategy[FirstLayer]:
    return st.builds(FirstLayer, vectors(inputs), matrices(inputs, hidden))


CLAIM = Claim(st.tuples(st.integers(1, 3), st.integers(1, 3)).flatmap(lambda size: _layers(*size)), judge)
