"""The join, on whole models and on states that nobody made on purpose."""

from __future__ import annotations

import random

import pytest
import torch
from torch import Tensor

from imlp_audit.inspect.document import inspection_document
from imlp_audit.models.blocks import ImlpRecipe, Replacement
from imlp_audit.models.build import Builder
from imlp_audit.models.hosts.gmlp import Gmlp
from imlp_audit.models.hosts.mixer import Mixer
from imlp_audit.models.hosts.resmlp import Communication, ResMlp
from imlp_audit.models.reading import ResMlpForm
from imlp_audit.models.recipe import Recipe
from imlp_audit.report.markdown import render_markdown
from tests.models.readings import RELEASED

from .judging import inspect_and_judge

NAMES = (
    "stem.proj.weight", "blocks.0.linear_tokens.weight", "blocks.0.mlp_channels.fc1.weight",
    "blocks.0.mlp_channels.fc2.weight", "blocks.0.mlp_tokens.fc1.weight", "blocks.0.mlp_tokens.fc1.bias",
    "blocks.0.mlp_tokens.fc2.weight", "blocks.0.mlp_channels.gate.proj.weight", "sgu.proj.weight", "m.alpha", "m.beta",
    "m.gamma", "m.theta", "act1.move1.scale", "act1.move1.bias", "act1.move2.scale", "act1.move2.bias", "fc1.weight",
    "fc2.weight", "act.agelu1.alpha", "act.agelu1.beta", "act.agelu1.gamma", "act.agelu1.theta", "act.agelu2.alpha",
    "act.agelu2.beta", "act.agelu2.gamma", "act.agelu2.theta", "",
)  # fmt: skip
SHAPES = ((), (0,), (1,), (4,), (5,), (1, 1), (4, 4), (4, 5), (5, 4), (9, 9), (4, 4, 1, 1), (2, 3, 4))
TYPES = (torch.float32, torch.float16, torch.float64, torch.int64, torch.complex64, torch.bool)
EXTREMES = (0.0, 1.0, -1e-38, 3e38, float("nan"), float("inf"))


def thrown_together(seed: int) -> dict[str, Tensor]:
    """Names that mean something, with tensors that do not fit."""
    dice = random.Random(seed)
    usual = torch.ones(4, 4) if seed % 2 else torch.ones(4)
    state = {}
    for name in dice.sample(NAMES, dice.randint(1, len(NAMES))):
        value = usual if dice.random() < 0.6 else torch.full(dice.choice(SHAPES), dice.choice(EXTREMES))
        state[name] = value if dice.random() < 0.8 else value.to(dice.choice(TYPES))
    return state


@pytest.mark.parametrize("seed", range(25))
def test_every_state_gets_an_answer(seed: int) -> None:
    inspection = inspect_and_judge(thrown_together(seed))
    render_markdown(inspection_document(inspection, {}))


def state_of(recipe: Recipe) -> dict[str, Tensor]:
    """A model's state with normal weights."""
    generator = torch.Generator().manual_seed(0)
    with Builder().variant(recipe, RELEASED) as variant:
        shapes = {name: value.shape for name, value in variant.model.state_dict().items()}
    return {name: torch.randn(shape, generator=generator) / 10 for name, shape in shapes.items()}


IMLP = Replacement(imlp=ImlpRecipe(ratio=2, kernel=3))
ALGORITHM = ResMlpForm.ALGORITHM


@pytest.mark.daily(6)
@pytest.mark.parametrize(
    ("recipe", "agelus", "blocks", "mixing", "gates"),
    [
        (Recipe.of(timm="deit_tiny_patch16_224"), 0, 0, 0, 0),
        (Recipe.of(resmlp=ResMlp(layers=4, width=8, form=ALGORITHM), image=(144, 144)), 0, 0, 4, 0),
        (Recipe.of(resmlp=ResMlp(layers=4, width=8, form=ALGORITHM, communication=Communication.MLP)), 0, 0, 4, 0),
        (Recipe.of(resmlp=ResMlp(layers=4, width=8, form=ALGORITHM, communication=Communication.CONV)), 0, 0, 0, 0),
        (Recipe.of(mixer=Mixer(layers=4, patch=16, width=8, tokens_hidden=4, channels_hidden=8)), 0, 0, 4, 0),
        (Recipe.of(gmlp=Gmlp(layers=2, patch=32, width=8, hidden=8)), 0, 0, 0, 2),
        (Recipe.of(timm="deit_tiny_patch16_224", mlp=IMLP), 24, 12, 0, 0),
    ],
    ids=lambda case: str(case)[:40],
)
def test_whole_models(recipe: Recipe, agelus: int, blocks: int, mixing: int, gates: int) -> None:
    found = inspect_and_judge(state_of(recipe))
    assert found.left_out == ()
    assert [len(part) for part in (found.agelus, found.blocks, found.cross_patch, found.gates)] == [
        agelus, blocks, mixing, gates,
    ]  # fmt: skip
    assert all(layer.pattern is not None for layer in found.cross_patch)
    assert all(gate.blocks is not None for gate in found.gates)
    assert len(found.statements) == (9 if mixing else 0) + bool(gates) + bool(blocks)
    assert [block.name for block in found.blocks] == [f"blocks.{at}.mlp" for at in range(blocks)]
