from __future__ import annotations

import json
from pathlib import Path

import pytest

from .papers import DEIT, IMLP, PARAMS, _reading, write
from .running import MODULE, call, spawn


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A paper that may be written to; the authors' block has 4 998 184 parameters, by a reading without a name here."""
    write(
        tmp_path,
        "own",
        PARAMS,
        f"{{id: base, label: DeiT-Ti, model: {DEIT}, printed: {{params: 5.72}}}}",
        f"{{id: block, label: + IMLP, baseline: base, model: {IMLP}, printed: {{params: 4.998184}}}}",
        readings=_reading("as_written"),
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path / "specs" / "own" / "paper.yaml"


@pytest.mark.slow
def test_solve_reports_what_explains_the_numbers(here: Path) -> None:
    outcome = call("solve", "imlp_row")
    assert (outcome.code, outcome.err) == (0, "")
    assert "printed numbers of imlp_row." in " ".join(outcome.out.split())
    assert "parameters: 1 of 2 numbers explained" in outcome.out
    assert "imlp_row/1/block/params" in outcome.out
    assert outcome.out.endswith("\n")


@pytest.mark.slow
def test_json_has_everything_and_equal_bytes_every_time(here: Path) -> None:
    first, second = (call("solve", "imlp_row/1", "-f", "json", "--no-cache") for _ in range(2))
    assert first.code == 0
    assert first.out == second.out
    record = json.loads(first.out)
    assert record["format"] == "imlp-audit/solve/2"
    assert record["selection"] == ["imlp_row/1"]
    assert record["answers"][0]["score"] == 1
    assert record["answers"][0]["contradicted"][0]["id"] == "imlp_row/1/block/params"


@pytest.mark.slow
def test_a_folder_is_its_paper(here: Path) -> None:
    assert call("solve", "specs/imlp_row").out == call("solve", "imlp_row").out


def test_the_only_paper_here_needs_no_target(own: Path) -> None:
    outcome = call("solve", "-f", "json")
    assert (outcome.code, json.loads(outcome.out)["selection"]) == (0, ["own"])


@pytest.mark.parametrize("targets", [(), ("imlp_row", "clean")])
def test_papers_are_solved_one_at_a_time(here: Path, targets: tuple[str, ...]) -> None:
    outcome = call("solve", *targets)
    assert (outcome.code, outcome.out) == (2, "")
    assert " papers found: " in outcome.err
    assert "imlp_row" in outcome.err


@pytest.mark.slow
def test_markdown_is_a_section_of_a_report(here: Path) -> None:
    outcome = call("solve", "imlp_row", "-f", "markdown")
    assert outcome.code == 0
    assert outcome.out.startswith("## What the numbers say the model was\n\nThe text of a paper leaves")


def test_an_unknown_paper_is_a_usage_error(here: Path) -> None:
    outcome = call("solve", "imlp_rwo")
    assert (outcome.code, outcome.out) == (2, "")
    assert "imlp_rwo" in outcome.err


@pytest.mark.parametrize("target", ["imlp_row/9", "imlp_row/1/block/flops", "imlp_row/1/*/top1"])
def test_an_empty_selection_says_what_to_do(here: Path, target: str) -> None:
    outcome = call("solve", target)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"imlp-audit: no printed number matches {target}; give a paper, paper/table or a glob of cells\n"
    )


def test_nothing_measurable_is_not_completed(here: Path) -> None:
    outcome = call("solve", "scores")
    assert (outcome.code, outcome.out) == (3, "")
    assert "nothing to solve: no printed parameters or FLOPs" in outcome.err
    assert "scores/1/a: the row has no model" in outcome.err


def test_rows_that_cannot_be_built_are_left_out_and_named(here: Path) -> None:
    outcome = call("solve", "broken")
    assert outcome.code == 0
    assert "2 of 3" not in outcome.out
    for row in ("typo", "no_mlp"):
        assert f"- broken/1/{row}: " in outcome.out


@pytest.mark.slow
def test_a_budget_of_nothing_says_that_it_is_not_exhaustive() -> None:
    outcome = call("solve", "imlp/2", "--budget", "1")
    assert outcome.code == 0
    words = " ".join(outcome.out.split())
    assert "NOT exhaustive: the budget ended the search, at most 10 possible" in words
    assert call("solve", "imlp/2", "--budget", "0").code == 2


@pytest.mark.slow
def test_torch_is_not_loaded_for_a_mistake(papers: Path) -> None:
    code = (
        "import sys; from imlp_audit.cli.main import make_app\n"
        "try: make_app()(['solve', 'nobody'], standalone_mode=False)\n"
        "except Exception: pass\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert spawn("-c", code, cwd=papers, command=MODULE[:1]).code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--budget",), "Option '--budget' requires an argument."),
        (("-f", "xml"), "Invalid value for '--format' / '-f': 'xml' is not one of 'rich', "),
    ],
)
def test_a_mistake_is_named_with_the_command_it_is_of(own: Path, arguments: tuple[str, ...], message: str) -> None:
    outcome = call("solve", "own", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"imlp-audit: {message}")
    assert outcome.err.endswith("\nTry `imlp-audit solve --help`.\n")
