"""What the bundled papers measure in weights, against closed forms, plain loops and planted structure.

The measurements are the values that the sentences are judged by, of four equal layers.
"""

from __future__ import annotations

from fractions import Fraction
from math import hypot

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from timm.layers import GatedMlp, Mlp
from timm.models.mlp_mixer import MixerBlock, MlpMixer, ResBlock, SpatialGatingBlock
from torch import Tensor

from imlp_audit.inspect.learned_weights import share_of_means, shifts
from imlp_audit.models.gmlp import GmlpBlock
from specs.resmlp.models import AlgorithmLayer

from .judging import judge
from .planted import cross, resmlp, shifted, spike, stem

Matrix = NDArray[np.float64]
ON_GRIDS = st.integers(2, 4).flatmap(
    lambda side: arrays(np.float64, (side**2, side**2), elements=st.integers(-8, 8).map(float))
)
NAMES = ("shifted", "axes", "reach", "far")


def state_of(matrix: Matrix) -> dict[str, Tensor]:
    named = {f"blocks.{at}.linear_tokens.weight": torch.from_numpy(matrix) for at in range(4)}
    return resmlp([matrix] * 4) | named  # in float64


def measure(matrix: Matrix) -> dict[str, float | None]:
    """What is measured of a cross-patch matrix, by name."""
    return {name: values[0] for one in judge(state_of(matrix)).values() for name, values in one.values.items()}


def test_a_wider_convolution_is_local_by_what_lies_in_the_window() -> None:
    """A 7 x 7 kernel of ones: of its 2304 + ... pairs inside the grid those within 2, counted in closed form."""
    side = 14

    def pairs(radius: int) -> int:
        along = sum(min(side - 1, at + radius) - max(0, at - radius) + 1 for at in range(side))
        return along**2 - side**2

    state = state_of(shifted(side, np.ones((7, 7))))
    found = judge(state)["early_layers_are_local"]
    assert found.values["local"] == pytest.approx((pairs(2) / pairs(3),) * 4)
    assert found.reason.endswith(f"; {((5 * side - 6) ** 2 - side**2) / (side**4 - side**2):.3g} by chance")


def test_independent_numbers_are_as_chance_has_it() -> None:
    found = [measure(spike(9, own=0, seed=seed)) for seed in range(40)]
    at = np.arange(81)
    steps = np.maximum(abs(at[:, None] // 9 - at[None, :] // 9), abs(at[:, None] % 9 - at[None, :] % 9))
    local = (np.count_nonzero(steps <= 2) - 81) / (81**2 - 81)
    for name, chance in (("local", local), ("shifted", (17**2 - 1) / (81**2 - 81))):
        values = np.array([one[name] for one in found], dtype=float)
        assert abs(values.mean() - chance) < 4 * float(values.std()) / len(values) ** 0.5
    assert np.mean([one["axes"] or 0 for one in found]) == pytest.approx(1, abs=0.1)
    assert np.mean([one["spike"] or 0 for one in found]) < 0.05


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
        assert measure(matrix)["axes"] == pytest.approx(expected)


def test_reach_and_far_of_known_shifts() -> None:
    side = 6
    right = np.zeros((5, 5))
    right[2, 4] = 1.0  # two patches to the right
    matrix = shifted(side, right)
    assert [measure(matrix)[name] for name in ("reach", "far")] == pytest.approx([2, 0])
    matrix[0, 35] = -0.25  # from corner to corner
    ones = len(np.flatnonzero(matrix == 1))
    found = measure(matrix)
    assert (found["far"], found["far in few"]) == (0.25, 1)
    assert found["reach"] == pytest.approx((2 * ones + hypot(5, 5) / 16) / (ones + 1 / 16))


@settings(max_examples=8, deadline=None)
@given(ON_GRIDS, st.integers(-150, 150).filter(lambda power: power))
def test_neither_scale_nor_transposing_nor_mirroring_the_grid_matters(matrix: Matrix, power: int) -> None:
    side = int(len(matrix) ** 0.5)
    mirrored = np.arange(side * side).reshape(side, side)[:, ::-1].ravel()
    found = [measure(matrix)[name] for name in NAMES]
    for other in (np.ldexp(matrix, power), matrix.T, matrix[mirrored][:, mirrored]):
        assert [measure(other)[name] for name in NAMES] == pytest.approx(found)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=40), st.integers(-20, 20))
def test_small_numbers_are_those_of_exact_fractions_at_any_scale(values: list[float], power: int) -> None:
    exact = [abs(Fraction(value)) for value in values]
    rate = sum(20 * value < max(exact) for value in exact) / len(values)
    found = judge(state_of(np.array([values]) * 2.0**power))
    assert found["a_is_sparser_than_b_and_c"].values["A"] == pytest.approx((rate,) * 4)


def test_the_rate_of_normal_numbers_in_40_digits() -> None:
    import mpmath

    with mpmath.mp.workdps(40):
        largest = mpmath.findroot(lambda z: (2 * mpmath.ncdf(z) - 1) ** 2500 - 0.5, 3.6)
        rate = mpmath.ncdf(largest / 20) - mpmath.ncdf(-largest / 20)
    found = judge(state_of(np.zeros((50, 50))))["all_three_are_sparse"]
    assert f"normal numbers A {float(rate):.1%}, B" in found.reason
    assert found.values["excess"] == pytest.approx((-float(rate),) * 4, rel=1e-12)


@pytest.mark.parametrize("bias", [0.0, 1.0, 1e30, None])
def test_an_mlp_across_patches_stands_for_its_derivative_at_0(bias: float | None) -> None:
    torch.manual_seed(0)
    mlp = Mlp(81, 24, bias=bias is not None).double()
    if bias is not None:
        mlp.fc1.bias.data = torch.linspace(-bias, bias, 24, dtype=torch.float64)
    channels = {f"mlp_channels.{name}": value for name, value in Mlp(4, 8).state_dict().items()}
    block = {**{f"mlp_tokens.{name}": value for name, value in mlp.state_dict().items()}, **channels}
    derivative = torch.func.jacrev(mlp)(torch.zeros(81, dtype=torch.float64)).detach().numpy()
    found = judge(stem() | {f"b.{at}.{name}": value for at in range(4) for name, value in block.items()})
    by_name = {name: values[0] for one in found.values() for name, values in one.values.items()}
    expected = measure(derivative)
    assert [by_name[name] for name in NAMES] == pytest.approx([expected[name] for name in NAMES])


def test_a_gated_mlp_has_no_derivative_here() -> None:
    shapes = {
        "mlp_tokens.fc1": (24, 16),
        "mlp_tokens.fc2": (16, 12),
        "mlp_channels.fc1": (8, 4),
        "mlp_channels.fc2": (4, 8),
    }
    found = judge(stem() | {f"b.{at}.{n}.weight": torch.ones(shape) for at in range(4) for n, shape in shapes.items()})
    assert found["support_extends_along_both_axes"].reason == "b.0: its activation is gated"
    assert list(found["a_is_sparser_than_b_and_c"].values) == ["W1", "W2", "W3", "W4"]


def test_layers_of_timm_and_ours_are_found() -> None:
    sizes = {"img_size": 32, "patch_size": 8, "embed_dim": 12, "num_blocks": 4}
    for layer, ratio, mlp in ((ResBlock, 4, False), (MixerBlock, (0.5, 4), True)):
        found = judge(MlpMixer(block_layer=layer, **sizes, mlp_ratio=ratio).state_dict())["no_exact_zeros"]
        assert (len(found.layers), "W1 and W2" in found.reason) == (4, mlp)
    gates = MlpMixer(block_layer=SpatialGatingBlock, **sizes, mlp_ratio=6, mlp_layer=GatedMlp).state_dict()
    assert len(judge(gates)["gates_are_toeplitz"].layers) == 4
    ours = [AlgorithmLayer(8, 16).state_dict(), GmlpBlock(4, 8, 6).state_dict()]
    named = {f"blocks.{at}.{name}": value for at in range(4) for state in ours for name, value in state.items()}
    assert [len(one.layers) for one in judge(named).values() if one.layers] == [4] * 10


SQUARES = st.integers(1, 6).flatmap(
    lambda n: arrays(np.float64, (n, n), elements=st.integers(-8, 8).map(float)).filter(np.any)
)


def toeplitz_share(matrix: Matrix) -> float | None:
    """The share that is measured of a gate of texts."""
    found = judge({"sgu.proj.weight": torch.from_numpy(matrix)})["gates_are_toeplitz"]
    return found.values["Toeplitz"][0]


@settings(max_examples=40, deadline=None)
@given(SQUARES, st.floats(-1e30, 1e30).filter(lambda x: abs(x) > 1e-30))
def test_the_toeplitz_share_is_that_of_a_plain_loop_at_any_scale(matrix: Matrix, scale: float) -> None:
    n = len(matrix)
    along = [[matrix[i, i + offset] for i in range(n) if 0 <= i + offset < n] for offset in range(1 - n, n)]
    plain = sum(sum(one) ** 2 / len(one) for one in along) / float((matrix**2).sum())
    for same in (matrix, scale * matrix, matrix.T, matrix[::-1, ::-1].copy()):
        assert toeplitz_share(same) == pytest.approx(plain)


def test_a_convolution_of_the_grid_is_not_all_toeplitz() -> None:
    """A row's end and the next row's beginning are neighbours to a text, and far apart in an image."""
    kernel = np.array([[0.0, 0, 0], [0, 0, 1], [0, 0, 0]])
    # one of 4 x 4 shifted to the right: 12 ones on a diagonal of 15
    assert toeplitz_share(shifted(4, kernel)) == pytest.approx(12 / 15)
    assert share_of_means(shifted(4, kernel), shifts(4)) == pytest.approx(1)
    assert len(np.unique(shifts(4))) == 49
    assert share_of_means(np.zeros((16, 16)), shifts(4)) is None
