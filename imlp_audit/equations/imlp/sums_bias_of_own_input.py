"""In a sum of 4 C AGeLUs, each output depends on the input of its own channel alone.

Whatever the coefficients: no bias in it can depend on the other inputs, as those of an MLP do by Corollary 1.

Place: Sec. 5.2 on Table 4, row AGeLU
Printed: according to Corollary 1 the biases of these nonlinear functions should be different and are dependent on all
    other input elements which is hard to apply in reality
Bound: none: a derivative that is exactly zero is told from one that is not
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.imlp._agelu import Coefficients, coefficients
from imlp_audit.equations.imlp._sums import summed
from imlp_audit.equations.strategies import Vector, vectors


@dataclass(frozen=True)
class AGeLUs:
    """An input of C numbers, and 4 C AGeLUs with coefficients for each of C channels."""

    x: Vector
    each: tuple[Coefficients, ...]


def judge(case: AGeLUs, arithmetic: Arithmetic) -> Trial:
    """Hold what the outputs depend on against the diagonal."""
    y = summed([agelu.module(arithmetic) for agelu in case.each])
    found = depends(y, arithmetic.tensor(case.x))
    others = found & ~torch.eye(len(case.x), dtype=torch.bool, device=found.device)
    return Trial(not others.any(), {"x": case.x, "depends on other inputs": others.tolist()})


def _cases(width: int) -> st.SearchStrategy[AGeLUs]:
    return st.builds(AGeLUs, vectors(width), st.tuples(*[coefficients(width)] * (4 * width)))


CLAIM = Claim(_cases(2), judge)
