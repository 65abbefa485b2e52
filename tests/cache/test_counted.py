"""Facts from the store are the facts that were measured, and what they depend on is in their key."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.cache.measured import keep_model, narrow, recall_models
from imlp_audit.cache.store import MEASURING, TESTING, Store, digest_of, fingerprint_folder
from imlp_audit.count.build_and_count import measure_models
from imlp_audit.count.facts import Failure, ModelFacts, ModelKey, Need
from imlp_audit.models.available_hosts import Timm
from imlp_audit.models.own import PythonModule
from imlp_audit.models.readings import PRINTED
from imlp_audit.models.recipe import Recipe

PROJECT = Path(__file__).parent.parent.parent
KEY = ModelKey(Recipe(host=Timm(architecture="resnet10t"), image=(32, 32)), None)
NEEDS = (Need(), Need(work=True), Need(batches=frozenset({1})), Need(True, frozenset({1, 2})))


@pytest.fixture(scope="module")
def measured() -> dict[Need, ModelFacts]:
    """The facts of a small model, measured anew for each need."""
    facts = {need: dict(measure_models({KEY: need}, lambda _: None))[KEY] for need in NEEDS}
    return {need: found for need, found in facts.items() if isinstance(found, ModelFacts)}


@pytest.mark.parametrize("need", NEEDS)
def test_kept_facts_are_the_measured_ones(need: Need, measured: dict[Need, ModelFacts], tmp_path: Path) -> None:
    keep_model(Store(tmp_path), KEY, measured[need])
    assert recall_models(Store(tmp_path), {KEY: need}) == ({KEY: measured[need]}, {})


def test_less_is_answered_from_more_and_more_keeps_what_was_there(
    measured: dict[Need, ModelFacts], tmp_path: Path
) -> None:
    nothing, work, memory, everything = NEEDS
    store = Store(tmp_path)
    keep_model(store, KEY, measured[everything])
    for need in NEEDS:
        assert recall_models(store, {KEY: need})[0] == {KEY: measured[need]}
        assert narrow(measured[everything], need) == measured[need]
    other = Store(tmp_path / "other")
    keep_model(other, KEY, measured[work])
    assert recall_models(other, {KEY: memory}) == ({}, {KEY: work | memory})
    assert recall_models(other, {KEY: nothing})[0] == {KEY: measured[nothing]}


def test_other_models_are_not_answered(measured: dict[Need, ModelFacts], tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_model(store, KEY, measured[NEEDS[0]])
    larger = KEY.recipe.model_copy(update={"image": (64, 64)})
    other_host = KEY.recipe.model_copy(update={"host": Timm(architecture="resnet14t")})
    for key in (ModelKey(larger, None), ModelKey(other_host, None), ModelKey(KEY.recipe, PRINTED)):
        assert recall_models(store, {key: Need()}) == ({}, {key: Need()})


def test_a_failure_and_code_from_outside_are_not_kept(measured: dict[Need, ModelFacts], tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_model(store, KEY, Failure("no memory left"))
    host = PythonModule.model_construct(file="net.py", name="Net", tokens=4, folder=tmp_path)
    keep_model(store, ModelKey(KEY.recipe.model_copy(update={"host": host}), None), measured[NEEDS[0]])
    assert list(tmp_path.iterdir()) == []


def test_a_key_holds_all_the_code_that_a_measurement_comes_from() -> None:
    """The import order lets no part see one above it: these are `count` and `claims`, and all below."""
    layers = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    names = [set(layer.split(" | ")) for layer in layers["contracts"][0]["layers"]]
    testing = names.index({"claims"})
    assert set(TESTING) == set().union(*names[testing:])
    assert set(MEASURING) == set().union(*names[testing + 1 :])


@given(st.lists(st.text(max_size=3), max_size=4), st.lists(st.text(max_size=3), max_size=4))
def test_equal_digests_are_of_equal_parts(one: list[str], other: list[str]) -> None:
    try:
        assert (digest_of(one) == digest_of(other)) == (one == other)
    except UnicodeEncodeError:
        assert any("\ud800" <= letter <= "\udfff" for text in (*one, *other) for letter in text)


def test_any_change_of_python_in_a_folder_changes_its_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    file = tmp_path / "deep" / "a.py"
    seen = {fingerprint_folder(tmp_path)}
    for text in ("x = 1\n", "x = 2\n", ""):
        file.write_text(text)
        seen.add(fingerprint_folder(tmp_path))
    file.rename(tmp_path / "b.py")
    assert len({*seen, fingerprint_folder(tmp_path)}) == 5
