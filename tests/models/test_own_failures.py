"""A model of one's own that goes wrong is an error of its own in every command that runs it, within a time limit."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from imlp_audit.bench import run as benching
from imlp_audit.bench.planning import Setup, plan_comparisons
from imlp_audit.count import measuring
from imlp_audit.count.build_and_count import run_once
from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.count.facts import Failure, ModelKey
from imlp_audit.count.measuring import rehearse
from imlp_audit.errors import BuildError
from imlp_audit.evaluate.weights import Weights, with_weights
from imlp_audit.explain.breakdown import dissect
from imlp_audit.inspect.matching_rows import find_candidates
from imlp_audit.models.recipe import Recipe
from imlp_audit.processes.workers import yield_apart
from imlp_audit.records.check import Verdict
from imlp_audit.spec.load import Selection, load
from imlp_audit.spec.paper import find_row

HERE = Path(__file__).parent
SPEC = """\
paper: own
about: {title: Nets, authors: A. Author, version: v1, flops: [macs]}
tables:
  - table: "1"
    title: Nets
    source: {section: "4"}
    columns:
      params: {measure: parameters, unit: "", heading: Parameters}
      cpu: {measure: throughput, unit: imgs/s, heading: On CPU, needs: an abacus}
    rows:
"""
ROW = """\
      - id: {id}
        label: {id}
        model: {{python: {{file: own_nets.py, name: {name}, arguments: {arguments}, input: [3, 16, 16]}}}}
        printed: {{params: 314, cpu: 1.0}}
"""
ROWS = {
    "fine": ("SmallNet", "{}"),
    "leaves": ("leave", "{}"),
    "hangs": ("never_end", "{}"),
    "odd": ("Odd", "{what: text}"),
}
ENDED = "own_nets.py: its code ended the process (exit code 7)"
TEXT = "own_nets.py: TypeError: forward of Odd returns str, without a tensor"
Given = TypeVar("Given")
Made = TypeVar("Made")
Work = Callable[[Given], Iterable[Made]]


def own(name: str, arguments: dict[str, object] | None = None, folder: Path = HERE) -> ModelKey:
    fields = {"file": "own_nets.py", "name": name, "arguments": arguments or {}, "input": (3, 16, 16)}
    return ModelKey(Recipe.of(python={**fields, "folder": folder}), None)


def paper(folder: Path, *names: str) -> Selection:
    """Write a paper of these rows and read it, trusted."""
    shutil.copy(HERE / "own_nets.py", folder)
    rows = (ROW.format(id=name, name=ROWS[name][0], arguments=ROWS[name][1]) for name in names)
    (folder / "own.yaml").write_text(SPEC + "".join(rows), encoding="utf-8")
    return load([str(folder / "own.yaml")], trust_code=True)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each model ten seconds."""

    def soon(work: Work[Given, Made], given: Given, _patience: float) -> Generator[Made]:
        return yield_apart(work, given, 10)

    monkeypatch.setattr(measuring, "yield_apart", soon)


def test_a_model_is_run_on_numbers_before_it_is_timed_or_evaluated() -> None:
    assert run_once(own("SmallNet")) is None
    assert run_once(own("Odd", {"what": "values"})) is None  # which a model without values cannot do
    assert run_once(own("Odd", {"what": "text"})) == Failure(TEXT)


def test_models_of_packages_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "yield_apart", None)
    assert rehearse([ModelKey(Recipe.of(timm="test_vit"), None)]) == {}


def timed(selection: Selection) -> dict[str, Any]:
    found = selection.papers[0]
    wanted = plan_comparisons(found, found.tables[0], "cpu")
    result = benching.bench(found, wanted, Setup(batch=1, pairs=6), lambda _: lambda _: None)
    return {check.id.split("/")[2]: check for check in result.checks}


def test_a_model_that_fails_when_tried_is_not_built_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benching, "rehearse", lambda keys: dict.fromkeys(keys, Failure(ENDED)))
    check = timed(paper(tmp_path, "leaves"))["leaves"]
    assert (check.verdict, check.reason) == (Verdict.ERROR, ENDED)


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_bench_times_the_others(tmp_path: Path) -> None:
    checks = timed(paper(tmp_path, "leaves", "hangs", "odd", "fine"))
    reasons = {name: check.reason for name, check in checks.items() if check.verdict is Verdict.ERROR}
    assert {name: re.sub(r"(?<=py):\d+", "", reason) for name, reason in reasons.items()} == {
        "leaves": ENDED,
        "hangs": "own_nets.py: its code did not end within 10 s",
        "odd": TEXT,
    }
    assert checks["fine"].measured is not None


@pytest.mark.slow
def test_explain_names_it_and_runs_the_code_as_it_is_now(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"^own_nets\.py: its code ended the process \(exit code 7\)$"):
        dissect(own("leave").recipe, None)
    file = tmp_path / "own_nets.py"
    for width in (8, 16):
        file.write_text(
            (HERE / "own_nets.py").read_text(encoding="utf-8").replace("int = 8", f"int = {width}"), "utf-8"
        )
        body = dissect(own("SmallNet", folder=tmp_path).recipe, None)
        assert sum(body.by_part(ParameterConvention.ALL).values()) == width * 28 + 10 * (width + 1)


@pytest.mark.slow
def test_inspect_finds_the_others(tmp_path: Path) -> None:
    selection = paper(tmp_path, "leaves", "fine")
    held = {"conv.weight": (8, 3, 3, 3), "conv.bias": (8,), "fc.weight": (10, 8), "fc.bias": (10,)}
    answer = find_candidates(held, selection, lambda _: lambda _: None)
    assert [one.places for one in answer.exact] == [("own/1/fine",)]


@pytest.mark.slow
def test_eval_refuses_it(tmp_path: Path) -> None:
    row = find_row(paper(tmp_path, "leaves").papers, "own/1/leaves")
    assert row is not None
    loaded = with_weights(Weights(row, tmp_path / "absent.pth"))
    with pytest.raises(BuildError, match=re.escape(ENDED)), loaded:
        pass
