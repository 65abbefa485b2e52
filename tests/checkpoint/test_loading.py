"""Loading into a model: every tensor, or an error; what is changed on the way is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from timm.models.mlp_mixer import Affine, MlpMixer, ResBlock
from torch import Tensor, nn

from imlp_audit.errors import CheckpointError
from imlp_audit.models.available_hosts import ResMlp
from imlp_audit.models.build import Builder
from imlp_audit.models.readings import Presence, ResMlpForm, ResMlpReading
from imlp_audit.models.recipe import Recipe
from tests.checkpoint.reading import load_into, parse


class Small(nn.Module):
    """A layer, a norm, and a buffer that the model computes and does not save."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(3, 2)
        self.norm = nn.BatchNorm1d(2)
        self.register_buffer("index", torch.arange(4), persistent=False)


def weights() -> dict[str, Tensor]:
    torch.manual_seed(0)
    state = Small().state_dict()
    return {name: torch.randn_like(value) if value.is_floating_point() else value + 7 for name, value in state.items()}


def test_every_tensor_is_loaded(tmp_path: Path) -> None:
    save_file(weights(), tmp_path / "w.safetensors")
    model = Small()
    assert load_into(model, parse(tmp_path / "w.safetensors")) == ()
    assert all(torch.equal(model.state_dict()[name], value) for name, value in weights().items())


@pytest.mark.parametrize("name", list(weights()))
def test_a_missing_tensor_is_never_passed_over(tmp_path: Path, name: str) -> None:
    save_file({other: value for other, value in weights().items() if other != name}, tmp_path / "w.safetensors")
    model = Small()
    if name.endswith("num_batches_tracked"):
        told = f"not in the file, and not needed to evaluate the model: {name}"
        assert load_into(model, parse(tmp_path / "w.safetensors")) == (told,)
        assert model.norm.num_batches_tracked == 0
    else:
        with pytest.raises(CheckpointError, match=rf"missing: .*{re.escape(name)}"):
            load_into(model, parse(tmp_path / "w.safetensors"))


def test_an_unexpected_tensor_is_never_passed_over(tmp_path: Path) -> None:
    save_file({**weights(), "head.scale": torch.ones(1)}, tmp_path / "w.safetensors")
    with pytest.raises(
        CheckpointError, match=r"unexpected: the model has no tensors of these names \(1 tensor: head.scale\)"
    ):
        load_into(Small(), parse(tmp_path / "w.safetensors"))


def test_a_buffer_that_the_model_computes_must_be_the_same(tmp_path: Path) -> None:
    save_file({**weights(), "index": torch.arange(4)}, tmp_path / "same.safetensors")
    save_file({**weights(), "index": torch.arange(4) + 1}, tmp_path / "other.safetensors")
    told = "computed by the model itself, so not loaded: index"
    assert load_into(Small(), parse(tmp_path / "same.safetensors")) == (told,)
    with pytest.raises(CheckpointError, match="index differs from what the model computes"):
        load_into(Small(), parse(tmp_path / "other.safetensors"))


@pytest.mark.parametrize(
    ("dtype", "notes"),
    [
        (torch.float16, ()),
        (torch.bfloat16, ()),
        (torch.float64, ("6 tensors are rounded to the model's type, such as head.bias",)),
    ],
)
def test_other_types_of_real_numbers_are_converted(tmp_path: Path, dtype: torch.dtype, notes: tuple[str, ...]) -> None:
    held = {name: value.to(dtype) if value.is_floating_point() else value for name, value in weights().items()}
    save_file(held, tmp_path / "w.safetensors")
    model = Small()
    assert load_into(model, parse(tmp_path / "w.safetensors")) == notes
    assert torch.equal(model.head.weight.data, held["head.weight"].float())


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("head.bias", torch.ones(2, dtype=torch.int8), "head.bias holds integers where the model has real numbers"),
        ("head.bias", torch.ones(2, dtype=torch.complex64), "head.bias holds complex numbers where"),
        ("norm.num_batches_tracked", torch.tensor(1.5), "holds real numbers where the model has integers"),
    ],
)
def test_other_numbers_are_refused(tmp_path: Path, name: str, value: Tensor, told: str) -> None:
    torch.save({**weights(), name: value}, tmp_path / "w.pth")
    with pytest.raises(CheckpointError, match=told):
        load_into(Small(), parse(tmp_path / "w.pth"))


def test_the_state_that_is_asked_for(tmp_path: Path) -> None:
    averages = {name: value + 1 for name, value in weights().items()}
    torch.save({"model": weights(), "model_ema": {f"module.{k}": v for k, v in averages.items()}}, tmp_path / "w.pth")
    model = Small()
    assert load_into(model, parse(tmp_path / "w.pth", "model_ema")) == (
        "model_ema is used; the file also holds model (choose with --state)",
        "model_ema is a running average of the weights",
        "prefix removed from the names: module.",
    )
    assert torch.equal(model.head.weight.data, averages["head.weight"])
    assert load_into(model, parse(tmp_path / "w.pth"))[0].startswith("model is used; the file also holds model_ema")
    assert torch.equal(model.head.weight.data, weights()["head.weight"])


def authors_names(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """timm's weights of ResMLP under the names, and in the shapes, of the authors' code."""
    changes = (("stem.", "patch_embed."), ("linear_tokens.", "attn."), ("mlp_channels.", "mlp."), (".ls", ".gamma_"))
    renamed = {}
    for name, value in state.items():
        for theirs, authors in changes:
            name = name.replace(theirs, authors)
        renamed[name] = value.flatten() if value.ndim == 3 else value
    return renamed


@pytest.mark.parametrize("by_authors", [False, True])
def test_published_resmlp_weights_are_those_of_algorithm_1(tmp_path: Path, by_authors: bool) -> None:
    torch.manual_seed(0)
    theirs = MlpMixer(
        num_blocks=2, patch_size=16, embed_dim=384, mlp_ratio=4, block_layer=ResBlock, norm_layer=Affine
    ).eval()
    for parameter in theirs.parameters():
        parameter.data.add_(torch.randn_like(parameter) / 50)
    state = theirs.state_dict()
    save_file(authors_names(state) if by_authors else state, tmp_path / "w.safetensors")
    recipe, x = Recipe.of(resmlp=ResMlp(layers=2, width=384)), torch.randn(1, 3, 224, 224)
    with (
        Builder("cpu").variant(recipe, ResMlpReading(ResMlpForm.ALGORITHM, Presence.NO)) as variant,
        torch.inference_mode(),
    ):
        load_into(variant.model, parse(tmp_path / "w.safetensors"))
        torch.testing.assert_close(variant.model(x), theirs(x), rtol=0, atol=1e-5)


class Tied(nn.Module):
    """Two layers with one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(3, 2), nn.Linear(3, 2)
        self.b.weight = self.a.weight


@pytest.mark.parametrize("left_out", ["a.weight", "b.weight"])
def test_one_name_of_a_tensor_that_has_two_is_enough(tmp_path: Path, left_out: str) -> None:
    state = {name: torch.randn_like(value) for name, value in Tied().state_dict().items() if name != left_out}
    torch.save(state, tmp_path / "w.pth")
    model = Tied()
    load_into(model, parse(tmp_path / "w.pth"))
    assert model.a.weight is model.b.weight
    assert all(torch.equal(model.state_dict()[name], value) for name, value in state.items())


@pytest.mark.parametrize("first", ["a.weight", "b.weight"])
def test_two_values_for_one_tensor_are_refused(tmp_path: Path, first: str) -> None:
    state = Tied().state_dict()
    torch.save({first: state[first] + 1, **{name: one for name, one in state.items() if name != first}}, tmp_path / "w")
    with pytest.raises(CheckpointError, match=r"a\.weight and b\.weight are one tensor in the model, but differ"):
        load_into(Tied(), parse(tmp_path / "w"))


class Stateful(nn.Linear):
    """A layer that saves an object."""

    def get_extra_state(self) -> object:
        return {"turn": 1}

    def set_extra_state(self, state: object) -> None:
        del state


def test_a_model_that_saves_more_than_tensors_is_refused(tmp_path: Path) -> None:
    torch.save(Stateful(3, 2).state_dict(), tmp_path / "w.pth")
    with pytest.raises(CheckpointError, match="also saves _extra_state, which is not a tensor"):
        load_into(Stateful(3, 2), parse(tmp_path / "w.pth"))


@pytest.mark.parametrize("before", ["", "module.", "_orig_mod.module."])
def test_a_part_that_is_called_module_keeps_its_name(tmp_path: Path, before: str) -> None:
    model = nn.Sequential()
    model.add_module("module", nn.Linear(3, 2))
    state = {name: torch.randn_like(value) for name, value in model.state_dict().items()}
    torch.save({before + name: value for name, value in state.items()}, tmp_path / "w.pth")
    load_into(model, parse(tmp_path / "w.pth"))
    assert all(torch.equal(model.state_dict()[name], value) for name, value in state.items())
