"""No sentence about learned weights is supported by noise in more than one case of 20."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import comb

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor

from imlp_audit.inspect.learned_weights import DRAWS, Noise, explain_untrained
from imlp_audit.models.imlp import amlp
from imlp_audit.processes.code import bundled_folder, load_module
from imlp_audit.records.checkpoint import Statement
from tests.evaluate.digits import WEIGHTS

from .judging import judge
from .planted import like_the_paper, resmlp, shifted, spike, stem, toeplitz

State = dict[str, Tensor]
SAYS_NOTHING = ("no_exact_zeros", "two_agelus_differ")  # true of any numbers


def judged(state: State) -> dict[str, Statement]:
    """Judge all sentences against noise, whether or not the weights look untrained."""
    return judge(state, DRAWS)


def random(seed: int, law: str = "normal") -> State:
    """A small ResMLP, gates and AMLP modules of independent numbers: normal, uniform, or with long tails."""
    generator = np.random.default_rng(seed)

    def draw(shape: tuple[int, ...]) -> NDArray[np.float64]:
        match law:
            case "normal":
                return np.asarray(generator.standard_normal(shape))
            case "uniform":
                return np.asarray(generator.uniform(-1, 1, shape))
            case _:
                return np.asarray(generator.standard_t(2, shape))

    state = resmlp([np.zeros((25, 25))] * 4) | {"blocks.9.sgu.proj.weight": torch.zeros(25, 25)}
    state |= {f"blocks.8.mlp.{name}": value for name, value in amlp(3, 4).state_dict().items()}
    drawn = {name: torch.from_numpy(draw(tuple(value.shape))).float() for name, value in state.items()}
    return drawn | {name: value for name, value in state.items() if not value.is_floating_point()}


def shuffled(seed: int) -> State:
    """Weights like the paper's, each matrix with its numbers in random places."""
    generator = torch.Generator().manual_seed(seed)

    def moved(value: Tensor) -> Tensor:
        return value.reshape(-1)[torch.randperm(value.numel(), generator=generator)].reshape(value.shape)

    return {name: value if name.startswith("stem") else moved(value) for name, value in PLANTED.items()}


PLANTED = like_the_paper(side=5, layers=4, width=8)
SIZES = ("a_is_sparser_than_b_and_c", "all_three_are_sparse")  # which shuffling does not change


def supported(states: Iterator[State]) -> Counter[str]:
    return Counter(name for state in states for name, one in judged(state).items() if one.verdict == "reproduced")


def most_by_chance(draws: int) -> int:
    """How many of some draws support a sentence at the level of one in 20, at most, in 999 cases of 1000."""
    shares = [comb(draws, one) * 0.05**one * 0.95 ** (draws - one) for one in range(draws + 1)]
    return next(one for one in range(draws) if sum(shares[: one + 1]) >= 0.999)


@pytest.mark.parametrize("law", ["normal", "uniform", "long tails", "shuffled"])
def test_noise_supports_no_sentence_more_often_than_stated(law: str) -> None:
    draws = 4
    found = supported(shuffled(seed) if law == "shuffled" else random(seed, law) for seed in range(draws))
    _check(found, law, draws)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["normal", "uniform", "long tails", "shuffled"])
def test_many_draws_of_noise(law: str) -> None:
    found = supported(shuffled(seed) if law == "shuffled" else random(seed, law) for seed in range(60))
    _check(found, law, 60)


def _check(found: Counter[str], law: str, draws: int) -> None:
    sizes = SIZES if law in ("long tails", "shuffled") else ()  # there the sizes of the numbers are no noise
    assert {name: count for name, count in found.items() if count > most_by_chance(draws) and name not in sizes} == {}


def test_structure_is_supported() -> None:
    found = judged(like_the_paper(side=11, width=14))
    assert {name for name, one in found.items() if one.verdict != "reproduced"} == {"no_exact_zeros"}
    assert found["no_exact_zeros"].verdict == "unverifiable"
    assert "normal numbers support this too" in found["no_exact_zeros"].reason
    gates = {f"blocks.{at}.sgu.proj.weight": torch.from_numpy(toeplitz(16, seed=at)) for at in range(2)}
    assert judged(gates)["gates_are_toeplitz"].verdict == "reproduced"


def test_what_any_numbers_do_is_no_evidence() -> None:
    state = {f"blocks.0.mlp.{name}": value.clone() for name, value in amlp(3, 4).state_dict().items()}
    assert judged(state)["two_agelus_differ"].verdict == "differs"  # as they are initialised
    state["blocks.0.mlp.act.agelu2.gamma"][1] = 0.5
    assert judged(state)["two_agelus_differ"].verdict == "unverifiable"


def test_one_large_weight_far_away_supports_nothing() -> None:
    """A matrix of local noise with one far weight, as large as all: its shuffles have such weights too."""
    local = [shifted(9, np.ones((5, 5))) * spike(9, own=0, seed=at) for at in range(4)]
    local[1][0, -1] = local[1].max()
    far = judged(resmlp(local))["long_range_in_the_second_layer"]
    assert far.verdict == "reproduced"  # nothing else is far: a few weights have it all
    noisy = [spike(9, own=0, seed=at) for at in range(4)]
    noisy[1][0, -1] = 6.0
    assert judged(resmlp(noisy))["long_range_in_the_second_layer"].verdict == "differs"


@pytest.mark.parametrize("kind", [Noise.NORMAL, Noise.UNIFORM])
def test_counts_are_drawn_as_if_the_numbers_had_been(kind: Noise) -> None:
    """The mean and the spread of 400 drawn rates, against those of 400 matrices of numbers."""
    generator, of = np.random.default_rng(0), 3000
    patterns = load_module(bundled_folder() / "resmlp", "patterns")
    ours = [patterns.draw_sparsity(of, kind, generator).rate for _ in range(400)]
    plain = [np.mean(np.abs(one) < np.abs(one).max() / 20) for one in kind.draw(np.zeros((400, of)), generator)]
    error = np.hypot(np.std(ours), np.std(plain)) / 20
    assert abs(np.mean(ours) - np.mean(plain)) < 4 * error
    assert 0.8 < np.std(ours) / np.std(plain) < 1.25


@pytest.mark.parametrize("row", ["mixer", "resmlp"])
def test_trained_weights_do_not_look_untrained_and_their_shuffles_do(row: str) -> None:
    state = load_file(WEIGHTS / f"{row}.safetensors") | stem()
    state = {name: value for name, value in state.items() if value.ndim == 2} if row == "mixer" else state
    assert explain_untrained(state) is None
    generator = torch.Generator().manual_seed(1)
    moved = {
        n: v.reshape(-1)[torch.randperm(v.numel(), generator=generator)].reshape(v.shape) for n, v in state.items()
    }
    found = explain_untrained(moved)
    assert found is not None
    assert "look untrained: " in found


def test_planted_structure_does_not_look_untrained() -> None:
    assert explain_untrained(like_the_paper(side=11)) is None


def test_fresh_weights_look_untrained_and_few_matrices_say_nothing() -> None:
    fresh = random(3) | {
        f"more.{at}.weight": torch.randn(16, 16, generator=torch.Generator().manual_seed(at)) for at in range(8)
    }
    assert explain_untrained(fresh) is not None
    mask = torch.kron(torch.eye(2), torch.ones(8, 8)) * -100.0
    assert explain_untrained(fresh | {f"layers.{at}.attn_mask": mask for at in range(9)}) is not None  # as Swin's
    assert explain_untrained(dict(list(fresh.items())[:6])) is None
    verdicts = {(one.verdict.value, one.reason.partition(";")[0]) for one in judge(fresh, 1, "these look so").values()}
    assert verdicts == {("unverifiable", "these look so")}
