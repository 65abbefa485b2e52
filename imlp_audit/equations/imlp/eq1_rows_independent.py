"""Each row of the MLP's output is the MLP of the same row of its input, so one row says it all (N = 1).

Place: Sec. 3, Eq. 1, and "Without loss of generality, we assume N = 1"
Printed: Y = MLP(X) = phi(X W^a) W^b; X in R^{N x C}; row n of Y is phi(x W^a) W^b of row n of X
Bound: gamma_C times the magnitudes under phi, times its largest slope, then gamma_{C'+1} times those of the sum
"""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Matrix, matrices


@dataclass(frozen=True)
class Batch:
    """N inputs as the rows of X, and the weights of an MLP."""

    x: Matrix
    wa: Matrix
    wb: Matrix


def batches() -> st.SearchStrategy[Batch]:
    """Batches of N = 2 or 3 inputs for MLPs of width and hidden width up to 2."""
    sizes = st.tuples(st.integers(2, 3), st.integers(1, 2), st.integers(1, 2))
    return sizes.flatmap(
        lambda size: st.builds(Batch, matrices(*size[:2]), matrices(*size[1:]), matrices(size[2], size[1]))
    )


def judge(case: Batch, arithmetic: Arithmetic) -> Trial:
    """Hold the matrix form of all rows against the element-wise form of each."""
    wa, wb = arithmetic.matrix(case.wa), arithmetic.matrix(case.wb)

    def of_row(x: list[Rounded]) -> list[Rounded]:
        hidden = [gelu(total(wa[i][j] * x[i] for i in range(len(x)))) for j in range(len(wb))]
        return [total(wb[j][c] * hidden[j] for j in range(len(wb))) for c in range(len(x))]

    y = F.gelu(arithmetic.tensor(case.x) @ arithmetic.tensor(case.wa)) @ arithmetic.tensor(case.wb)
    rows = [of_row(row) for row in arithmetic.matrix(case.x)]
    return equal(y, rows, **{"X": case.x, "W^a": case.wa, "W^b": case.wb})


CLAIM = Claim(batches(), judge)
