"""Many models are counted by several processes as by one, also where one of these dies."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

import pytest
import torch

from imlp_audit.count import parallel
from imlp_audit.count.facts import Failure, ModelFacts, ModelKey, Need
from imlp_audit.count.fvcore import unfuse_attention
from imlp_audit.count.ledger import measure
from imlp_audit.count.models import measure_models
from imlp_audit.count.parallel import WORTH_A_PROCESS, Needed, counting
from imlp_audit.models.build import Builder
from imlp_audit.models.recipe import Recipe
from imlp_audit.processes.workers import Pool
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
    monkeypatch.setattr(parallel, "WORTH_A_PROCESS", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("_few_are_many")
@pytest.mark.parametrize("jobs", [1, 2])
def test_facts_are_those_of_one_process_in_order_and_each_model_is_told_once(jobs: int) -> None:
    begun: list[str] = []
    with counting(jobs) as counter:
        found = list(counter.measure(NEEDED, begun.append))
        again = dict(counter.measure({ALL[0]: NEEDED[ALL[0]]}, lambda _: None))
    assert found == [(key, facts) for key in _with_their_hosts() for facts in [_in_one_process()[key]]]
    assert sorted(begun) == sorted(key.recipe.name for key in NEEDED)
    assert again == {ALL[0]: _in_one_process()[ALL[0]]}


@pytest.mark.slow
@pytest.mark.usefixtures("_few_are_many")
@pytest.mark.parametrize("work", [_die, _die_with_resnet])
def test_what_a_process_that_dies_leaves_is_done_here(
    monkeypatch: pytest.MonkeyPatch, work: Callable[[Needed, Send], None]
) -> None:
    monkeypatch.setattr(parallel, "_measure", work)
    with counting(2) as counter:
        assert dict(counter.measure(NEEDED, lambda _: None)) == _in_one_process()


@cache
def _in_one_process() -> dict[ModelKey, ModelFacts | Failure]:
    return dict(measure_models(NEEDED, lambda _: None))


def _with_their_hosts() -> list[ModelKey]:
    """Return the models in their order, but the variant beside its host."""
    return [ALL[0], ALL[-1], *ALL[1:-1]]


@pytest.mark.slow
def test_a_process_that_nobody_reads_ends_quietly(capfd: pytest.CaptureFixture[str]) -> None:
    pool = Pool(2, parallel._import_torch)
    for worker in pool._workers:
        worker.pipe.send((parallel._measure, NEEDED))
        worker.pipe.close()
    pool._workers[0].process.join(100)
    assert pool._workers[0].exit_code == 0
    assert "Traceback" not in capfd.readouterr().err


def test_few_models_are_not_worth_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "Pool", _Asked)
    assert [_processes(hosts, jobs) for hosts, jobs in ((1, 9), (2, 0), (2, 1), (3, 1), (3, 9), (9, 3))] == [
        0, 0, 2, 2, 3, 4
    ]  # fmt: skip


class _Asked(Pool):
    """Processes that are never started: it says how many they are."""

    def __init__(self, processes: int, _: object) -> None:
        self.processes = processes

    def end(self) -> None:
        pass


def _processes(times: int, jobs: int) -> int:
    """Return how many processes count so many times the hosts that are worth one; 0 if this one does."""
    recipes = [Recipe.of(timm=f"model_{number}") for number in range(times * WORTH_A_PROCESS)]
    with counting(jobs) as counter:
        pool = counter.processes_for([ModelKey(recipe, None) for recipe in recipes])
    return pool.processes if isinstance(pool, _Asked) else 0


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
