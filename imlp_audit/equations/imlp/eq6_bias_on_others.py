"""The bias of x_c under GeLU in the AMLP depends on the other input elements, and not on x_c.

Read as: with weights that are not zero, on every other one: n'_{cj} is what is left under GeLU without m'_{cj} x_c.

Place: Sec. 4.1, last sentence
Printed: each bias is dependent on other input elements
Bound: none: a derivative that is exactly zero is told from one that is not
"""

from __future__ import annotations

import torch
from hypothesis import strategies as st
from torch import Tensor

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.imlp._agelu import coefficients
from imlp_audit.equations.imlp._amlp import Amlp
from imlp_audit.equations.strategies import matrices, nonzero, vectors


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold what the biases of each x_c depend on against all inputs but x_c."""
    weights, x = arithmetic.tensor(case.wd), arithmetic.tensor(case.x)
    for c in range(len(case.x)):
        at_zero = case.under_phi_of(torch.zeros_like(weights[c]), arithmetic)
        own = case.under_phi_of(weights[c], arithmetic) - at_zero  # m'_{cj}

        def bias(x: Tensor, c: int = c, own: Tensor = own) -> Tensor:
            return case.under_phi_of(x @ weights, arithmetic) - own * x[c]

        found = depends(bias, x)
        others = [i != c for i in range(len(case.x))]
        if found.tolist() != [others] * len(case.we):
            return Trial(False, {**case.shown(), "c": c + 1, "n'_{cj} depends on x": found.tolist()})
    return Trial(True)


def _amlps(width: int, half: int) -> st.SearchStrategy[Amlp]:
    agelus, weights = coefficients(half), nonzero()
    return st.builds(
        Amlp, vectors(width), matrices(width, half, weights), agelus, agelus, matrices(2 * half, width, weights)
    )


CLAIM = Claim(st.tuples(st.integers(2, 3), st.integers(1, 2)).flatmap(lambda size: _amlps(*size)), judge)
