"""The proofs of Lemma 1, of the slopes' ends and of Theorem 1: what they take, and errors that they refute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import mpmath
import pytest
import sympy
from mpmath import mp, mpf

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.exact import Exact
from imlp_audit.equations.lipschitz import slopes
from imlp_audit.equations.lipschitz.enclosure_gelu import enclose_steepest_slope
from imlp_audit.equations.lipschitz.enclosure_tanh import enclose_steepest_tanh_slope
from imlp_audit.equations.matrix import RoundedMatrix, dot
from imlp_audit.equations.not_negative import NotNegative, add_up, at_most_by, square, suppose
from imlp_audit.equations.proof import RefutedError, prove
from imlp_audit.equations.rounded import Number, Rounded
from specs.imlp.equations import _theorem, _theorem_proof
from specs.imlp.equations._theorem import Blocks, Module, affine, eq13_blocks, lemma1_blocks
from tests.equations.papers import all_claims, runnable


def with_a_difference(w0: RoundedMatrix, t: RoundedMatrix, p: Number, q: Number) -> Blocks:
    """Return Eq. 13's matrix with p + q as q - p."""
    return eq13_blocks(w0, t, -p, q)


def with_the_first_block_twice(case: Module, i: int, arithmetic: Arithmetic) -> Blocks:
    """Return Eq. 9's matrix with an error."""
    return [[row[0].scale(2), row[1]] for row in _EQ9(case, i, arithmetic)]


def with_p_squared(t: RoundedMatrix, p: Number, q: Number) -> Blocks:
    """Return Lemma 1's matrix with p^2 for p q."""
    return [[lemma1_blocks(t, p, p)[0][0], *lemma1_blocks(t, p, q)[0][1:]], lemma1_blocks(t, p, q)[1]]


def half_a_square(x: Rounded) -> NotNegative:
    """Return half a square."""
    return NotNegative(0.5 * (x * x))


_EQ9 = _theorem_proof._eq9_blocks
NARROWER = replace(slopes.GELU, high=slopes.GELU.high - 2.0**-45)
NARROWER_TANH = replace(slopes.GELU_TANH, high=slopes.GELU_TANH.high - 2.0**-45)
WIDER = replace(slopes.GELU, low=slopes.GELU.low - 2.0**-45)
PLANTS: dict[str, tuple[str, object, tuple[str, ...]]] = {
    "b^1 twice": (
        "specs.imlp.equations.appendix_a1_forms.affine",
        lambda w, x, b: affine(w, x, tuple(2 * each for each in b)),
        ("eq12_biases_corrected",),
    ),
    "sums for differences": (
        "specs.imlp.equations._theorem.difference",
        lambda left, right: [a + b for a, b in zip(left, right, strict=True)],
        ("eq17_g_corrected", "eq13", "eq15", "eq16", "eq17", "eq18", "theorem1"),
    ),
    "one more": (
        "specs.imlp.equations.appendix_a1_bound.dot", lambda left, right: dot(left, right) + 1, ("eq19_expansion",)
    ),
    "q - p in Eq. 13": (
        "specs.imlp.equations._theorem_proof.eq13_blocks", with_a_difference, ("eq13", "eq14", "eq14_own_t")
    ),
    "p^2 in Lemma 1": (
        "specs.imlp.equations.sec4_2_lemma1.lemma1_blocks", with_p_squared, ("lemma1", "lemma1_any_function")
    ),
    "p^2 at the hidden units": (
        "specs.imlp.equations._theorem_proof.lemma1_blocks", with_p_squared, ("lemma1_at_hidden",)
    ),
    "Eq. 9's first block twice": (
        "specs.imlp.equations._theorem_proof._eq9_blocks", with_the_first_block_twice,
        ("eq14", "eq14_own_t", "eq15", "eq16", "eq17", "eq18", "eq19_bounds", "theorem1", "theorem1_own_t"),
    ),
    "half of Cauchy and Schwarz": (
        "specs.imlp.equations._theorem_proof.square", half_a_square, ("eq19_cauchy_schwarz",)
    ),
    "an interval too narrow by 2^-45": (
        "imlp_audit.equations.lipschitz.slopes.GELU", NARROWER,
        ("slope_interval", "slope_attained", "slope_is_tight", "definition1_agelu"),
    ),
    "an interval of the tanh form too narrow by 2^-45": (
        "imlp_audit.equations.lipschitz.slopes.GELU_TANH", NARROWER_TANH,
        ("slope_tanh_interval", "slope_tanh_attained", "slope_tanh_is_tight"),
    ),
    "an interval too wide by 2^-45": (
        "imlp_audit.equations.lipschitz.slopes.GELU", WIDER,
        ("slope_interval", "slope_attained", "slope_is_tight", "definition1_agelu"),
    ),
}  # fmt: skip
CASES = [(place, planted, name) for place, planted, names in PLANTS.values() for name in names]
IDS = [f"{plant}-{name}" for plant, (_, _, names) in PLANTS.items() for name in names]


@pytest.mark.parametrize(("place", "planted", "name"), CASES, ids=IDS)
def test_an_error_is_refuted(monkeypatch: pytest.MonkeyPatch, place: str, planted: object, name: str) -> None:
    monkeypatch.setattr(place, planted)
    (claim,) = (runnable(claim) for claim in all_claims() if (claim.paper, claim.name) == ("imlp", name))
    with pytest.raises(RefutedError):
        prove(claim)


def test_the_slope_of_gelu_turns_at_the_roots_of_two_alone() -> None:
    """What the enclosure is of: (x Phi(x))'' = phi(x) (2 - x^2), and Phi(sqrt 2) + sqrt 2 phi(sqrt 2)."""
    x = sympy.Symbol("x", real=True)
    gelu = x * (1 + sympy.erf(x / sympy.sqrt(2))) / 2
    density = sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi)
    assert sympy.simplify(sympy.diff(gelu, x, 2) - density * (2 - x**2)) == 0
    assert [sympy.limit(sympy.diff(gelu, x), x, end) for end in (-sympy.oo, sympy.oo)] == [0, 1]
    steepest = (1 + sympy.erf(1)) / 2 + sympy.exp(-1) / sympy.sqrt(sympy.pi)
    assert sympy.simplify(sympy.diff(gelu, x).subs(x, sympy.sqrt(2)) - steepest) == 0


def test_the_second_derivative_of_the_tanh_form_is_what_its_enclosure_takes() -> None:
    x, c, k = sympy.symbols("x c k", positive=True)
    t = sympy.tanh(c * (x + k * x**3))
    s = c * t * (1 + 3 * k * x**2) ** 2 - 6 * k * x
    assert sympy.simplify(sympy.diff(x * (1 + t) / 2, x, 2) + c * (1 - t**2) * (x * s - 1)) == 0
    slope = c**2 * (1 - t**2) * (1 + 3 * k * x**2) ** 3 + 12 * k * c * t * x * (1 + 3 * k * x**2) - 6 * k
    assert sympy.simplify(sympy.diff(s, x) - slope) == 0


def test_the_steepest_slopes_are_enclosed() -> None:
    def form(x: mpf) -> mpf:
        return x / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpf("0.044715") * x**3)))

    with mp.workdps(60):
        x, turn = mpmath.sqrt(2), mpmath.findroot(lambda x: mpmath.diff(form, x, 2), 1.4)
        of_tanh = mpmath.diff(form, turn)
        ours = enclose_steepest_slope(), enclose_steepest_tanh_slope(slopes.GELU_TANH_STEEPEST)
        for exact, enclosed in zip((mpmath.ncdf(x) + x * mpmath.npdf(x), of_tanh), ours, strict=True):
            low, high = (mpf(end.numerator) / end.denominator for end in (enclosed.low, enclosed.high))
            assert low < exact < high < low + mpf(2) ** -70


def test_a_slope_that_is_steepest_elsewhere_is_not_enclosed() -> None:
    with pytest.raises(ValueError, match="cannot be shown"):
        enclose_steepest_tanh_slope(slopes.GELU_STEEPEST)


def test_an_inequality_needs_a_reason_that_makes_up_the_difference() -> None:
    a, b = Exact.symbol("a"), Exact.symbol("b")
    assert at_most_by(2 * a * b, a * a + b * b, square(a - b)).holds
    assert not at_most_by(2 * a * b, a * a + b * b, square(a + b)).holds
    assert at_most_by(Exact.of(0), a * b, suppose(a) * suppose(b)).holds
    assert add_up([square(a), suppose(b)]).value.same(a * a + b)


def test_the_theorem_is_proved_of_the_packages_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """The change that is bounded is that of the module: another one is refuted."""
    change: Callable[[Module, Arithmetic], list[Rounded]] = _theorem.Module.change
    monkeypatch.setattr(
        _theorem.Module, "change", lambda case, arithmetic: [2 * each for each in change(case, arithmetic)]
    )
    (claim,) = (runnable(claim) for claim in all_claims() if claim.id == "imlp/equations/theorem1")
    with pytest.raises(RefutedError):
        prove(claim)
