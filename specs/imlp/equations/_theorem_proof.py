"""Lemma 1 and Theorem 1 proved on symbols: each inequality as a sum of what is not negative.

What is supposed: phi is slope-restricted on [p, q] (`_restricted.py`), the entries of T_i are not negative, and
v' M(rho_i, T_i) v <= 0 for v = [x - y; x^i - y^i], as it is where M(rho_i, T_i) is negative semidefinite. Norms are
compared by their squares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, equal
from imlp_audit.equations.exact import Exact
from imlp_audit.equations.matrix import dot
from imlp_audit.equations.not_negative import NotNegative, add_up, at_most_by, square, suppose
from imlp_audit.equations.rounded import Rounded

from ._agelu import Coefficients
from ._restricted import ends, restricted
from ._theorem import Blocks, Module, any_modules, diagonal, difference, eq13_blocks, first_false, form, lemma1_blocks

_GIVEN = "all numbers and any phi that is slope-restricted"
_RHOS = "all numbers, any phi that is slope-restricted, and any rho and T with M(rho, T) <= 0"
RHOS = Exact.symbol("rho_1"), Exact.symbol("rho_2")
ROOTS = Exact.symbol("r_1"), Exact.symbol("r_2")  # of the rhos


def lemma1_reason(agelu: Coefficients, t: Sequence[float], x: Sequence[Rounded], y: Sequence[Rounded]) -> NotNegative:
    """Return sum_j 2 lambda_jj (rise_j - p run_j) (q run_j - rise_j)."""
    return add_up(
        suppose(2 * Exact.of(t_j)) * restricted(agelu, x_j, y_j) for t_j, x_j, y_j in zip(t, x, y, strict=True)
    )


def reason_of_13(case: Module, i: int, arithmetic: Arithmetic) -> NotNegative:
    """Return Lemma 1's reason at the hidden units."""
    x, y = case.hidden(case.x, arithmetic), case.hidden(case.y, arithmetic)
    return lemma1_reason(case.halves[i].phi, case.halves[i].t, x, y)


def form_at_hidden(case: Module, i: int, arithmetic: Arithmetic) -> Rounded:
    """Return Lemma 1's form in the differences before and after phi_i."""
    half, hidden = case.halves[i], [case.hidden(each, arithmetic) for each in (case.x, case.y)]
    blocks = lemma1_blocks(diagonal(half.t, arithmetic), *ends(half.phi))
    return form(blocks, [*difference(*hidden), *case.change_of_activated(i, arithmetic)])


def form_of_13(case: Module, i: int, arithmetic: Arithmetic) -> Rounded:
    """Return the form of Eq. 13."""
    half = case.halves[i]
    blocks = eq13_blocks(arithmetic.matrix(case.w0), diagonal(half.t, arithmetic), *ends(half.phi))
    return form(blocks, case.changes(i, arithmetic))


def form_of_15(case: Module, i: int, arithmetic: Arithmetic) -> Rounded:
    """Return the form of Eq. 15, with any rho_i."""
    return form(case.blocks_of_15(i, arithmetic, RHOS[i].value), case.changes(i, arithmetic))


def reason_of_14(case: Module, i: int, arithmetic: Arithmetic) -> NotNegative:
    """Return -v' M(rho_i, T_i) v, with M as Eq. 9 prints it."""
    return suppose(-form(_eq9_blocks(case, i, arithmetic), case.changes(i, arithmetic)))


def _eq9_blocks(case: Module, i: int, arithmetic: Arithmetic) -> Blocks:
    half, w0 = case.halves[i], arithmetic.matrix(case.w0)
    (p, q), t, w1 = ends(half.phi), diagonal(half.t, arithmetic), arithmetic.matrix(half.w1)
    identity = diagonal([1.0] * len(case.x), arithmetic)
    upper = (w0.T @ t @ w0).scale(-2 * (p * q)) + identity.scale(-RHOS[i])
    return [[upper, (w0.T @ t).scale(p + q)], [(t @ w0).scale(p + q), t.scale(-2) + w1.T @ w1]]


def judge_16(case: Module, i: int, arithmetic: Arithmetic) -> Trial:
    """Judge ||W^1i (x^i - y^i)||^2 <= rho_i ||x - y||^2."""
    weighted = arithmetic.matrix(case.halves[i].w1) @ case.change_of_activated(i, arithmetic)
    inputs = case.change_of_input(arithmetic)
    reason = reason_of_13(case, i, arithmetic) + reason_of_14(case, i, arithmetic)
    return at_most_by(dot(weighted, weighted), RHOS[i] * dot(inputs, inputs), reason, **case.shown())


def judge_17(case: Module, i: int, arithmetic: Arithmetic) -> Trial:
    """Judge ||change||^2 <= rho_i ||x - y||^2 of g or of h."""
    change, inputs = case.change_in(i, arithmetic), case.change_of_input(arithmetic)
    reason = reason_of_13(case, i, arithmetic) + reason_of_14(case, i, arithmetic)
    return at_most_by(dot(change, change), RHOS[i] * dot(inputs, inputs), reason, **case.shown())


def judge_cauchy_schwarz(case: Module, arithmetic: Arithmetic) -> Trial:
    """Judge (g' h)^2 <= ||g||^2 ||h||^2 of both changes: the right side is more by all (g_i h_j - g_j h_i)^2."""
    g, h = (case.change_in(i, arithmetic) for i in (0, 1))
    zero = NotNegative(arithmetic.number(0))
    squares = (square(g[i] * h[j] - g[j] * h[i]) for i, j in combinations(range(len(g)), 2))
    inner = dot(g, h)
    return at_most_by(inner * inner, dot(g, g) * dot(h, h), add_up([zero, *squares]), **case.shown())


def judge_bounds() -> Trial:
    """Judge a^2 + b^2 + 2 a b <= (r_1^2 + r_2^2 + 2 r_1 r_2) d^2 where a <= r_1 d and b <= r_2 d, none negative."""
    (one, other), d = ROOTS, suppose(Exact.symbol("d"))
    a, b, first, second = (suppose(each) for each in (Exact.symbol("a"), Exact.symbol("b"), one, other))
    less_a, less_b = suppose(one * d.value - a.value), suppose(other * d.value - b.value)
    reason = add_up([less_a * (first * d + a), less_b * (second * d + b), *[less_a * second * d, a * less_b] * 2])
    left = a.value * a.value + b.value * b.value + 2 * (a.value * b.value)
    return at_most_by(left, (one * one + other * other + 2 * (one * other)) * d.value * d.value, reason)


def judge_eq19_bounds(case: Module, arithmetic: Arithmetic) -> Trial:
    """Judge Eq. 17 and 18, and what follows from them."""
    return first_false([*(judge_17(case, i, arithmetic) for i in (0, 1)), judge_bounds()])


def judge_square(case: Module, arithmetic: Arithmetic) -> Trial:
    """Judge the last line of Eq. 19 with rho_i = r_i^2."""
    (one, other), inputs = ROOTS, case.change_of_input(arithmetic)
    squared = dot(inputs, inputs)
    left = one * one * squared + other * other * squared + 2 * (one * other * squared)
    return equal([left], [(one + other) * (one + other) * squared], **case.shown())


def judge_module(case: Module, arithmetic: Arithmetic) -> Trial:
    """Judge whether the change of the package's module is the sum of both branches' changes."""
    branches = (case.change_in(i, arithmetic) for i in (0, 1))
    return equal(case.change(arithmetic), [g + h for g, h in zip(*branches, strict=True)], **case.shown())


def judge_theorem(case: Module, arithmetic: Arithmetic) -> Trial:
    """Judge all lines from the module to Eq. 20; the square of f's change is expanded in eq19_expansion."""
    return first_false(_lines(case, arithmetic))


def _lines(case: Module, arithmetic: Arithmetic) -> Iterable[Trial]:
    yield judge_module(case, arithmetic)
    yield from (judge_17(case, i, arithmetic) for i in (0, 1))
    yield judge_cauchy_schwarz(case, arithmetic)
    yield judge_bounds()
    yield judge_square(case, arithmetic)


def both(judge: Callable[[Module, int, Arithmetic], Trial], covers: str = _RHOS) -> Proof[Module]:
    """Return the proof of what is judged of each half."""

    def judge_both(case: Module, arithmetic: Arithmetic) -> Trial:
        return first_false(judge(case, i, arithmetic) for i in (0, 1))

    return Proof(covers, Module.sizes, any_modules(), judge_both)


def whole(judge: Callable[[Module, Arithmetic], Trial], covers: str = _RHOS) -> Proof[Module]:
    """Return the proof of what is judged of a module."""
    return Proof(covers, Module.sizes, any_modules(), judge)


LEMMA1_AT_HIDDEN = both(
    lambda case, i, arithmetic: at_most_by(
        arithmetic.number(0), form_at_hidden(case, i, arithmetic), reason_of_13(case, i, arithmetic), **case.shown()
    ),
    _GIVEN,
)
EQ13 = both(
    lambda case, i, arithmetic: at_most_by(
        arithmetic.number(0), form_of_13(case, i, arithmetic), reason_of_13(case, i, arithmetic), **case.shown()
    ),
    _GIVEN,
)
EQ14 = both(
    lambda case, i, arithmetic: at_most_by(
        form_of_13(case, i, arithmetic),
        form_of_15(case, i, arithmetic),
        reason_of_14(case, i, arithmetic),
        **case.shown(),
    )
)
EQ15 = both(
    lambda case, i, arithmetic: at_most_by(
        arithmetic.number(0),
        form_of_15(case, i, arithmetic),
        reason_of_13(case, i, arithmetic) + reason_of_14(case, i, arithmetic),
        **case.shown(),
    )
)
