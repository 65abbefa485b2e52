"""Patterns of cross-patch matrices against closed forms, plain loops and planted structure."""

from __future__ import annotations

from math import hypot

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from imlp_audit.inspect.arrays import Matrix
from imlp_audit.inspect.cross_patch import measure_pattern, window

from .planted import cross, shifted, spike

ON_GRIDS = st.integers(2, 4).flatmap(
    lambda side: arrays(np.float64, (side**2, side**2), elements=st.integers(-8, 8).map(float))
)


@pytest.mark.parametrize(
    ("side", "radius"), [(1, None), (2, None), (4, None), (5, 1), (7, 1), (8, 1), (9, 2), (14, 2), (28, 2)]
)
def test_the_window_is_a_quarter_of_the_pairs_at_most(side: int, radius: int | None) -> None:
    assert window(side) == radius


def test_a_convolution_is_local_and_shifted() -> None:
    found = measure_pattern(shifted(14, np.random.default_rng(0).normal(size=(5, 5))), 14)
    assert found.radius == 2
    assert found.local == pytest.approx(1)
    assert found.shifted == pytest.approx(1)


def test_a_wider_convolution_is_local_by_what_lies_in_the_window() -> None:
    """A 7 x 7 kernel of ones: of its 2304 + ... pairs inside the grid those within 2, counted in closed form."""
    side = 14

    def pairs(radius: int) -> int:
        along = sum(min(side - 1, at + radius) - max(0, at - radius) + 1 for at in range(side))
        return along**2 - side**2

    found = measure_pattern(shifted(side, np.ones((7, 7))), side)
    assert found.local == pytest.approx(pairs(2) / pairs(3))
    assert found.local_by_chance == pytest.approx(((5 * side - 6) ** 2 - side**2) / (side**4 - side**2))


def test_independent_numbers_are_as_chance_has_it() -> None:
    found = [measure_pattern(spike(9, own=0, seed=seed), 9) for seed in range(60)]
    first = found[0]
    assert first.shifted_by_chance == pytest.approx((17**2 - 1) / (81**2 - 81))
    for values, chance in (
        ([one.local for one in found], first.local_by_chance),
        ([one.shifted for one in found], first.shifted_by_chance),
    ):
        known = [value for value in values if value is not None]
        assert chance is not None
        assert abs(np.mean(known) - chance) < 4 * float(np.std(known)) / len(known) ** 0.5
    assert np.mean([one.axes or 0 for one in found]) == pytest.approx(1, abs=0.1)
    assert np.mean([one.spiked for one in found]) < 0.05


def test_the_diagonal_says_nothing_about_the_others() -> None:
    one, other = measure_pattern(spike(7, own=0, seed=1), 7), measure_pattern(spike(7, own=1000, seed=1), 7)
    assert (one.spiked, other.spiked) == (0, 1)
    for name in ("local", "shifted", "axes", "reach"):
        assert getattr(one, name) == pytest.approx(getattr(other, name))


def test_a_weight_that_others_equal_is_not_a_spike() -> None:
    assert measure_pattern(np.ones((9, 9)), 3).spiked == 0
    assert measure_pattern(-np.eye(9), 3).spiked == 1  # by absolute value


def plain_factor(matrix: Matrix, side: int, *, vertical: bool) -> float:
    """What lies along an axis over what an even spread of each ring would put there, pair by pair."""
    rings: dict[int, list[tuple[float, bool]]] = {}
    for i in range(side * side):
        for j in range(side * side):
            down, across = abs(j // side - i // side), abs(j % side - i % side)
            if down + across >= 2:
                on_axis = across == 0 if vertical else down == 0
                rings.setdefault(down + across, []).append((matrix[i, j] ** 2, on_axis))
    lies = sum(weight for ring in rings.values() for weight, on in ring if on)
    even = sum(sum(weight for weight, _ in ring) * sum(on for _, on in ring) / len(ring) for ring in rings.values())
    return lies / even


@pytest.mark.parametrize("side", [3, 4, 6])
def test_the_factor_of_the_axes_is_that_of_a_plain_loop(side: int) -> None:
    for matrix in (cross(side), spike(side, own=1, seed=2)):
        expected = min(plain_factor(matrix, side, vertical=vertical) for vertical in (True, False))
        assert measure_pattern(matrix, side).axes == pytest.approx(expected)


def test_one_axis_is_not_both() -> None:
    at = np.arange(81)
    row_alone = (at[:, None] // 9 == at[None, :] // 9).astype(float)
    assert measure_pattern(row_alone, 9).axes == 0
    axes = measure_pattern(cross(9), 9).axes
    assert axes is not None
    assert axes > 2


@pytest.mark.parametrize("power", [0.5, 1.0, 3.0])
def test_weight_that_falls_off_with_distance_alone_favours_no_axis(power: float) -> None:
    side = 7
    places = [(at // side, at % side) for at in range(side * side)]
    decay = np.array([[(1 + hypot(a - c, b - d)) ** -power for c, d in places] for a, b in places])
    axes = measure_pattern(decay, side).axes
    assert axes is not None
    assert axes <= 1


def test_reach_and_far_of_known_shifts() -> None:
    side = 6
    right = np.zeros((5, 5))
    right[2, 4] = 1.0  # two patches to the right
    found = measure_pattern(shifted(side, right), side)
    assert found.reach == pytest.approx(2)
    assert found.far == 0
    matrix = shifted(side, right)
    matrix[0, 35] = -0.25  # from corner to corner
    assert measure_pattern(matrix, side).far == 0.25
    ones = len(np.flatnonzero(matrix == 1))
    assert measure_pattern(matrix, side).reach == pytest.approx((2 * ones + hypot(5, 5) / 16) / (ones + 1 / 16))


def test_far_is_more_than_half_of_the_side() -> None:
    matrix = np.eye(36)
    matrix[0, 3] = 0.5
    assert measure_pattern(matrix, 6).far == 0
    matrix[0, 4] = -0.25
    assert measure_pattern(matrix, 6).far == 0.25


def test_a_matrix_that_takes_only_the_patch_itself() -> None:
    found = measure_pattern(np.eye(49), 7)
    assert (found.local, found.shifted, found.axes, found.reach, found.far) == (None, None, None, None, 0)
    assert found.spiked == 1


def test_a_single_patch_and_zeros() -> None:
    one = measure_pattern(np.array([[3.0]]), 1)
    assert (one.radius, one.local, one.shifted, one.axes, one.reach, one.far, one.spiked) == (None,) * 6 + (1,)
    assert measure_pattern(np.zeros((49, 49)), 7).spiked == 0


@settings(max_examples=40)
@given(ON_GRIDS, st.integers(-900, 900).filter(lambda power: power))
def test_the_scale_does_not_matter(matrix: Matrix, power: int) -> None:
    side = int(len(matrix) ** 0.5)
    assert measure_pattern(np.ldexp(matrix, power), side) == measure_pattern(matrix, side)


@settings(max_examples=40)
@given(ON_GRIDS)
def test_neither_transposing_nor_mirroring_the_grid_matters(matrix: Matrix) -> None:
    side = int(len(matrix) ** 0.5)
    mirrored = np.arange(side * side).reshape(side, side)[:, ::-1].ravel()
    found = measure_pattern(matrix, side)
    for other in (measure_pattern(matrix.T, side), measure_pattern(matrix[mirrored][:, mirrored], side)):
        for name in ("local", "shifted", "axes", "reach", "far"):
            assert getattr(other, name) == pytest.approx(getattr(found, name))
