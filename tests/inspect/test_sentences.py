"""Sentences about learned weights: true of weights planted to be so, false of each that breaks them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from imlp_audit.models.imlp import amlp
from tests.models.released import ReleasedBlock

from .judging import judge
from .planted import Matrix, cross, like_the_paper, resmlp, shifted, spike, stem, toeplitz

State = dict[str, Tensor]
PATTERNS = (
    "early_layers_are_local", "early_layers_are_shifted_versions", "support_extends_along_both_axes",
    "last_layers_are_spike_and_diffuse", "long_range_in_the_second_layer", "longer_range_in_the_last_layers",
)  # fmt: skip
RATES = ("a_is_sparser_than_b_and_c", "all_three_are_sparse", "no_exact_zeros")


@pytest.fixture(scope="module")
def planted() -> State:
    return like_the_paper()


def test_all_is_true_of_weights_like_the_papers(planted: State) -> None:
    found = judge(planted)
    assert set(found) == {*PATTERNS, *RATES}
    assert {name: one.verdict.value for name, one in found.items() if one.verdict != "reproduced"} == {}


def test_the_values_are_those_of_the_layers(planted: State) -> None:
    found = judge(planted)["support_extends_along_both_axes"]
    assert found.layers == tuple(f"blocks.{at}" for at in range(8))
    assert [at for at, value in enumerate(found.values["axes"]) if value is not None and value >= 2] == [2, 3, 4]
    assert found.reason == "3 of 8 layers (layers 3, 4, 5)"


def replaced(state: State, layers: range | tuple[int, ...], matrix: Callable[[int], Matrix]) -> State:
    names = {at: f"blocks.{at}.linear_tokens.weight" for at in layers}
    return state | {name: torch.from_numpy(matrix(at)).float() for at, name in names.items()}


def random(seed: int) -> Matrix:
    return spike(14, own=0, seed=seed)


def ramped(seed: int) -> Matrix:
    """Local support with a filter that is another one for each patch."""
    return shifted(14, np.ones((5, 5))) * random(seed)


@pytest.mark.parametrize(
    ("name", "layers", "matrix"),
    [
        ("early_layers_are_local", (0,), random),  # one of two is not more than half
        ("early_layers_are_shifted_versions", (0,), ramped),
        ("support_extends_along_both_axes", (2, 3), random),  # one of eight is no quarter
        ("last_layers_are_spike_and_diffuse", (6,), random),  # not in each of the last
        ("last_layers_are_spike_and_diffuse", (7,), lambda _: shifted(14, np.ones((3, 3))) + 9 * np.eye(196)),  # local
        ("last_layers_are_spike_and_diffuse", (1, 2, 3), lambda at: spike(14, own=40, seed=at)),  # in most before
        ("a_is_sparser_than_b_and_c", range(4), lambda _: np.ones((196, 196))),
        ("no_exact_zeros", (5,), lambda at: random(at) * (1 - np.eye(196))),
        ("long_range_in_the_second_layer", (1,), lambda _: shifted(14, np.ones((5, 5)))),
        ("long_range_in_the_second_layer", (1,), lambda _: np.ones((196, 196))),  # long, but not sparse
        ("longer_range_in_the_last_layers", (0, 1), random),
        ("longer_range_in_the_last_layers", (6, 7), lambda _: shifted(14, np.ones((7, 7)))),  # by less than a patch
    ],
)
def test_each_is_false_of_weights_that_break_it(
    planted: State, name: str, layers: range | tuple[int, ...], matrix: Callable[[int], Matrix]
) -> None:
    assert judge(replaced(planted, layers, matrix))[name].verdict == "differs"


@pytest.mark.parametrize(
    ("name", "layers", "matrix"),
    [
        ("support_extends_along_both_axes", (2,), random),  # two of eight are a quarter
        ("last_layers_are_spike_and_diffuse", (2, 3), lambda at: spike(14, own=40, seed=at)),  # two of five before
        ("a_is_sparser_than_b_and_c", range(3), lambda _: np.ones((196, 196))),  # five of eight are more than half
    ],
)
def test_each_is_true_at_its_threshold(
    planted: State, name: str, layers: range | tuple[int, ...], matrix: Callable[[int], Matrix]
) -> None:
    assert judge(replaced(planted, layers, matrix))[name].verdict == "reproduced"


def test_it_is_not_enough_to_be_sparser_than_one_of_two(planted: State) -> None:
    c_alone = {name: torch.eye(200) for name in planted if name.endswith("fc2.weight")}
    assert judge(planted | c_alone)["a_is_sparser_than_b_and_c"].verdict == "differs"


@pytest.mark.parametrize(("layers", "last", "early"), [(24, 7, 6), (12, 4, 3), (36, 11, 9)])
def test_parts_of_the_depth_are_those_of_the_paper_in_proportion(layers: int, last: int, early: int) -> None:
    found = judge(resmlp([spike(5, own=9, seed=0)] * layers, width=1))
    told = f"{last} of the last {last} layers and {layers - last} of the {layers - last} before"
    assert told in found["last_layers_are_spike_and_diffuse"].reason
    assert f"of the first {early} layers" in found["early_layers_are_local"].reason


def test_matrices_as_sparse_as_normal_numbers_are_not_sparse(planted: State) -> None:
    uniform = {
        n: torch.rand(v.shape, generator=torch.Generator().manual_seed(1)) for n, v in planted.items() if "fc" in n
    }
    found = judge(planted | uniform)
    assert found["all_three_are_sparse"].verdict == "differs"
    assert found["a_is_sparser_than_b_and_c"].verdict == "reproduced"


def test_untrained_weights_have_none_of_the_patterns() -> None:
    found = judge(resmlp([random(at) for at in range(8)]))
    assert {found[name].verdict.value for name in PATTERNS} == {"differs"}


def test_patches_that_take_only_from_themselves() -> None:
    found = judge(resmlp([np.eye(196)] * 4))
    assert {found[name].verdict.value for name in PATTERNS} == {"differs"}
    assert found["early_layers_are_local"].values == {"local": (None,) * 4}
    assert "none, " in found["early_layers_are_local"].reason or "none;" in found["early_layers_are_local"].reason


@pytest.mark.parametrize(
    ("state", "names", "told"),
    [
        (resmlp([spike(4, own=1, seed=0)] * 3), PATTERNS + RATES, "3 layers have no first and last ones"),
        (
            resmlp([spike(9, own=1, seed=0)] * 4, image=False),
            PATTERNS,
            "81 tokens are not the patches of a square grid",
        ),
        (resmlp([np.eye(80)] * 4), PATTERNS, "80 tokens are not the patches of a square grid"),
        (resmlp([spike(4, own=1, seed=0)] * 4), (PATTERNS[0], PATTERNS[3]), "too small to tell local from global"),
    ],
)
def test_what_cannot_be_judged_is_unverifiable_and_says_why(state: State, names: tuple[str, ...], told: str) -> None:
    found = judge(state)
    assert {name for name, one in found.items() if one.verdict == "unverifiable"} == set(names)
    assert all(told in found[name].reason for name in names)


def test_the_report_states_that_an_mlp_across_patches_stands_for_a() -> None:
    names = {"mlp_tokens.fc1.weight": (60, 81), "mlp_tokens.fc2.weight": (81, 60)}
    channels = {"mlp_channels.fc1.weight": (16, 4), "mlp_channels.fc2.weight": (4, 16)}
    generator = torch.Generator().manual_seed(2)
    state = stem()
    for at in range(4):
        for name, shape in (names | channels).items():
            state[f"blocks.{at}.{name}"] = torch.randn(shape, generator=generator)
    found = judge(state)
    assert all("(of W1 and W2, or the derivative of their MLP, in A's place)" in one.reason for one in found.values())
    assert {found[name].verdict.value for name in PATTERNS} == {"differs"}


def gates(*matrices: Matrix, image: bool = False) -> State:
    named = {f"blocks.{at}.sgu.proj.weight": torch.from_numpy(matrix) for at, matrix in enumerate(matrices)}
    return named | (stem() if image else {})


def test_toeplitz_in_every_layer_is_toeplitz() -> None:
    noisy = toeplitz(16, seed=1) + np.random.default_rng(2).normal(size=(16, 16)) / 4
    assert judge(gates(toeplitz(16, seed=0), noisy))["gates_are_toeplitz"].verdict == "reproduced"
    found = judge(gates(toeplitz(16, seed=0), spike(4, own=0, seed=3)))["gates_are_toeplitz"]
    assert found.verdict == "differs"
    assert found.reason.startswith("1 of 2 layers, the least 0.")


def test_shifts_of_an_image_are_those_of_the_grid() -> None:
    convolution = shifted(6, np.random.default_rng(5).normal(size=(5, 5)))
    on_grid, text = (judge(gates(convolution, image=image))["gates_are_toeplitz"] for image in (True, False))
    assert on_grid.values["Toeplitz"] == pytest.approx((1,))
    assert on_grid.reason.endswith(f"; {11**2 / 36**2:.3g} by chance")
    assert text.values["Toeplitz"][0] < 0.95  # type: ignore[operator]
    assert text.reason.endswith(f"; {71 / 36**2:.3g} by chance")


def test_gates_of_zero_and_by_construction() -> None:
    assert judge(gates(np.zeros((5, 5))))["gates_are_toeplitz"].verdict == "differs"
    found = judge({"blocks.0.sgu.proj.weight": torch.randn(9)})["gates_are_toeplitz"]
    assert (found.verdict, "by construction" in found.reason) == ("unverifiable", True)


def test_agelus_that_start_equal_must_have_learned_to_differ() -> None:
    state = {f"blocks.{at}.mlp.{name}": v.clone() for at in (0, 1) for name, v in amlp(3, 4).state_dict().items()}
    assert judge(state)["two_agelus_differ"].verdict == "differs"
    state["blocks.0.mlp.act.agelu2.gamma"][1] = 0.5
    assert judge(state)["two_agelus_differ"].verdict == "differs"
    state["blocks.1.mlp.act.agelu1.beta"][3] = 0.5
    assert judge(state)["two_agelus_differ"].verdict == "reproduced"
    assert judge(state)["two_agelus_differ"].values == {"differ": (0.25, 0.25)}
    released = ReleasedBlock(3, 4, 3).state_dict()
    released["act2.move2.bias"].view(-1)[:2] += 1
    found = judge(released)["two_agelus_differ"]
    assert (found.layers, found.values) == (("the module",), {"differ": (0.5,)})


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"act.agelu1.alpha": torch.ones(3)}, "its coefficients are not for one number of units"),
        ({"act.agelu1.theta": torch.tensor([float("nan")] * 4)}, "act.agelu1.theta holds numbers that are not finite"),
        ({"act.agelu2.phi.weight": torch.ones(1)}, "its base activation has weights of its own"),
    ],
)
def test_agelus_that_cannot_be_compared(changed: State, told: str) -> None:
    found = judge({**amlp(3, 4).state_dict(), **changed})["two_agelus_differ"]
    assert (found.verdict, told in found.reason) == ("unverifiable", True)


def test_one_coefficient_for_all_units_and_one_for_each_are_compared() -> None:
    ones = {f"act.agelu1.{name}": torch.ones(1) for name in ("alpha", "beta", "gamma", "theta")}
    assert judge({**amlp(3, 4).state_dict(), **ones})["two_agelus_differ"].values == {"differ": (1.0,)}


def test_a_cross_of_one_sign_extends_along_both_axes() -> None:
    found = judge(resmlp([cross(9)] * 4))
    assert found["support_extends_along_both_axes"].verdict == "reproduced"


A, B = "blocks.1.linear_tokens.weight", "blocks.1.mlp_channels.fc1.weight"
NOT_FINITE = torch.ones(16, 16)
NOT_FINITE[2, 3], NOT_FINITE[4, 4] = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        (A, NOT_FINITE.half(), "holds numbers that are not finite: 2 of 256"),
        (A, torch.full((16, 16), 1e61, dtype=torch.float64), "holds numbers that are too large to multiply"),
        (A, torch.empty(0, 16), "is empty"),
        (A, torch.ones(16, 9), "it maps 9 patches to 16"),
        (A, torch.ones(16), "has shape [16], which is not a matrix"),
        (A, torch.ones(()), "has shape [], which is not a matrix"),
        (A, torch.ones(16, 16, dtype=torch.complex64), "does not hold floating-point numbers"),
        (A, torch.ones(16, 16, dtype=torch.int8), "does not hold floating-point numbers"),
    ],
)
def test_a_tensor_that_cannot_be_used_is_named(name: str, value: Tensor, told: str) -> None:
    found = judge({**resmlp([spike(4, own=2, seed=at) for at in range(5)]), name: value})
    assert {found[name].verdict.value for name in PATTERNS} == {"unverifiable"}
    assert all(told in found[name].reason for name in PATTERNS)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.float8_e4m3fn])
def test_any_precision(dtype: torch.dtype) -> None:
    state = {name: value.to(dtype) for name, value in resmlp([spike(6, own=2, seed=at) for at in range(4)]).items()}
    assert {one.verdict.value for one in judge(state).values()} <= {"differs", "reproduced"}
