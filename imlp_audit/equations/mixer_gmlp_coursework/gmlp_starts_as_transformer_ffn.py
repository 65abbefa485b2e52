"""At the start of training a gMLP block is the fully connected block of a Transformer, GELU(X U) V + X.

Read as: exactly so at W = 0 and with the b that the unit is initialised with; with the split unit, U is that of Z_1.

Place: Sec. 3.1, paragraph on initialisation
Printed: То есть полносвязный блок на начальных стадиях обучения становится похож на обычный полносвязный слой в блоках
    Трансформеров.
Bound: that of X U times the largest slope of GELU, carried through the product with V; the gate multiplies by exactly 1
"""

from __future__ import annotations

from dataclasses import replace

import torch
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.mixer_gmlp_coursework._gmlp import Block, blocks, elementwise, product
from imlp_audit.models.gmlp import TokenProjection
from imlp_audit.models.hosts.gmlp import Gate


def judge(drawn: tuple[Gate, Block], arithmetic: Arithmetic) -> Trial:
    """Hold the package's block with W = 0 and its own b against the Transformer's."""
    gate, case = drawn
    case = replace(case, b=_initial_bias(len(case.x)))
    x, v = arithmetic.matrix(case.x), arithmetic.matrix(case.v)
    u = arithmetic.matrix([row[: len(case.v)] for row in case.u])
    hidden = [[gelu(entry) for entry in row] for row in product(x, u)]
    transformer = elementwise(lambda a, b: a + b, product(hidden, v), x)
    return equal(case.y(arithmetic, gate), transformer, **{**case.shown(), "unit": f"s(Z) = {gate.formula}"})


def _initial_bias(tokens: int) -> tuple[float, ...]:
    bias: list[float] = TokenProjection(tokens).bias.to(torch.float64).tolist()
    return tuple(bias)


CLAIM = Claim(
    st.sampled_from((Gate.PRODUCT, Gate.SPLIT)).flatmap(
        lambda gate: st.tuples(st.just(gate), blocks(gate, weights=st.just(0.0)))
    ),
    judge,
)
