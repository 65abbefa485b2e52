"""All of a gMLP block but its unit works on each token independently.

Read as: with the identity in place of the unit, Y of token i depends on X of token i alone; the norm is left in.

Place: Sec. 3.1, paragraph before the unit's equations
Printed: Преобразования, описанные ранее, работают с каждым токеном независимо.
Bound: none: a derivative is exactly zero or it is not
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.mixer_gmlp_coursework._gmlp import transposed
from imlp_audit.equations.mixer_gmlp_coursework._mixer import filled
from imlp_audit.equations.strategies import Matrix, matrices
from imlp_audit.models.gmlp import GmlpBlock
from imlp_audit.models.hosts.gmlp import Gate


@dataclass(frozen=True)
class Steps:
    """X, U and V of a block."""

    x: Matrix
    u: Matrix
    v: Matrix

    def block(self, arithmetic: Arithmetic) -> GmlpBlock:
        """Return the package's block, its unit replaced."""
        tokens, width, hidden = len(self.x), len(self.x[0]), len(self.u[0])
        ones, zeros = (1.0,) * width, (0.0,) * width
        weights: dict[str, object] = {
            "norm.weight": ones,
            "norm.bias": zeros,
            "v.bias": zeros,
            "u.bias": (0.0,) * hidden,
        }
        weights |= {"u.weight": transposed(self.u), "v.weight": transposed(self.v)}
        return filled(lambda: _without_unit(GmlpBlock(width, hidden, tokens, Gate.PRODUCT)), weights, arithmetic)


def _without_unit(block: GmlpBlock) -> GmlpBlock:
    block.sgu = nn.Identity()  # type: ignore[assignment]
    return block


def judge(case: Steps, arithmetic: Arithmetic) -> Trial:
    """Look for a derivative of one token's output by another token's input."""
    links = depends(case.block(arithmetic), arithmetic.tensor(case.x)).any(3).any(1).tolist()
    others = [(i + 1, j + 1) for i, row in enumerate(links) for j, linked in enumerate(row) if linked and i != j]
    return Trial(not others, {"X": case.x, "U": case.u, "V": case.v, "token that depends on another, and that": others})


CLAIM = Claim(
    st.tuples(st.integers(2, 3), st.integers(1, 2)).flatmap(
        lambda size: st.builds(Steps, matrices(size[0], 2), matrices(2, size[1]), matrices(size[1], 2))
    ),
    judge,
)
