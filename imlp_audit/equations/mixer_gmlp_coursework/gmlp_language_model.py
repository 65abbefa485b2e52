"""With a lower triangular W, a gMLP block without cross-attention makes each token of itself and those before it alone.

Token i depends on itself, on no later token, and on an earlier token j exactly where W_{ij} is not 0; tried on positive
X, U, b and V, where no derivative vanishes by chance.

Place: Sec. 4, last paragraph
Corrected: for W_{ij} = 0 where j > i, dY_i / dX_j = 0 where j > i
Bound: none: a derivative is exactly zero or it is not
"""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._gmlp import Block, blocks
from imlp_audit.equations.mixer_gmlp_coursework._order import linked_tokens
from imlp_audit.equations.strategies import positive
from imlp_audit.models.hosts.gmlp import Gate


def judge(case: Block, arithmetic: Arithmetic) -> Trial:
    """Hold which tokens depend on which against W."""
    found = linked_tokens(case, arithmetic)
    tokens = range(len(case.x))
    said = [(i + 1, j + 1) for i in tokens for j in range(i + 1) if i == j or case.w[i][j]]
    return Trial(found == said, {**case.shown(), "token that depends on another, and that": found})


def _lower(case: Block) -> Block:
    """Leave out what is above the diagonal of W."""
    return replace(case, w=tuple((*row[: i + 1], *(0.0,) * (len(row) - i - 1)) for i, row in enumerate(case.w)))


CLAIM = Claim(blocks(Gate.PRODUCT, (2, 3), positive(), positive()).map(_lower), judge)
