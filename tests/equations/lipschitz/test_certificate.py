"""Certificates: what is proven is true, and what is not true is never proven."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.equations.lipschitz.branches import Branch, Matrix
from imlp_audit.equations.lipschitz.certificate import Certificate, Solver, bound, certify, holds, minimise_rho
from imlp_audit.equations.lipschitz.estimate import estimate, largest_gradient, product_of_norms
from imlp_audit.equations.lipschitz.slopes import GELU, Slopes
from imlp_audit.errors import SolverError


def branch(width: int, hidden: int, outputs: int, seed: int = 0) -> Branch:
    rng = np.random.default_rng(seed)
    return Branch(
        rng.standard_normal((hidden, width)), rng.standard_normal(hidden), rng.standard_normal((outputs, hidden))
    )


def exact_matrix(branch: Branch, rho: float, t: Matrix, slopes: Slopes) -> sympy.Matrix:
    """M(rho, T) of Eq. 9 in rational numbers: of the floating-point inputs, without any rounding."""

    def rational(matrix: Matrix) -> sympy.Matrix:
        return sympy.Matrix([[sympy.Rational(*Fraction(float(x)).as_integer_ratio()) for x in row] for row in matrix])

    def number(x: float) -> sympy.Rational:
        return sympy.Rational(*Fraction(x).as_integer_ratio())

    w0, w1, diag = rational(branch.inner), rational(branch.outer), rational(np.diag(t))
    p, q = number(slopes.low), number(slopes.high)
    upper = -2 * p * q * w0.T * diag * w0 - number(rho) * sympy.eye(w0.shape[1])
    side = (p + q) * diag * w0
    return sympy.Matrix(sympy.BlockMatrix([[upper, side.T], [side, -2 * diag + w1.T * w1]]))


def negative_semidefinite(matrix: sympy.Matrix) -> bool:
    """Sylvester's criterion on -M, in exact arithmetic (strict: the boundary has no size here)."""
    return all((-matrix)[:k, :k].det() > 0 for k in range(1, matrix.shape[0] + 1))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 2), st.integers(1, 2), st.integers(0, 1000))
def test_what_is_proven_is_true_in_exact_arithmetic(width: int, hidden: int, seed: int) -> None:
    one = branch(width, hidden, 2, seed)
    proven = certify(one, np.full(hidden, 0.51 * np.sum(one.outer**2)))
    assert proven is not None
    assert negative_semidefinite(exact_matrix(one, proven.rho, proven.t, GELU))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 2), st.integers(1, 2), st.integers(0, 1000))
def test_a_rho_below_the_smallest_is_never_proven(width: int, hidden: int, seed: int) -> None:
    one = branch(width, hidden, 2, seed)
    proven = certify(one, np.full(hidden, 0.51 * np.sum(one.outer**2)))
    assert proven is not None
    for share in (1 - 1e-6, 0.9, 0.0):
        too_small = proven.rho * share
        if holds(one, too_small, proven.t):
            assert negative_semidefinite(exact_matrix(one, too_small, proven.t, GELU))
    assert not holds(one, 0.0, proven.t)


def test_nothing_is_proven_of_a_t_that_lemma_1_does_not_allow() -> None:
    one = branch(2, 3, 2)
    assert not holds(one, 1e9, np.array([1e3, -1.0, 1e3]))
    assert not holds(one, np.inf, np.full(3, 1e3))
    assert not holds(one, np.nan, np.full(3, 1e3))


def test_an_almost_linear_function_gets_its_own_norm() -> None:
    """With slopes in [0.99, 1] the activation is almost the identity, and sqrt(rho) almost the norm of W^1 W^0."""
    one, almost = branch(3, 4, 3), Slopes(0.99, 1.0)
    proven = certify(one, minimise_rho(one, Solver.CLARABEL, almost), almost)
    assert proven is not None
    assert proven.rho**0.5 == pytest.approx(np.linalg.norm(one.outer @ one.inner, 2), rel=0.02)


def test_one_hidden_unit_gets_the_product() -> None:
    """With one hidden unit the Lipschitz constant is |w0| |w1| 1.12890, and the program finds it."""
    one = branch(3, 1, 2)
    proven = certify(one, minimise_rho(one, Solver.CLARABEL))
    assert proven is not None
    assert proven.rho**0.5 == pytest.approx(product_of_norms(one), rel=1e-4)


@pytest.mark.parametrize("width", [2, 4, 8])
def test_both_solvers_propose_the_same_bound(width: int) -> None:
    pair = (branch(width, 2 * width, width, 1), branch(width, 2 * width, width, 2))
    found = estimate(pair, [np.zeros(width), np.ones(width)], 60)
    assert found.solvers["scs"] == pytest.approx(found.solvers["clarabel"], rel=1e-3)
    assert found.gradient <= found.bound <= found.product


def test_a_bound_is_rounded_upward() -> None:
    two = Certificate(2.0, np.ones(1))
    assert Fraction(bound((two, two))) ** 2 > 8


def test_a_solver_that_runs_out_of_time_says_so_and_gives_no_bound() -> None:
    with pytest.raises(SolverError, match=r"status .*limit 1e-09 s.*no bound"):
        minimise_rho(branch(12, 24, 12), Solver.SCS, seconds=1e-9)


@pytest.mark.parametrize("zero", ["inner", "outer"])
def test_a_module_of_zeros_is_constant(zero: str) -> None:
    one = branch(2, 3, 2)
    constant = replace(one, **{zero: np.zeros_like(getattr(one, zero))})
    found = estimate((constant, constant), [np.ones(2)], 60)
    assert found.gradient == 0
    assert max(found.bound, found.product) < 1e-150


def test_the_gradient_climbs_to_the_steepest_point() -> None:
    """Of one unit GeLU(x), twice over, the steepest slope is 2 * 1.128904, at x = sqrt 2."""
    one = Branch(np.ones((1, 1)), np.zeros(1), np.ones((1, 1)))
    found = largest_gradient((one, one), [np.array([0.5])])
    assert 2 * 1.1289 < found <= 2 * 1.128905
    assert found <= 2 * GELU.high


def test_a_gradient_is_the_jacobian_of_the_module() -> None:
    pair = (branch(3, 4, 3, 5), branch(3, 4, 3, 6))
    x, step = np.array([0.3, -0.2, 0.1]), 1e-6

    def module(x: Matrix) -> Matrix:
        from scipy.special import ndtr

        hidden = [b.inner @ x + b.shift for b in pair]
        return np.asarray(sum(b.outer @ (z * ndtr(z)) for b, z in zip(pair, hidden, strict=True)))

    columns = [(module(x + step * e) - module(x - step * e)) / (2 * step) for e in np.eye(3)]
    assert largest_gradient(pair, [x], rounds=0) == pytest.approx(np.linalg.norm(np.array(columns).T, 2), rel=1e-7)


def test_equal_branches_are_solved_once_and_add_up() -> None:
    one = branch(3, 6, 3)
    found = estimate((one, replace(one, shift=one.shift + 1)), [np.zeros(3)], 60)
    assert found.rho[0] == found.rho[1]
    assert found.bound == pytest.approx(2 * found.rho[0] ** 0.5)


def test_a_t_of_zero_is_moved_to_the_squared_norm_of_the_output_weights() -> None:
    proven = certify(Branch(np.array([[3.0]]), np.zeros(1), np.array([[4.0]])), np.zeros(1))
    t, squared = 16.0, 9.0
    rho = -2 * GELU.low * GELU.high * t * squared + t * squared  # p + q = 1, and 2 t - ||W^1||^2 = t
    assert proven is not None
    assert proven.t.tolist() == [t]
    assert proven.rho == pytest.approx(rho, rel=1e-8)
