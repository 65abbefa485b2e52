"""Certificates of IMLP's Theorem 1: what is proven is true, and what is not true is never proven."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.errors import SolverError
from specs.imlp.claims._certificate import GELU, Branch, Matrix, Solver, certify, holds, minimise_rho, prove_least


def branch(width: int, hidden: int, outputs: int, seed: int = 0) -> Branch:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((hidden, width)), rng.standard_normal((outputs, hidden))


def is_negative(branch: Branch, rho: float, t: Matrix) -> bool:
    """Sylvester's criterion on -M(rho, T) of Eq. 9, in rational numbers (strict: the boundary has no size here)."""

    def rational(matrix: Matrix) -> sympy.Matrix:
        return sympy.Matrix([[sympy.Rational(*Fraction(float(x)).as_integer_ratio()) for x in row] for row in matrix])

    w0, w1, diagonal = rational(branch[0]), rational(branch[1]), rational(np.diag(t))
    p, q, exact_rho = rational(np.array([[*GELU, rho]]))
    upper = -2 * p * q * w0.T * diagonal * w0 - exact_rho * sympy.eye(w0.shape[1])
    side = (p + q) * diagonal * w0
    matrix = -sympy.Matrix(sympy.BlockMatrix([[upper, side.T], [side, -2 * diagonal + w1.T * w1]]))
    return all(matrix[:k, :k].det() > 0 for k in range(1, matrix.shape[0] + 1))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 2), st.integers(1, 2), st.integers(0, 1000))
def test_what_is_proven_is_true_and_a_rho_below_the_smallest_is_never_proven(
    width: int, hidden: int, seed: int
) -> None:
    one = branch(width, hidden, 2, seed)
    proven = certify(one, np.full(hidden, 0.51 * np.sum(one[1] ** 2)))
    assert proven is not None
    assert is_negative(one, proven.rho, proven.t)
    for share in (1 - 1e-6, 0.9, 0.0):
        assert not holds(one, proven.rho * share, proven.t) or is_negative(one, proven.rho * share, proven.t)
    assert not holds(one, 0.0, proven.t)


@pytest.mark.parametrize(("rho", "t"), [(1e9, (1e3, -1.0, 1e3)), (inf, (1e3,) * 3), (nan, (1e3,) * 3)])
def test_nothing_is_proven_of_a_t_or_rho_that_lemma_1_does_not_allow(rho: float, t: tuple[float, ...]) -> None:
    assert not holds(branch(2, 3, 2), rho, np.array(t))


@pytest.mark.slow
@pytest.mark.parametrize("solver", Solver)
def test_one_hidden_unit_gets_the_product_of_norms_and_the_largest_slope(solver: Solver) -> None:
    one = branch(3, 1, 2)
    norms = np.linalg.norm(one[0]) * np.linalg.norm(one[1])
    assert prove_least(one, solver).rho ** 0.5 == pytest.approx(GELU[1] * norms, rel=1e-3)


def test_a_solver_that_runs_out_of_time_says_so() -> None:
    with pytest.raises(SolverError, match=r"ended with status .*limit 1e-09 s"):
        minimise_rho(branch(12, 24, 12), Solver.SCS, seconds=1e-9)
