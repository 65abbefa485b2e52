"""Sec. 3.1, how the spatial gating unit starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, at_most, claim, equal
from imlp_audit.equations.dependence import jacobian
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import matrices, vectors
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import TokenProjection
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.hosts import GmlpText
from imlp_audit.models.reading import SpatialMatrix

from ._gmlp import Block, Gating, all_hold, blocks
from ._text_networks import text_reading

_UP_TO_ONE = st.sampled_from((0.0, 1.0, -1.0, 0.5, -0.5))

_SMALL = st.sampled_from((0.0, 2.0**-10, 2.0**-20))


@dataclass(frozen=True)
class Start:
    """A unit near its initial values, and how near."""

    gating: Gating
    epsilon: float
    delta: float


def _starts() -> st.Strategy[Start]:
    def start(z: tuple[tuple[float, ...], ...], epsilon: float, delta: float) -> st.Strategy[Start]:
        size = len(z)
        w = matrices(size, size, _UP_TO_ONE.map(lambda entry: epsilon * entry))
        b = vectors(size, _UP_TO_ONE.map(lambda entry: 1 + delta * entry))
        return st.builds(Start, st.builds(Gating, st.just(z), w, b), st.just(epsilon), st.just(delta))

    z = st.tuples(st.integers(1, 3), st.integers(1, 2)).flatmap(lambda size: matrices(*size))
    return st.tuples(z, _SMALL, _SMALL).flatmap(lambda drawn: start(*drawn))


@claim(_starts())
def sgu_starts_near_identity(case: Start, arithmetic: Arithmetic) -> Trial:
    """With W near 0 and b near 1, f(Z) is near 1 and s(Z) near Z.

    Read as: where no |W_{ij}| exceeds epsilon and no |b_i - 1| exceeds delta, f(Z)_{ic} differs from 1 by at most delta
    + epsilon sum_j |Z_{jc}|, and s(Z)_{ic} from Z_{ic} by at most |Z_{ic}| times that: with both 0, by nothing.

    Place: Sec. 3.1, paragraph on initialisation
    Printed: Изначально W инициализируется значениями близкими к нулю, а b к единице. Таким образом получается, что на
        первых шагах обучения f(Z) ~ 1 => s(Z) ~ Z
    Bound: gamma_{S+2} times the sum of the magnitudes on either side
    """
    # Hold the unit against its formula, and the formula's distance from the identity against the two bounds.
    gating, z = case.gating, arithmetic.matrix(case.gating.z)
    f = gating.f(arithmetic, z)
    s = z * f
    shown = {**gating.shown(), "epsilon": case.epsilon, "delta": case.delta}

    def bounds() -> Iterator[Trial]:
        yield equal(gating.s(arithmetic, Gate.PRODUCT), s, **shown)
        for i, row in enumerate(z):
            for c, entry in enumerate(row):
                near_one = case.delta + case.epsilon * total(_absolute(token[c]) for token in z)
                yield at_most(_absolute(f[i][c] - 1), near_one, **shown)
                yield at_most(_absolute(s[i][c] - entry), _absolute(entry) * near_one, **shown)

    return all_hold(bounds())


def _absolute(x: Rounded) -> Rounded:
    return x if x.value >= 0 else -x


_NEAR_ZERO = st.sampled_from((0.0, 2.0**-20, -(2.0**-20), 2.0**-21))

_NEAR_ONE = st.sampled_from((1.0, 1 + 2.0**-20, 1 - 2.0**-20))


def _cases() -> st.Strategy[Gating]:
    return st.tuples(st.integers(2, 3), st.integers(1, 2)).flatmap(
        lambda size: st.builds(
            Gating, matrices(*size), matrices(size[0], size[0], _NEAR_ZERO), vectors(size[0], _NEAR_ONE)
        )
    )


@claim(_cases())
def sgu_starts_token_by_token(case: Gating, arithmetic: Arithmetic) -> Trial:
    """With W near 0, the unit treats tokens nearly independently of each other, and with W = 0 exactly so.

    Read as: s(Z)_{ic} changes with another token's Z_{jc} at the rate Z_{ic} W_{ij}, so at most |Z_{ic}| times the
    largest |W_{ij}|, which is 0 at W = 0; it does not depend on other channels of other tokens at all.

    Place: Sec. 3.1, paragraph on initialisation
    Printed: Такая инициализация позволяет обрабатывать все токены независимо друг от друга.
    Bound: one rounding of Z_{ic} W_{ij}; none where that is 0
    """
    # Hold the derivatives of the package's unit by other tokens against the stated rate.
    slopes = jacobian(case.unit(arithmetic, Gate.PRODUCT), arithmetic.tensor(case.z)).tolist()
    z, w = arithmetic.matrix(case.z), arithmetic.matrix(case.w)
    tokens, channels = range(len(z)), range(len(z[0]))

    def rate(i: int, c: int, j: int, k: int) -> Rounded:
        return z[i][c] * w[i][j] if c == k else arithmetic.number(0)

    others = [(i, c, j, k) for i in tokens for c in channels for j in tokens for k in channels if i != j]
    return equal([slopes[i][c][j][k] for i, c, j, k in others], [rate(*place) for place in others], **case.shown())


@claim(
    st.sampled_from((Gate.PRODUCT, Gate.SPLIT)).flatmap(
        lambda gate: st.tuples(st.just(gate), blocks(gate, weights=st.just(0.0)))
    ),
    proof=Proof("all numbers and any activation", lambda drawn: {"s(Z)": drawn[0].formula, **drawn[1].sizes()}),
)
def gmlp_starts_as_transformer_ffn(drawn: tuple[Gate, Block], arithmetic: Arithmetic) -> Trial:
    """At the start of training a gMLP block is the fully connected block of a Transformer, GELU(X U) V + X.

    Read as: exactly so at W = 0 and with the b that the unit is initialised with; with the split unit, U is that of
    Z_1.

    Place: Sec. 3.1, paragraph on initialisation
    Printed: То есть полносвязный блок на начальных стадиях обучения становится похож на обычный полносвязный слой в
        блоках Трансформеров.
    Bound: that of X U times the largest slope of GELU, carried through the product with V; the gate multiplies by
        exactly 1
    """
    # Hold the package's block with W = 0 and its own b against the Transformer's.
    gate, case = drawn
    case = replace(case, b=_initial_bias(len(case.x)))
    x, v = arithmetic.matrix(case.x), arithmetic.matrix(case.v)
    u = arithmetic.matrix([row[: len(case.v)] for row in case.u])
    hidden = (x @ u).map(gelu)
    transformer = hidden @ v + x
    return equal(case.y(arithmetic, gate), transformer, **{**case.shown(), "unit": f"s(Z) = {gate.formula}"})


def _initial_bias(tokens: int) -> tuple[float, ...]:
    bias: list[float] = TokenProjection(tokens).bias.to(torch.float64).tolist()
    return tuple(bias)


@claim(st.tuples(st.sampled_from(Gate), st.sampled_from(SpatialMatrix), st.integers(2, 4)), share=0.2)
def sgu_initial_values(case: tuple[Gate, SpatialMatrix, int], arithmetic: Arithmetic) -> Trial:
    """Every unit of a new network has a W near 0 and a b near 1.

    Read as: near is within 2^-10, for two blocks of any unit with W full or Toeplitz; the weights that make W are
    drawn, so not all of them are the same.

    Place: Sec. 3.1, paragraph on initialisation
    Printed: Изначально W инициализируется значениями близкими к нулю, а b к единице.
    Bound: none: numbers are compared
    """
    # Hold the values of a new network's units against both numbers.
    gate, matrix, tokens = case
    host = GmlpText(layers=2, width=2, hidden=4, gate=gate, spatial_matrix=matrix)
    units = [block.sgu.proj for block in host.build(BuildRequest(reading=text_reading(tokens, 4))).blocks]  # type: ignore[union-attr]
    weights = [weight for unit in units for weight in unit.weight.flatten().tolist()]
    from_one = max((unit.bias - 1).abs().max().item() for unit in units)
    from_zero = max(map(abs, weights))
    holds = max(from_zero, from_one) <= 2.0**-10 and len(set(weights)) > 1
    shown = {"unit": gate.formula, "W": str(matrix), "S": tokens, "W from 0": from_zero, "b from 1": from_one}
    return Trial(holds, shown)
