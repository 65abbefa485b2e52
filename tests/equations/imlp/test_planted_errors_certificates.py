"""Planted errors in certificates, enclosures and branches: each makes the claims named false."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import frexp, inf, isfinite

import numpy as np
import pytest
from torch import Tensor

from imlp_audit.equations.lipschitz import branches as own_branches
from imlp_audit.equations.lipschitz import certificate, enclosure, enclosure_gelu, enclosure_tanh, estimate
from imlp_audit.equations.lipschitz.branches import Branch, Matrix
from imlp_audit.equations.lipschitz.certificate import Solver
from imlp_audit.equations.lipschitz.slopes import Slopes
from imlp_audit.numbers.interval import Interval
from specs.imlp.equations import (
    sec4_2_certificates,
    sec4_2_enclosures_tanh,
    sec4_2_extreme_weights,
    sec4_2_least_rho,
    sec4_2_product_of_norms,
    sec4_2_weights,
)
from tests.equations import papers


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Keep no constant that was enclosed before or with a planted error."""
    kept = (enclosure.enclose_pi, enclosure_tanh._c)
    for function in kept:
        function.cache_clear()
    yield
    for function in kept:
        function.cache_clear()


def is_false(name: str) -> bool:
    return papers.is_false("imlp", name, 100)


def inward(numbers: Interval) -> Interval:
    low, high = (Fraction(round(end * enclosure.GRID), enclosure.GRID) for end in (numbers.low, numbers.high))
    return Interval(low, high)


def test_rounding_to_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enclosure, "round_outward", inward)
    assert is_false("slope_enclosures_round_outward")


@pytest.mark.parametrize(
    ("terms", "claims"),
    [(12, ("slope_enclosures_of_series", "slope_enclosures_of_exp_and_tanh")), (18, ("slope_enclosures_of_series",))],
)
def test_too_few_terms(monkeypatch: pytest.MonkeyPatch, terms: int, claims: tuple[str, ...]) -> None:
    monkeypatch.setattr(enclosure, "TERMS", terms)
    for claim in claims:
        assert is_false(claim), claim


def test_a_remainder_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = enclosure._series
    monkeypatch.setattr(enclosure, "_series", lambda z: Interval.point(honest(z).low))
    assert is_false("slope_enclosures_of_exp_and_tanh")


def test_too_few_terms_of_the_slope(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enclosure_gelu, "TERMS", 18)
    assert is_false("slope_enclosed")


def test_another_cubic_term(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enclosure_tanh, "_CUBE", Fraction("0.04471"))
    for claim in ("slope_tanh_enclosed", "slope_tanh_turns"):
        assert is_false(claim), claim


def test_places_that_are_further_from_the_steepest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enclosure_tanh, "_AROUND", Fraction(1, 2**39))
    assert is_false("slope_tanh_turns")


def test_a_place_that_is_not_finite(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = enclosure_tanh.enclose_steepest_tanh_slope

    def planted(near: float | Fraction) -> Interval:
        return honest(near if isfinite(near) else sec4_2_enclosures_tanh._steepest_place())

    monkeypatch.setattr(sec4_2_enclosures_tanh, "enclose_steepest_tanh_slope", planted)
    assert is_false("slope_tanh_turns")


def test_a_growth_that_is_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = enclosure_tanh.least_growth()
    monkeypatch.setattr(sec4_2_enclosures_tanh, "least_growth", lambda: honest - Fraction(1, 100))
    assert is_false("slope_tanh_enclosed")


def accepts(matrix: Matrix, error: float) -> bool:
    return bool(np.linalg.eigvalsh(matrix)[-1] <= 0)


def test_a_margin_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "surely_negative", accepts)
    monkeypatch.setattr(sec4_2_certificates, "surely_negative", accepts)
    for claim in ("theorem1_margin", "theorem1_proven_exactly"):
        assert is_false(claim), claim


def test_a_bound_on_rounding_that_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(branch: Branch, rho: float, t: Matrix, slopes: Slopes) -> tuple[Matrix, float]:
        matrix, error = certificate.eq9_matrix(branch, rho, t, slopes)
        return matrix, error / 10

    monkeypatch.setattr(sec4_2_certificates, "eq9_matrix", planted)
    assert is_false("theorem1_matrix_rounding")


def factors(matrix: Matrix, error: float) -> bool:
    margin = error + 1e-14 * float(np.abs(np.diag(matrix)).sum()) + 1e-200
    try:
        np.linalg.cholesky(-matrix - margin * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return False
    return True


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_matrices_that_are_not_finite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sec4_2_extreme_weights, "surely_negative", factors)
    assert is_false("theorem1_extreme_weights")


def exponent_by_squares(weights: Matrix) -> int:
    return frexp(float(np.linalg.norm(weights)))[1]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_norms_of_which_the_squares_are_no_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "_exponent", exponent_by_squares)
    assert is_false("theorem1_extreme_weights")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_false_proof_by_an_infinite_norm(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(branch: Branch, rho: float, t: Matrix, slopes: Slopes) -> bool:
        return factors(*certificate.eq9_matrix(branch, rho, t, slopes))

    monkeypatch.setattr(sec4_2_extreme_weights, "holds", planted)
    assert is_false("theorem1_extreme_weights")


@pytest.mark.parametrize("enough", [inf, 2.0**-2])
def test_a_rho_that_is_too_large_or_too_small_to_be_proven(monkeypatch: pytest.MonkeyPatch, enough: float) -> None:
    monkeypatch.setattr(certificate, "_ENOUGH", enough)
    assert is_false("theorem1_extreme_weights")


def test_a_constant_whose_squares_underflow(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(branch: Branch) -> certificate.Certificate:
        return certificate.Certificate(2.0**-1022, np.full(len(branch.inner), np.sum(branch.outer**2)))

    monkeypatch.setattr(estimate, "_prove_constant", planted)
    assert is_false("theorem1_constant_branch")


def test_weights_that_are_not_balanced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "_balance", lambda *each: each)
    assert is_false("theorem1_least_rho")


def test_steps_that_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "_STEPS", [1e-4, 1e-2, 1.0])
    for claim in ("theorem1_least_rho", "theorem1_unread_units", "theorem1_proven_exactly"):
        assert is_false(claim), claim


def test_a_bound_that_is_rounded_to_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "nextafter", lambda x, _: x)
    assert is_false("theorem1_bound_rounds_upward")


def test_a_module_that_is_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(pair: tuple[Branch, Branch]) -> float:
        return sum(map(estimate.product_of_norms, pair))

    monkeypatch.setattr(sec4_2_product_of_norms, "product_bound", planted)
    monkeypatch.setattr(estimate, "product_bound", planted)
    for claim in ("theorem1_product_of_norms", "theorem1_one_unit"):
        assert is_false(claim), claim


def test_a_constant_whose_t_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = estimate.prove_least

    def planted(*each: object) -> certificate.Certificate:
        proven = honest(*each)  # type: ignore[arg-type]
        return replace(proven, t=0 * proven.t)

    monkeypatch.setattr(sec4_2_certificates, "prove_least", planted)
    assert is_false("theorem1_constant_branch")


def test_a_t_that_is_not_the_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(branch: Branch, solver: Solver, slopes: Slopes, seconds: float = 120.0) -> Matrix:
        return certificate.minimise_rho(branch, solver, slopes, seconds) * 1.01

    monkeypatch.setattr(sec4_2_least_rho, "minimise_rho", planted)
    assert is_false("theorem1_proposed_t")


def test_weights_of_single_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = own_branches._ModuleTensors._numbers

    def planted(self: own_branches._ModuleTensors, name: str) -> Matrix:
        return honest(self, name).astype(np.float32).astype(np.float64)

    monkeypatch.setattr(own_branches._ModuleTensors, "_numbers", planted)
    assert is_false("theorem1_branches_of_weights")


def test_blocks_that_are_sorted_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = own_branches.blocks_in

    def planted(state: Mapping[str, Tensor]) -> list[str]:
        return sorted(honest(state))

    monkeypatch.setattr(sec4_2_weights, "blocks_in", planted)
    assert is_false("theorem1_modules_in_order")


def test_numbers_that_are_too_large_to_multiply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_branches, "_LARGEST", 1e70)
    assert is_false("theorem1_damaged_weights")
