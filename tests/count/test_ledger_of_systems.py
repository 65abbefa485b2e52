"""The ledger of every model of the bundled specs that is built here, against torch's own counter."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.fvcore import unfuse_attention
from imlp_audit.count.ledger import CallCache, measure
from imlp_audit.models.available_hosts import Timm
from imlp_audit.models.build import Builder
from imlp_audit.models.readings import AnyReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs
from tests.bundled import bundled_selection


def systems() -> dict[Recipe, AnyReading | None]:
    """Every recipe of the bundled specs whose host or block is ours, under its paper's first reading."""
    found: dict[Recipe, AnyReading | None] = {}
    for paper in (one for one in bundled_selection().papers if not one.about.value.on_request):
        readings = [named.reading() for named in paper.about.value.readings.values()]
        recipes = [row.row.model for row in paper.rows] + [system.value.model for system in paper.systems]
        for recipe in recipes:
            if recipe is not None and (not isinstance(recipe.host, Timm) or recipe.mlp is not None):
                found.setdefault(recipe, recipe.part_of(readings[0]) if readings else None)
    return found


SYSTEMS = systems()
# One small model of each kind for the daily run.
DAILY = {
    kind: next(recipe for recipe in SYSTEMS if str(recipe).startswith(kind))
    for kind in (
        "mixer: {layers: 12",
        "gmlp: {layers: 30, patch: 4, width: 128",
        "resmlp:",
        "bert",
        "python: {file: models.py, name: LiteVisionTransformer",
        "timm: deit_tiny",
    )
}


@pytest.fixture(scope="module")
def builder() -> Builder:
    return Builder()


@pytest.fixture(scope="module")
def cache() -> CallCache:
    return {}


@pytest.mark.parametrize(
    "recipe",
    [pytest.param(one, marks=() if one in DAILY.values() else pytest.mark.slow, id=str(one)) for one in SYSTEMS],
)
def test_multiply_accumulates_are_half_of_torch_s_flops(recipe: Recipe, builder: Builder, cache: CallCache) -> None:
    with builder.variant(recipe, SYSTEMS[recipe]) as variant:
        model = unfuse_attention(variant.model).requires_grad_(requires_grad=False)
        with torch.device("meta"):
            inputs = example_inputs(model)
        ledger = measure(model, *inputs, cache=cache)
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            model(*inputs)
    assert not ledger.unknown
    assert 2 * total(ledger, FLOPS_CONVENTIONS["macs"]) == counter.get_total_flops()
