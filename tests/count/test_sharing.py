"""Many models are counted by several processes as by one, also where one of these dies."""

from __future__ import annotations

from multiprocessing.connection import Connection

import pytest

from imlp_audit.count import sharing
from imlp_audit.count.facts import ModelKey, Need
from imlp_audit.count.models import measure_models
from imlp_audit.count.sharing import WORTH_A_PROCESS, measure_shared, processes_worth
from imlp_audit.models.recipe import Recipe
from imlp_audit.processes.workers import start_worker
from tests.models.readings import RELEASED

NAMES = ("test_vit", "test_resnet", "test_convnext", "test_efficientnet")
NEEDED = {
    ModelKey(Recipe.of(timm=name), None): Need(work=name != "test_resnet") for name in NAMES
} | {ModelKey(Recipe.of(timm="test_vit", mlp={"imlp": {"ratio": 2}}), RELEASED): Need(work=True)}  # fmt: skip


def _die(pipe: Connection) -> None:
    """Take a share and end."""
    pipe.recv()


@pytest.mark.slow
def test_facts_are_those_of_one_process_and_each_model_is_told_once() -> None:
    begun: list[str] = []
    assert dict(measure_shared(NEEDED, begun.append, 2)) == dict(measure_models(NEEDED, lambda _: None))
    assert sorted(begun) == sorted(key.recipe.name for key in NEEDED)


@pytest.mark.slow
def test_what_a_process_that_dies_leaves_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "start_worker", lambda _: start_worker(_die))
    assert dict(measure_shared(NEEDED, lambda _: None, 1)) == dict(measure_models(NEEDED, lambda _: None))


def test_few_models_are_not_worth_a_process() -> None:
    many = {ModelKey(Recipe.of(timm=f"model_{number}"), None): Need() for number in range(3 * WORTH_A_PROCESS)}
    assert [processes_worth(NEEDED, 3), processes_worth(many, 3), processes_worth(many, 1)] == [0, 2, 1]
