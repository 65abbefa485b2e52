"""What is found in a state: by every convention of names, in the layers' order, and whatever a file may hold."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from timm.layers import GatedMlp
from timm.models.mlp_mixer import MixerBlock, MlpMixer, ResBlock, SpatialGatingBlock
from torch import Tensor

from imlp_audit.checkpoint.refusal import escape_name
from imlp_audit.inspect import arrays, parts
from imlp_audit.inspect.parts import find_parts, has_parts
from imlp_audit.inspect.weights import measure_parts
from imlp_audit.models.gmlp import GmlpBlock, ToeplitzProjection
from imlp_audit.models.hosts.mixer import Mixer
from imlp_audit.models.imlp import amlp
from imlp_audit.models.mixer import build_mixer
from imlp_audit.models.nets.resmlp import cross_patch_mlp
from imlp_audit.models.resmlp import AlgorithmLayer
from tests.models.released import ReleasedBlock

from .judging import inspect_and_judge
from .planted import resmlp, spike, stem

State = dict[str, Tensor]


def within(state: State, *paths: str) -> State:
    return {f"{path}.{name}": value for path in paths for name, value in state.items()}


def test_resmlp_by_all_names() -> None:
    timms = resmlp([np.eye(16)] * 2)
    authors = {name.replace("linear_tokens", "attn").replace("mlp_channels", "mlp"): v for name, v in timms.items()}
    ours = {**stem(), **within(AlgorithmLayer(8, 16).state_dict(), "blocks.0", "blocks.1")}
    for state in (timms, authors, ours, within(timms, "model")):
        one = find_parts(state)
        assert [block.name.removeprefix("model.") for block in one.mixing] == ["blocks.0", "blocks.1"]
        assert [weight.letter for weight in (*one.mixing[0].across, *one.mixing[0].channels)] == ["A", "B", "C"]
        assert one.mixing[0].channels[0].values.shape == (32, 8)
        assert (one.mixing[0].patches, one.image, one.side(16), one.left_out) == (16, True, 4, ())


def test_timms_resmlp_mixer_and_gmlp() -> None:
    for layer, settings, counts in (
        (ResBlock, {"mlp_ratio": 4}, (2, 0)),
        (MixerBlock, {"mlp_ratio": (0.5, 4)}, (2, 0)),
        (SpatialGatingBlock, {"mlp_ratio": 6, "mlp_layer": GatedMlp}, (0, 2)),
    ):
        sizes = {"img_size": 32, "patch_size": 8, "embed_dim": 12, "num_blocks": 2}
        one = find_parts(MlpMixer(block_layer=layer, **sizes, **settings).state_dict())
        assert ((len(one.mixing), len(one.gates)), one.image, one.left_out) == (counts, True, ())


def test_our_mixer_gates_and_the_ablation_with_an_mlp() -> None:
    host = Mixer(layers=3, patch=8, width=12, tokens_hidden=6, channels_hidden=10)
    one = find_parts(build_mixer(host, (16, 24), 5).state_dict())
    assert [[weight.letter for weight in (*block.across, *block.channels)] for block in one.mixing] == [
        ["W1", "W2", "W3", "W4"]
    ] * 3
    assert (one.mixing[0].patches, one.side(6)) == (6, None)
    mlp = cross_patch_mlp(9, None, torch.nn.GELU, bias=True)
    layer = AlgorithmLayer(8, 9)
    layer.across_patches = mlp
    assert [len(block.across) for block in find_parts(within(layer.state_dict(), "b")).mixing] == [2]


def test_gates_full_and_toeplitz() -> None:
    full, toeplitz = GmlpBlock(4, 8, 6), GmlpBlock(4, 8, 6, projection=ToeplitzProjection)
    one = find_parts({**within(full.state_dict(), "blocks.0"), **within(toeplitz.state_dict(), "blocks.1")})
    assert [(gate.name, gate.tokens, gate.weight.ndim) for gate in one.gates] == [
        ("blocks.0", 6, 2),
        ("blocks.1", 6, 1),
    ]
    assert not one.image


def test_agelus_by_our_names_and_the_released_ones() -> None:
    ours = find_parts(within(amlp(3, 4).state_dict(), "blocks.0.mlp"))
    assert [agelu.name for agelu in ours.agelus] == ["blocks.0.mlp.act.agelu1", "blocks.0.mlp.act.agelu2"]
    released = ReleasedBlock(3, 4, 3).state_dict()
    released["act1.move1.scale"] += 1
    released["act2.move2.bias"] += 2
    (first, second) = find_parts(released).agelus
    assert [float(value[0]) for value in first.coefficients] == [2, 1, 0, 0]
    assert [float(value[0]) for value in second.coefficients] == [1, 1, 0, 2]


def test_coefficients_for_all_units_and_for_each_go_together() -> None:
    one = find_parts(amlp(3, 4).state_dict() | {"act.agelu1.alpha": torch.ones(1), "act.agelu1.theta": torch.ones(())})
    assert (len(one.agelus), one.left_out) == (2, ())


def test_aff_is_not_taken_for_agelu() -> None:
    assert find_parts(AlgorithmLayer(8, 16).state_dict()).agelus == ()


def test_layers_are_in_their_order_whatever_the_files() -> None:
    state = resmlp([np.eye(4)] * 12)
    alphabetical = {name: state[name] for name in sorted(state)}
    assert [block.name for block in find_parts(alphabetical).mixing] == [f"blocks.{at}" for at in range(12)]


def test_only_an_image_has_a_grid() -> None:
    assert find_parts(resmlp([np.eye(16)], image=False)).side(16) is None
    assert (
        find_parts({**resmlp([np.eye(16)], image=False), "patch_embed.proj.weight": torch.ones(1, 3, 2, 2)}).side(16)
        == 4
    )


A, B, BIAS = "blocks.1.linear_tokens.weight", "blocks.1.mlp_channels.fc1.weight", "blocks.1.mlp_tokens.fc1.bias"
NOT_FINITE = torch.ones(16, 16)
NOT_FINITE[2, 3], NOT_FINITE[4, 4] = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        (A, NOT_FINITE, "holds numbers that are not finite: 2 of 256"),
        (A, NOT_FINITE.half(), "holds numbers that are not finite: 2 of 256"),
        (A, torch.full((16, 16), 1e61, dtype=torch.float64), "holds numbers that are too large to multiply"),
        (A, torch.empty(0, 16), "is empty"),
        (A, torch.ones(16, 9), "it maps 9 patches to 16"),
        (A, torch.ones(16), "has shape [16], which is not a matrix"),
        (A, torch.ones(2, 2, 2), "has shape [2, 2, 2], which is not a matrix"),
        (A, torch.ones(()), "has shape [], which is not a matrix"),
        (A, torch.ones(16, 16, dtype=torch.complex64), "is not a plain tensor of floating-point numbers"),
        (A, torch.ones(16, 16, dtype=torch.int8), "is not a plain tensor of floating-point numbers"),
        (A, torch.ones(16, 16, device="meta"), "is not a plain tensor of floating-point numbers"),
        (A, torch.ones(16, 16).to_sparse(), "is not a plain tensor of floating-point numbers"),
        (B, NOT_FINITE, "holds numbers that are not finite"),
        (A, torch.ones(1).expand(10**6, 10**6), "repeats the numbers of a smaller one"),
    ],
)
def test_a_tensor_that_cannot_be_used_is_named_and_the_rest_looked_at(name: str, value: Tensor, told: str) -> None:
    state = {**resmlp([spike(4, own=2, seed=at) for at in range(5)]), name: value}
    one = find_parts(state)
    assert [block.name for block in one.mixing] == ["blocks.0", "blocks.2", "blocks.3", "blocks.4"]
    assert len(one.left_out) == 1
    assert one.left_out[0].startswith("blocks.1 is left out: ")
    assert told in one.left_out[0]
    assert {statement.verdict for statement in inspect_and_judge(state).statements} == {"unverifiable"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"act.agelu1.alpha": torch.ones(3)}, "its coefficients are for 3 and 4 units"),
        ({"act.agelu1.theta": torch.tensor([float("nan")] * 4)}, "act.agelu1.theta holds numbers that are not finite"),
        ({"act.agelu1.beta": torch.full((4,), 1e300, dtype=torch.float64)}, "too large to multiply"),
        ({"act.agelu1.phi.weight": torch.ones(1)}, "its base activation has weights of its own"),
        ({"act.agelu1.beta": None}, "act.agelu1.beta is missing"),
    ],
)
def test_an_agelu_that_cannot_be_used_is_named(changed: dict[str, Tensor | None], told: str) -> None:
    state = {n: v for n, v in (dict(amlp(3, 4).state_dict()) | changed).items() if v is not None}
    one = find_parts(state)
    assert [agelu.name for agelu in one.agelus] == ["act.agelu2"]
    assert told in one.left_out[0]
    inspection = measure_parts(one, state)
    assert inspection.blocks == ()
    assert "the module has no slopes" in inspection.left_out[-1]


def test_a_gate_that_cannot_be_used_is_named() -> None:
    for value, told in ((torch.ones(3, 4), "has shape [3, 4]"), (torch.ones(4), "has shape [4]")):
        one = find_parts({"blocks.0.sgu.proj.weight": value})
        assert (one.gates, told in one.left_out[0]) == ((), True)


def test_a_bias_that_does_not_fit_is_named() -> None:
    names = {"mlp_tokens.fc1.weight": (5, 4), "mlp_tokens.fc2.weight": (4, 5), "mlp_tokens.fc1.bias": (3,)}
    channels = {"mlp_channels.fc1.weight": (6, 2), "mlp_channels.fc2.weight": (2, 6)}
    one = find_parts({f"b.{name}": torch.ones(shape) for name, shape in (names | channels).items()})
    assert one.left_out == ("b is left out: b.mlp_tokens.fc1.bias has 3 numbers, not 5",)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.float8_e4m3fn])
def test_any_precision(dtype: torch.dtype) -> None:
    state = {name: value.to(dtype) for name, value in resmlp([spike(4, own=2, seed=at) for at in range(4)]).items()}
    one = find_parts(state)
    assert (len(one.mixing), one.left_out) == (4, ())
    assert len(measure_parts(one, state).cross_patch) == 4


def test_more_layers_than_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_LAYERS", 3)
    one = find_parts(resmlp([np.eye(4)] * 5))
    assert len(one.mixing) == 3
    assert one.left_out == ("2 layers are left out: the limit is 3 of a kind",)


def test_more_tokens_than_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_TOKENS", 8)
    state = resmlp([np.eye(9)]) | {
        "blocks.1.sgu.proj.weight": torch.ones(17),
        "blocks.2.sgu.proj.weight": torch.ones(15),
    }
    one = find_parts(state)
    assert (one.mixing, [gate.tokens for gate in one.gates]) == ((), [8])
    assert all("it mixes 9 tokens; the limit is 8" in note for note in one.left_out)


def test_numbers_are_looked_at_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_CHUNK", 5)
    assert arrays.why_unusable(NOT_FINITE) == "holds numbers that are not finite: 2 of 256"
    assert arrays.why_unusable(torch.ones(16)) is None


def test_only_names_of_parts_are_worth_reading_the_numbers() -> None:
    for state in (amlp(1, 1).state_dict(), ReleasedBlock(1, 1, 1).state_dict(), resmlp([np.eye(1)])):
        assert has_parts(state)
    assert has_parts(["sgu.proj.weight"])
    assert not has_parts(["blocks.0.attn.qkv.weight", "blocks.0.mlp.fc1.weight", "an_alpha", "head.weight"])


def test_names_are_escaped() -> None:
    assert escape_name("blocks.0\x1b[31m`x`\n") == "blocks.0\\x1b[31m`x`\\n"
    assert len(escape_name("a" * 10_000)) == 123
    assert (
        find_parts({"²." + name: v for name, v in resmlp([np.eye(4)], image=False).items()}).mixing[0].name
        == "\\xb2.blocks.0"
    )
