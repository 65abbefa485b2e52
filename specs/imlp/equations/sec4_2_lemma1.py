"""Sec. 4.2, Lemma 1: the quadratic form of functions whose slopes lie in an interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, at_most, claim
from imlp_audit.equations.functions import prelu
from imlp_audit.equations.lipschitz import slopes
from imlp_audit.equations.lipschitz.slopes import Slopes
from imlp_audit.equations.not_negative import at_most_by
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import Vector, positive, vectors

from ._agelu import Coefficients, coefficients
from ._restricted import ends
from ._slope import EXACT, slopes_of
from ._theorem import diagonal, difference, form, lemma1_blocks
from ._theorem_proof import lemma1_reason


@dataclass(frozen=True)
class TwoInputs:
    """Two inputs, an AGeLU for all elements, and the diagonal of T."""

    x: Vector
    y: Vector
    agelu: Coefficients
    t: Vector

    def judge(self, outputs: Sequence[Sequence[Rounded]], interval: Slopes, arithmetic: Arithmetic) -> Trial:
        """Judge the printed form, its blocks multiplied out, of outputs for x and y."""
        p, q, t = arithmetic.number(interval.low), arithmetic.number(interval.high), diagonal(self.t, arithmetic)
        x, y = arithmetic.vector(self.x), arithmetic.vector(self.y)
        found = form(lemma1_blocks(t, p, q), [*difference(x, y), *difference(*outputs)])
        shown = {"x": self.x, "y": self.y, **self.agelu.shown(), "lambda": self.t, "p": p.value, "q": q.value}
        return at_most(arithmetic.number(0), found, **shown)

    def judge_on_symbols(self, arithmetic: Arithmetic) -> Trial:
        """Judge the form, with AGeLU's ends as symbols, by what slope restriction says of each element."""
        x, y = arithmetic.vector(self.x), arithmetic.vector(self.y)
        outputs = [EXACT.values(self.agelu, vector, arithmetic) for vector in (x, y)]
        blocks = lemma1_blocks(diagonal(self.t, arithmetic), *ends(self.agelu))
        found = form(blocks, [*difference(x, y), *difference(*outputs)])
        reason = lemma1_reason(self.agelu, self.t, x, y)
        return at_most_by(arithmetic.number(0), found, reason, **self.agelu.shown())


def two_inputs(entries: st.Strategy[float] | None = None) -> st.Strategy[TwoInputs]:
    """Vectors of up to three elements; entries of T may be zero."""
    entries = entries or st.sampled_from((0.0, 1.0, 2.0, 0.5, 3.0))
    return st.integers(1, 3).flatmap(
        lambda n: st.builds(TwoInputs, vectors(n), vectors(n), coefficients(1), vectors(n, entries))
    )


@claim(
    two_inputs(),
    proof=Proof(
        "all numbers and any phi that is slope-restricted",
        lambda case: {"n": len(case.x)},
        cases=two_inputs(positive()),
        judge=TwoInputs.judge_on_symbols,
    ),
)
def lemma1(case: TwoInputs, arithmetic: Arithmetic) -> Trial:
    """For AGeLU applied to every element, slope-restricted on [p, q], and any diagonal T with no negative entries, the
    quadratic form of Lemma 1 in the differences of inputs and outputs is never negative.

    Place: Sec. 4.2, Lemma 1 and Eq. 8
    Printed: [x - y; phi(x) - phi(y)]' [[-2 p q T, (p + q) T], [(p + q) T, -2 T]] [x - y; phi(x) - phi(y)] >= 0 for all
        x, y in R^n, T = sum_{i=1}^{n} lambda_ii e_i e_i', lambda_ii >= 0
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge the printed form with the module's outputs.
    outputs = [EXACT.values(case.agelu, arithmetic.vector(vector), arithmetic) for vector in (case.x, case.y)]
    return case.judge(outputs, slopes_of(case.agelu, slopes.GELU), arithmetic)


@dataclass(frozen=True)
class Wider:
    """Two inputs, and by how much an interval goes beyond the slopes of a function at both ends."""

    inputs: TwoInputs
    below: float
    above: float


def _wider(margins: tuple[float, ...], entries: st.Strategy[float] | None = None) -> st.Strategy[Wider]:
    beyond = st.sampled_from(margins)
    return st.builds(Wider, two_inputs(entries), beyond, beyond)


@claim(
    _wider((0.0, 0.5, 2.0)),
    proof=Proof(
        "all numbers and any phi that is slope-restricted",
        lambda case: {"n": len(case.inputs.x)},
        cases=_wider((0.0,), positive()),
        judge=lambda case, arithmetic: case.inputs.judge_on_symbols(arithmetic),
    ),
)
def lemma1_any_function(case: Wider, arithmetic: Arithmetic) -> Trial:
    """Lemma 1 holds for functions other than AGeLU, and for every interval that holds their slopes, not only for the
    narrowest.

    Tested with APReLU, whose slopes are alpha beta and alpha beta / 4, and with intervals that go beyond them at one
    end, at both or at none.

    Place: Sec. 4.2, Lemma 1
    Printed: Suppose phi : R -> R is slope-restricted on [p, q]. Then [x - y; phi(x) - phi(y)]' [[-2 p q T, (p + q) T],
        [(p + q) T, -2 T]] [x - y; phi(x) - phi(y)] >= 0
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge the printed form with the module's outputs and the wider interval.
    agelu, slope = case.inputs.agelu, nn.PReLU().weight.item()
    vectors_of = [arithmetic.vector(vector) for vector in (case.inputs.x, case.inputs.y)]
    outputs = [agelu.computed(vector, lambda x: prelu(x, slope), arithmetic, nn.PReLU) for vector in vectors_of]
    own = slopes_of(agelu, Slopes(slope, 1.0))
    return case.inputs.judge(outputs, Slopes(own.low - case.below, own.high + case.above), arithmetic)
