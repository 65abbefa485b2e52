"""Many models are counted by several processes as by one, also where one of these dies."""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing.connection import Connection

import pytest
import torch

from imlp_audit.count import sharing
from imlp_audit.count.facts import ModelFacts, ModelKey, Need
from imlp_audit.count.fvcore import unfuse_attention
from imlp_audit.count.ledger import measure
from imlp_audit.count.models import measure_models
from imlp_audit.count.sharing import WORTH_A_PROCESS, measure_shared, processes_worth
from imlp_audit.models.build import Builder
from imlp_audit.models.recipe import Recipe
from imlp_audit.processes.workers import start_copies
from tests.models.readings import RELEASED

NAMES = ("test_vit", "test_resnet", "test_convnext", "test_efficientnet")
NEEDED = {
    ModelKey(Recipe.of(timm=name), None): Need(work=name != "test_resnet") for name in NAMES
} | {ModelKey(Recipe.of(timm="test_vit", mlp={"imlp": {"ratio": 2}}), RELEASED): Need(work=True)}  # fmt: skip


def _die(pipe: Connection) -> None:
    """Take a share and end."""
    pipe.recv()


def _die_with_resnet(pipe: Connection) -> None:
    """Take a share; end if it has a certain model, and else measure it, which takes longer."""
    share: dict[ModelKey, Need] = pipe.recv()
    if any(key.recipe.host.kin() == "resnet" for key in share):
        os._exit(1)
    for _, facts in measure_models(share, lambda _: None):
        pipe.send(facts)


@pytest.mark.slow
def test_facts_are_those_of_one_process_and_each_model_is_told_once() -> None:
    begun: list[str] = []
    assert dict(measure_shared(NEEDED, begun.append, 2)) == dict(measure_models(NEEDED, lambda _: None))
    assert sorted(begun) == sorted(key.recipe.name for key in NEEDED)


@pytest.mark.slow
@pytest.mark.parametrize("serve", [_die, _die_with_resnet])
def test_what_a_process_that_dies_leaves_is_done_here(
    monkeypatch: pytest.MonkeyPatch, serve: Callable[[Connection], None]
) -> None:
    monkeypatch.setattr(sharing, "_serve", serve)
    assert dict(measure_shared(NEEDED, lambda _: None, 3)) == dict(measure_models(NEEDED, lambda _: None))


@pytest.mark.slow
def test_a_process_that_nobody_reads_ends_quietly(capfd: pytest.CaptureFixture[str]) -> None:
    started = start_copies(sharing._serve, sharing._import_torch, 2)
    for worker in started:
        worker.pipe.send(NEEDED)
        worker.pipe.close()
    started[0].process.join(100)
    assert started[0].exit_code == 0
    assert "Traceback" not in capfd.readouterr().err


def test_few_models_are_not_worth_a_process() -> None:
    many = {ModelKey(Recipe.of(timm=f"model_{number}"), None): Need() for number in range(3 * WORTH_A_PROCESS)}
    assert [processes_worth(NEEDED, 3), processes_worth(many, 3), processes_worth(many, 1)] == [0, 2, 1]


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
