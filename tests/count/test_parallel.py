"""Many models are counted by several processes as by one, also where one of these dies."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

import pytest
import torch

from imlp_audit.count import measuring
from imlp_audit.count.build_and_count import measure_models
from imlp_audit.count.facts import Failure, ModelFacts, ModelKey, Need
from imlp_audit.count.fvcore import unfuse_attention
from imlp_audit.count.ledger import measure
from imlp_audit.count.measuring import Needed, begin_measuring
from imlp_audit.models.build import Builder
from imlp_audit.models.recipe import Recipe
from imlp_audit.processes.workers import open_pool
from tests.models.readings import RELEASED

NAMES = ("test_vit", "test_resnet", "test_convnext", "test_efficientnet")
NEEDED = {
    ModelKey(Recipe.of(timm=name), None): Need(work=name != "test_resnet") for name in NAMES
} | {ModelKey(Recipe.of(timm="test_vit", mlp={"imlp": {"ratio": 2}}), RELEASED): Need(work=True)}  # fmt: skip


ALL = list(NEEDED)


Send = Callable[[ModelFacts | Failure], None]


def _die(_needed: Needed, _send: Send) -> None:
    """Take models and end."""
    os._exit(1)


def _die_with_resnet(needed: Needed, send: Send) -> None:
    """Measure models; end if there is a certain one among them."""
    if any("resnet" in key.recipe.name for key in needed):
        os._exit(1)
    for _, facts in measure_models(needed, lambda _: None):
        send(facts)


@pytest.fixture
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "MANY", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("_few_are_many")
@pytest.mark.parametrize("jobs", [1, 2])
def test_facts_are_those_of_one_process_and_each_model_is_told_once(jobs: int) -> None:
    begun: list[str] = []
    with open_pool(jobs) as pool:
        found = list(begin_measuring(NEEDED, begun.append, pool))
        again = dict(begin_measuring({ALL[0]: NEEDED[ALL[0]]}, lambda _: None, pool))
    assert dict(found) == _in_one_process()
    assert len(found) == len(NEEDED)
    assert sorted(begun) == sorted(key.recipe.name for key in NEEDED)
    assert again == {ALL[0]: _in_one_process()[ALL[0]]}


@pytest.mark.slow
@pytest.mark.usefixtures("_few_are_many")
@pytest.mark.parametrize("work", [_die, _die_with_resnet])
def test_what_a_process_that_dies_leaves_is_done_here(
    monkeypatch: pytest.MonkeyPatch, work: Callable[[Needed, Send], None]
) -> None:
    monkeypatch.setattr(measuring, "_measure_share", work)
    with open_pool(2) as pool:
        assert dict(begin_measuring(NEEDED, lambda _: None, pool)) == _in_one_process()


@cache
def _in_one_process() -> dict[ModelKey, ModelFacts | Failure]:
    return dict(measure_models(NEEDED, lambda _: None))


def test_facts_hold_few_sums_of_a_model() -> None:
    key = ModelKey(Recipe.of(timm="test_vit"), None)
    facts = dict(measure_models({key: Need(work=True)}, lambda _: None))[key]
    with Builder().variant(key.recipe, None) as variant:
        whole = measure(unfuse_attention(variant.model), torch.empty(1, 3, 160, 160, device="meta"))
    assert isinstance(facts, ModelFacts)
    assert facts.ledger is not None
    assert facts.ledger.by_site == whole.by_site
    assert facts.ledger.within(facts.mlps).by_site == whole.within(facts.mlps).by_site
    assert len(facts.ledger.work) < len(whole.work) / 2
