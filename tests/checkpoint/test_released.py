"""A whole DeiT with the released IFFN block, in the released layout, loads and computes the same."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest
import timm
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from imlp_audit.checkpoint.fitting import rename_released
from imlp_audit.errors import CheckpointError
from imlp_audit.models.blocks import ImlpRecipe
from imlp_audit.models.build import Builder
from imlp_audit.models.recipe import Recipe, Replacement
from tests.checkpoint.reading import load_into, parse
from tests.models.readings import AS_WRITTEN
from tests.models.readings import RELEASED as RELEASED_READING
from tests.models.released import ReleasedBlock

DEIT = "deit_tiny_patch16_224"


def released_deit(kernel: int) -> nn.Module:
    """DeiT-Ti without a class token, its MLPs the released block: the mean of the patches after the last norm."""
    torch.manual_seed(kernel)
    model: nn.Module = timm.create_model(DEIT, class_token=False, global_pool="avg", fc_norm=False)
    for block in model.blocks.children():  # type: ignore[union-attr]  # a Sequential
        block.mlp = ReleasedBlock(192, 384, kernel)
    for parameter in model.parameters():
        parameter.data.add_(torch.randn_like(parameter) / 50)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean, module.running_var = torch.randn(768) / 50, torch.rand(768) + 0.5
    return model.eval()


def released_names(state: dict[str, Tensor], kernel: int) -> dict[str, Tensor]:
    """The test's block calls its convolution `dw`; the released code calls it after its kernel."""
    return {name.replace(".dw.", f".conv{kernel}x{kernel}_dw."): value for name, value in state.items()}


@pytest.mark.daily(1)
@pytest.mark.parametrize("kernel", [3, 5])
def test_a_released_checkpoint_loads_and_computes_the_same(tmp_path: Path, kernel: int) -> None:
    theirs = released_deit(kernel)
    state = released_names(theirs.state_dict(), kernel)
    saved = {"model": state, "model_ema": {}, "epoch": 299, "args": argparse.Namespace(model=DEIT)}
    torch.save(saved, tmp_path / "checkpoint.pth")
    recipe = Recipe.of(timm=DEIT, mlp=Replacement(imlp=ImlpRecipe(ratio=2, kernel=kernel)))
    x = torch.randn(2, 3, 224, 224)
    with Builder("cpu").variant(recipe, RELEASED_READING) as variant, torch.inference_mode():
        notes = load_into(variant.model, parse(tmp_path / "checkpoint.pth"))
        torch.testing.assert_close(variant.model(x), theirs(x), rtol=0, atol=1e-6)
    assert f"{12 * len(ReleasedBlock(1, 1, 1).state_dict())} names of published code mapped to ours" in notes


def test_under_another_reading_it_says_what_does_not_fit(tmp_path: Path) -> None:
    save_file(released_names(released_deit(3).state_dict(), 3), tmp_path / "c.safetensors")
    recipe = Recipe.of(timm=DEIT, mlp=Replacement(imlp=ImlpRecipe(ratio=2, kernel=5)))
    with Builder("cpu").variant(recipe, AS_WRITTEN) as variant:
        before = {name: value.clone() for name, value in variant.model.state_dict().items()}
        with pytest.raises(CheckpointError) as refused:
            load_into(variant.model, parse(tmp_path / "c.safetensors"))
        assert all(torch.equal(value, before[name]) for name, value in variant.model.state_dict().items())
    told = str(refused.value).splitlines()
    assert re.search(
        r"c.safetensors does not fit the model; `imlp-audit inspect \S*c.safetensors` shows what it", told[0]
    )
    assert [line.partition(":")[0].strip() for line in told[1:]] == ["mis-shaped", "missing", "unexpected"]
    assert "768 x 1 x 3 x 3 in the file, 768 x 1 x 5 x 5 in the model" in told[1]
    assert "cls_token" in told[2]
    assert ".act.norm.weight" in told[3]


def test_names_outside_of_released_blocks_stay() -> None:
    names = ["conv1.weight", "blocks.1.mlp.conv1.weight", "blocks.1.mlp.act1.move1.scale", "blocks.11.mlp.conv1.weight"]
    assert rename_released(names) == {
        "conv1.weight": "conv1.weight",
        "blocks.1.mlp.conv1.weight": "blocks.1.mlp.fc1.weight",
        "blocks.1.mlp.act1.move1.scale": "blocks.1.mlp.act.agelu1.alpha",
        "blocks.11.mlp.conv1.weight": "blocks.11.mlp.conv1.weight",
    }


def test_two_names_for_one_keep_the_second() -> None:
    names = ["act1.move1.scale", "conv3x3_dw.weight", "conv5x5_dw.weight", "fc1.weight", "conv1.weight"]
    assert rename_released(names)["conv5x5_dw.weight"] == "conv5x5_dw.weight"
    assert rename_released(names)["conv1.weight"] == "conv1.weight"
    assert len(set(rename_released(names).values())) == len(names)
