"""As one linear layer over the tokens must keep their number, its matrix W is square, S x S.

Read as: for W of m rows and S columns, W Z has the shape of Z exactly where m = S, and the package's W has that shape.

Place: Sec. 3.1, sentence after the unit's equations
Printed: из-за необходимости сохранять размерность (для s(.)), матрица W должна быть квадратной. То есть W in R^{S x S}
Bound: none: numbers of rows and columns
"""

from __future__ import annotations

import torch
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.models.gmlp import TokenProjection


def judge(case: tuple[int, int, int], arithmetic: Arithmetic) -> Trial:
    """Multiply a Z of S tokens by a W of m rows."""
    m, tokens, channels = case
    with torch.device("meta"):
        z = torch.empty(tokens, channels)
        keeps = (torch.empty(m, tokens) @ z).shape == z.shape
        ours = TokenProjection(tokens).matrix().shape
    shown = {"rows of W": m, "S": tokens, "D_C": channels, "shape kept": keeps, "shape of our W": tuple(ours)}
    return Trial(keeps == (m == tokens) and ours == (tokens, tokens), shown)


CLAIM = Claim(st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 2)), judge)
