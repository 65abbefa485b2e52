"""With W near 0 and b near 1, f(Z) is near 1 and s(Z) near Z.

Read as: where no |W_{ij}| exceeds epsilon and no |b_i - 1| exceeds delta, f(Z)_{ic} differs from 1 by at most delta +
epsilon sum_j |Z_{jc}|, and s(Z)_{ic} from Z_{ic} by at most |Z_{ic}| times that: with both 0, by nothing.

Place: Sec. 3.1, paragraph on initialisation
Printed: Изначально W инициализируется значениями близкими к нулю, а b к единице. Таким образом получается, что на
    первых шагах обучения f(Z) ~ 1 => s(Z) ~ Z
Bound: gamma_{S+2} times the sum of the magnitudes on either side
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, at_most, equal
from imlp_audit.equations.mixer_gmlp_coursework._gmlp import Gating, all_hold, elementwise
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import matrices, vectors
from imlp_audit.models.hosts.gmlp import Gate

_UP_TO_ONE = st.sampled_from((0.0, 1.0, -1.0, 0.5, -0.5))
_SMALL = st.sampled_from((0.0, 2.0**-10, 2.0**-20))


@dataclass(frozen=True)
class Start:
    """A unit near its initial values, and how near."""

    gating: Gating
    epsilon: float
    delta: float


def judge(case: Start, arithmetic: Arithmetic) -> Trial:
    """Hold the unit against its formula, and the formula's distance from the identity against the two bounds."""
    gating, z = case.gating, arithmetic.matrix(case.gating.z)
    f = gating.f(arithmetic, z)
    s = elementwise(lambda a, b: a * b, z, f)
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


def _starts() -> st.SearchStrategy[Start]:
    def start(z: tuple[tuple[float, ...], ...], epsilon: float, delta: float) -> st.SearchStrategy[Start]:
        size = len(z)
        w = matrices(size, size, _UP_TO_ONE.map(lambda entry: epsilon * entry))
        b = vectors(size, _UP_TO_ONE.map(lambda entry: 1 + delta * entry))
        return st.builds(Start, st.builds(Gating, st.just(z), w, b), st.just(epsilon), st.just(delta))

    z = st.tuples(st.integers(1, 3), st.integers(1, 2)).flatmap(lambda size: matrices(*size))
    return st.tuples(z, _SMALL, _SMALL).flatmap(lambda drawn: start(*drawn))


CLAIM = Claim(_starts(), judge)
