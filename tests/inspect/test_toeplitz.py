"""Shares of Toeplitz matrices against closed forms, a plain loop, and planted noise of a known size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import linalg

from imlp_audit.inspect.arrays import Matrix
from imlp_audit.inspect.gates import block_toeplitz_share, by_chance, diagonals, shifts, toeplitz_share

from .planted import shifted, toeplitz

SQUARES = st.integers(1, 6).flatmap(
    lambda n: arrays(np.float64, (n, n), elements=st.integers(-8, 8).map(float)).filter(np.any)
)
ON_GRIDS = st.integers(1, 3).flatmap(
    lambda side: arrays(np.float64, (side**2, side**2), elements=st.integers(-8, 8).map(float)).filter(np.any)
)


def plain_share(matrix: Matrix) -> float:
    """The mean of each diagonal, diagonal by diagonal."""
    n = len(matrix)
    explained = 0.0
    for offset in range(1 - n, n):
        along = [matrix[i, i + offset] for i in range(n) if 0 <= i + offset < n]
        explained += sum(along) ** 2 / len(along)
    return explained / float((matrix**2).sum())


@pytest.mark.parametrize("tokens", [1, 2, 9, 40])
def test_a_toeplitz_matrix_is_all_toeplitz(tokens: int) -> None:
    assert toeplitz_share(toeplitz(tokens, seed=1)) == pytest.approx(1, abs=1e-12)
    row, column = np.arange(1.0, tokens + 1), np.cos(np.arange(tokens))
    assert toeplitz_share(linalg.toeplitz(column, row)) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("side", [1, 2, 5])
def test_a_convolution_of_the_grid_is_all_block_toeplitz(side: int) -> None:
    kernel = np.random.default_rng(0).normal(size=(3, 3))
    assert block_toeplitz_share(shifted(side, kernel), side) == pytest.approx(1, abs=1e-12)


def test_a_convolution_of_the_grid_is_not_all_toeplitz() -> None:
    """A row's end and the next row's beginning are neighbours to a text, and far apart in an image."""
    kernel = np.array([[0.0, 0, 0], [0, 0, 1], [0, 0, 0]])
    # one of 4 x 4 shifted to the right: 12 ones on a diagonal of 15
    assert toeplitz_share(shifted(4, kernel)) == pytest.approx(12 / 15)


@pytest.mark.parametrize(
    ("share", "of"), [(lambda m: toeplitz_share(m), 11), (lambda m: block_toeplitz_share(m, 3), 25)]
)
def test_independent_numbers_have_the_share_of_chance(share: object, of: int) -> None:
    assert callable(share)
    n = 6 if of == 11 else 9
    draws = np.random.default_rng(7).normal(size=(2000, n, n))
    shares = [share(matrix) for matrix in draws]
    error = float(np.std(shares)) / len(shares) ** 0.5
    assert abs(np.mean(shares) - by_chance(of, n)) < 4 * error
    assert by_chance(of, n) == of / n**2


@pytest.mark.parametrize("noise", [0.25, 1.0, 3.0])
def test_planted_noise_takes_its_share(noise: float) -> None:
    """Noise whose diagonals have mean 0 is orthogonal to every Toeplitz matrix."""
    n = 12
    planted, rest = toeplitz(n, seed=2), np.random.default_rng(3).normal(size=(n, n))
    for offset in range(1 - n, n):
        places = np.eye(n, k=offset, dtype=bool)
        rest[places] -= rest[places].mean()
    rest *= noise * np.linalg.norm(planted) / np.linalg.norm(rest)
    assert toeplitz_share(planted + rest) == pytest.approx(1 / (1 + noise**2))


@settings(max_examples=40)
@given(SQUARES)
def test_the_share_is_that_of_a_plain_loop(matrix: Matrix) -> None:
    assert toeplitz_share(matrix) == pytest.approx(plain_share(matrix))


@settings(max_examples=40)
@given(SQUARES, st.floats(-1e30, 1e30).filter(lambda x: abs(x) > 1e-30))
def test_the_share_ignores_the_scale_and_the_direction(matrix: Matrix, scale: float) -> None:
    share = toeplitz_share(matrix)
    assert toeplitz_share(scale * matrix) == pytest.approx(share)
    assert toeplitz_share(matrix.T) == pytest.approx(share)
    assert toeplitz_share(matrix[::-1, ::-1]) == pytest.approx(share)


@settings(max_examples=40)
@given(ON_GRIDS)
def test_shifts_of_a_grid_are_finer_than_diagonals(matrix: Matrix) -> None:
    side = int(len(matrix) ** 0.5)
    blocks, along = block_toeplitz_share(matrix, side), toeplitz_share(matrix)
    assert blocks is not None
    assert along is not None
    assert blocks >= along - 1e-12
    assert block_toeplitz_share(matrix.T, side) == pytest.approx(blocks)


def test_numbers_as_large_and_as_small_as_there_are() -> None:
    matrix = toeplitz(5, seed=4)
    assert toeplitz_share(matrix * 1e300) == pytest.approx(1)
    assert toeplitz_share(matrix * 1e-300) == pytest.approx(1)
    assert toeplitz_share(np.zeros((3, 3))) is None


def test_the_classes_count_diagonals_and_shifts() -> None:
    assert len(np.unique(diagonals(7))) == 13
    assert len(np.unique(shifts(4))) == 49
