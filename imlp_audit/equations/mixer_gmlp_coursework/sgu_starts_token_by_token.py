"""With W near 0, the unit treats tokens nearly independently of each other, and with W = 0 exactly so.

Read as: s(Z)_{ic} changes with another token's Z_{jc} at the rate Z_{ic} W_{ij}, so at most |Z_{ic}| times the largest
|W_{ij}|, which is 0 at W = 0; it does not depend on other channels of other tokens at all.

Place: Sec. 3.1, paragraph on initialisation
Printed: Такая инициализация позволяет обрабатывать все токены независимо друг от друга.
Bound: one rounding of Z_{ic} W_{ij}; none where that is 0
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.dependence import jacobian
from imlp_audit.equations.mixer_gmlp_coursework._gmlp import Gating
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import matrices, vectors
from imlp_audit.models.hosts.gmlp import Gate

_NEAR_ZERO = st.sampled_from((0.0, 2.0**-20, -(2.0**-20), 2.0**-21))
_NEAR_ONE = st.sampled_from((1.0, 1 + 2.0**-20, 1 - 2.0**-20))


def judge(case: Gating, arithmetic: Arithmetic) -> Trial:
    """Hold the derivatives of the package's unit by other tokens against the stated rate."""
    slopes = jacobian(case.unit(arithmetic, Gate.PRODUCT), arithmetic.tensor(case.z)).tolist()
    z, w = arithmetic.matrix(case.z), arithmetic.matrix(case.w)
    tokens, channels = range(len(z)), range(len(z[0]))

    def rate(i: int, c: int, j: int, k: int) -> Rounded:
        return z[i][c] * w[i][j] if c == k else arithmetic.number(0)

    others = [(i, c, j, k) for i in tokens for c in channels for j in tokens for k in channels if i != j]
    return equal([slopes[i][c][j][k] for i, c, j, k in others], [rate(*place) for place in others], **case.shown())


def _cases() -> st.SearchStrategy[Gating]:
    return st.tuples(st.integers(2, 3), st.integers(1, 2)).flatmap(
        lambda size: st.builds(
            Gating, matrices(*size), matrices(size[0], size[0], _NEAR_ZERO), vectors(size[0], _NEAR_ONE)
        )
    )


CLAIM = Claim(_cases(), judge)
