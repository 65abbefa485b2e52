"""In the AMLP, the C' hidden units share C'/2 columns of W^d, unit j the column f(j); in the MLP each has its own.

Place: Sec. 4.3, first sentence
Printed: the degree of freedom of {w^d_{i,f(j)}}_{j=1}^{C'} in Eq. 6 are halved compared to the original
    {w^a_{ij}}_{j=1}^{C'} in Eq. 2
Bound: none: a derivative that is exactly zero is told from one that is not
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st
from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.imlp._reach import with_ones
from imlp_audit.models.imlp import ChannelPart
from imlp_audit.models.reading import PRINTED


def judge(case: tuple[int, int], arithmetic: Arithmetic) -> Trial:
    """Hold which columns each hidden unit depends on against f."""
    c, half = case
    part = with_ones(ChannelPart(half, PRINTED, nn.GELU, channels_first=False), arithmetic)
    amlp, mlp = _columns(part, c, half, arithmetic), _columns(nn.GELU(), c, 2 * half, arithmetic)
    hidden = range(1, 2 * half + 1)
    shown = {"C": c, "C'": 2 * half, "columns of units 1 to C' in the AMLP": amlp, "in the MLP": mlp}
    return Trial(amlp == [[j - half * (j > half)] for j in hidden] and mlp == [[j] for j in hidden], shown)


def _columns(act: Callable[[Tensor], Tensor], c: int, columns: int, arithmetic: Arithmetic) -> list[list[int]]:
    """Return, for each hidden unit act(x W), the columns of W that it depends on, counted from 1."""
    x, w = arithmetic.tensor([1.0] * c), arithmetic.tensor([[1.0] * columns] * c)
    by_column = depends(lambda weights: act(x @ weights), w).any(dim=1)
    return [[column + 1 for column in unit.nonzero().flatten().tolist()] for unit in by_column]


CLAIM = Claim(st.tuples(st.integers(1, 3), st.integers(1, 4)), judge)
