"""Planted errors in slopes, certificates and the module of Theorem 1: each makes the claims named false."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, at_most
from imlp_audit.equations.lipschitz import slopes
from imlp_audit.equations.lipschitz.branches import Branch, Matrix
from imlp_audit.equations.lipschitz.certificate import Certificate, prove
from imlp_audit.equations.lipschitz.slopes import Slopes
from imlp_audit.models import imlp
from specs.imlp.equations import _slope, _theorem, appendix_a1_bound, sec4_2_lemma1, sec4_2_optimum
from specs.imlp.equations._agelu import Coefficients
from specs.imlp.equations._theorem import Module, norm
from tests.equations import papers


def is_false(name: str, examples: int = 60) -> bool:
    return papers.is_false("imlp", name, examples)


NARROWER = Slopes(slopes.GELU.low * 0.99, slopes.GELU.high * 0.999)
WIDER = Slopes(slopes.GELU.low * 1.01, slopes.GELU.high * 1.01)


@pytest.mark.parametrize(
    ("planted", "claims"),
    [
        (NARROWER, ("slope_attained", "definition1_agelu")),
        (WIDER, ("slope_is_tight", "slope_attained", "definition1_agelu")),
        (Slopes(0.0, 1.0), ("slope_interval", "slope_attained", "lemma1", "lemma1_at_hidden", "eq13")),
    ],
    ids=["narrower", "wider", "those of ReLU"],
)
def test_a_wrong_slope_constant(monkeypatch: pytest.MonkeyPatch, planted: Slopes, claims: tuple[str, ...]) -> None:
    monkeypatch.setattr(slopes, "GELU", planted)
    for claim in claims:
        assert is_false(claim), claim


def test_a_wrong_constant_of_the_tanh_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slopes, "GELU_TANH", slopes.GELU)  # off by 9e-5
    assert is_false("slope_tanh_attained")


def test_a_sign_of_alpha_beta_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsigned(alpha: float, beta: float, base: Slopes) -> Slopes:
        return base.times(abs(alpha * beta))

    monkeypatch.setattr(_slope, "agelu_slopes", unsigned)
    for claim in ("slope_interval", "slope_is_tight", "slope_attained", "lemma1"):
        assert is_false(claim), claim


def test_lemma_1_needs_an_interval_that_holds_all_slopes(monkeypatch: pytest.MonkeyPatch) -> None:
    def narrower(agelu: Coefficients, base: Slopes) -> Slopes:
        own = _slope.slopes_of(agelu, base)
        return Slopes(own.low + 0.6 * (own.high - own.low), own.high)

    monkeypatch.setattr(sec4_2_lemma1, "slopes_of", narrower)
    for claim in ("lemma1", "lemma1_any_function"):
        assert is_false(claim), claim


def weaker(change: Callable[[Certificate], Certificate]) -> Callable[[Branch, Matrix, Slopes], Certificate | None]:
    def planted(branch: Branch, t: Matrix, interval: Slopes) -> Certificate | None:
        proven = prove(branch, t, interval)
        return None if proven is None else change(proven)

    return planted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "claims"),
    [
        (
            lambda proven: replace(proven, rho=proven.rho / 100),
            ("eq14", "eq14_own_t", "eq15", "eq16", "eq17", "eq18", "theorem1", "theorem1_own_t"),
        ),
        (lambda proven: replace(proven, t=proven.t * 100), ("eq14", "eq14_own_t")),
    ],
    ids=["a rho too small", "another T"],
)
def test_an_invalid_certificate_is_rejected(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Certificate], Certificate], claims: tuple[str, ...]
) -> None:
    monkeypatch.setattr(_theorem, "prove", weaker(change))
    for claim in claims:
        assert is_false(claim), claim


@pytest.mark.slow
def test_a_module_whose_halves_are_swapped(monkeypatch: pytest.MonkeyPatch) -> None:
    def swapped(width: int, hidden: int, outputs: int | None = None) -> imlp.Imlp:
        module = imlp.amlp(width, hidden, outputs)
        assert isinstance(module.act, imlp.ChannelPart)
        module.act.agelu1, module.act.agelu2 = module.act.agelu2, module.act.agelu1
        forward = module.act.forward
        module.act.forward = lambda x: forward(x).roll(hidden, -1)  # type: ignore[method-assign]
        return module

    monkeypatch.setattr(_theorem, "amlp", swapped)
    assert is_false("eq11_module")


@pytest.mark.slow
def test_a_gradient_norm_above_the_bound_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sec4_2_optimum, "bound", lambda pair: 1e-3)
    assert is_false("theorem1_optimum_corrected")


@pytest.mark.parametrize("claim", ["theorem1", "theorem1_own_t"])
def test_the_root_of_a_sum_in_place_of_the_sum_of_roots(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    def smaller(case: Module, proven: tuple[Certificate, Certificate], arithmetic: Arithmetic) -> Trial:
        root = arithmetic.number(proven[0].rho + proven[1].rho).square_root()
        return at_most(norm(case.change(arithmetic)), root * norm(case.change_of_input(arithmetic)))

    monkeypatch.setattr(appendix_a1_bound, "_theorem1", smaller)
    assert is_false(claim, 100)


@pytest.mark.parametrize(
    ("widened", "claims"),
    [(-1e-6, ("slope_interval", "slope_attained")), (1e-6 + 1e-8, ("slope_is_tight", "slope_attained"))],
    ids=["narrower", "wider"],
)
def test_an_interval_of_slopes_that_is_wrong_by_a_millionth(
    monkeypatch: pytest.MonkeyPatch, widened: float, claims: tuple[str, ...]
) -> None:
    monkeypatch.setattr(slopes, "GELU", Slopes(slopes.GELU.low - widened, slopes.GELU.high + widened))
    for claim in claims:
        assert is_false(claim), claim
