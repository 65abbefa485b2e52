from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from imlp_audit.cli.write_spec import write_found
from imlp_audit.errors import UsageError
from imlp_audit.records.solution import Answered, Solved, SolvedFirst
from imlp_audit.spec.library import load

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
    assert record["format"] == "imlp-audit/solve/1"
    assert record["selection"] == ["imlp_row/1"]
    assert record["answers"][0]["score"] == 1
    assert record["answers"][0]["contradicted"][0]["id"] == "imlp_row/1/block/params"


@pytest.mark.slow
def test_a_folder_is_its_paper(here: Path) -> None:
    assert call("solve", "specs/imlp_row").out == call("solve", "imlp_row").out


@pytest.mark.slow
def test_each_folder_is_its_own_paper(here: Path) -> None:
    both = json.loads(call("solve", "specs/imlp_row", "specs/clean", "-f", "json").out)
    assert both["selection"] == ["imlp_row", "clean"]


def test_the_only_paper_here_needs_no_target(own: Path) -> None:
    outcome = call("solve", "-f", "json")
    assert (outcome.code, json.loads(outcome.out)["selection"]) == (0, ["own"])


def test_several_papers_are_solved_together_only_if_asked(here: Path) -> None:
    outcome = call("solve")
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
    words = " ".join(outcome.out.split())
    assert "2 rows are not part of the search, for the reasons under Left out: broken/1/" in words.partition(" - ")[0]


@pytest.mark.slow
def test_a_budget_of_nothing_says_that_it_is_not_exhaustive() -> None:
    outcome = call("solve", "imlp/2", "--budget", "1")
    assert outcome.code == 0
    words = " ".join(outcome.out.split())
    assert "NOT exhaustive: the budget ended the search, at most 10 possible" in words
    assert call("solve", "imlp/2", "--budget", "0").code == 2


def test_write_adds_the_found_reading_and_nothing_else(own: Path) -> None:
    before = own.read_text(encoding="utf-8")
    outcome = call("solve", "own", "--write", "found")
    assert (outcome.code, outcome.err) == (0, "specs/own/paper.yaml: added the reading 'found'\n")
    after = own.read_text(encoding="utf-8")
    assert after.startswith(before)
    assert "found by solve: pinned by own/1/block/params; 2 of 2 numbers explained" in after
    assert call("lint", "own").code == 0
    verified = json.loads(call("verify", "own", "-f", "json", "--no-progress").out)
    block = next(check for check in verified["checks"] if check["id"] == "own/1/block/params")
    assert (block["verdict"], block["reading"]) == ("reproduced_under", "found")


@pytest.mark.slow
def test_what_has_a_name_is_not_written_again(own: Path) -> None:
    assert call("solve", "own", "--write", "found").code == 0
    written = own.read_bytes()
    outcome = call("solve", "own", "--write", "other")
    assert outcome.code == 2
    assert "nothing to write: the first solution is the reading 'found'" in outcome.err
    assert own.read_bytes() == written


def test_a_name_that_is_taken_leaves_the_file_as_it_was(own: Path) -> None:
    before = own.read_bytes()
    outcome = call("solve", "own", "--write", "as_written")
    assert outcome.code == 2
    assert "has reading 'as_written' already; give another name" in outcome.err
    assert own.read_bytes() == before


def test_a_reading_is_written_to_one_paper(here: Path) -> None:
    outcome = call("solve", "imlp_row", "clean", "--write", "found")
    assert (outcome.code, outcome.err) == (
        2,
        "imlp-audit: --write adds to one paper; give targets of one paper only\n",
    )


@pytest.mark.slow
def test_torch_is_not_loaded_for_a_mistake(papers: Path) -> None:
    code = (
        "import sys; from imlp_audit.cli.commands import make_app\n"
        "try: make_app()(['solve', 'nobody'], standalone_mode=False)\n"
        "except Exception: pass\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert spawn("-c", code, cwd=papers, command=MODULE[:1]).code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--write",), "Option '--write' requires an argument."),
        (("-f", "xml"), "Invalid value for '--format' / '-f': 'xml' is not one of 'rich', "),
    ],
)
def test_a_mistake_is_named_with_the_command_it_is_of(own: Path, arguments: tuple[str, ...], message: str) -> None:
    outcome = call("solve", "own", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"imlp-audit: {message}")
    assert outcome.err.endswith("\nTry `imlp-audit solve --help`.\n")


def test_an_option_is_not_taken_for_the_value_of_the_one_before(own: Path) -> None:
    before = own.read_bytes()
    outcome = call("solve", "own", "--write", "--no-progress")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--write takes a value, and '--no-progress' looks like an option: give the value right after" in outcome.err
    assert "Try `imlp-audit solve --help`." in outcome.err
    for option in ("--only", "--output", "-o"):
        outcome = call("verify", "own", option, "--strict")
        assert (outcome.code, "takes a value" in outcome.err) == (2, True)
    assert own.read_bytes() == before


def test_a_name_that_no_spec_can_hold_is_refused_before_the_search(own: Path) -> None:
    outcome = call("solve", "own", "--write", "_Mine")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--write: '_Mine' is not a slug" in outcome.err


@pytest.mark.parametrize("name", ["own", "specs/own", "specs/own/paper.yaml"])
def test_a_target_in_place_of_the_name_of_a_solution_is_answered(
    own: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = own.parents[1] / "second.yaml"
    second.write_text(own.read_text(encoding="utf-8").replace("own", "second", 1), encoding="utf-8")
    monkeypatch.chdir(own.parents[2])
    outcome = call("solve", "--write", name)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"--write takes a name for the solution: write `imlp-audit solve {name} --write found`" in outcome.err


def test_a_folder_anywhere_is_written_to(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own.parent)
    assert call("solve", ".", "--write", "found").err == "paper.yaml: added the reading 'found'\n"


@pytest.mark.parametrize(
    ("declared", "found", "written"),
    [
        ("[half_up]", ("truncation", "half_up"), {"parameters": "half_up, truncation"}),
        ("[half_up, truncation]", ("truncation", "half_up"), {"parameters": "half_up, truncation"}),
        ("[half_up]", ("truncation", "ceiling"), {"parameters": "half_up, truncation", "flops": "half_up, ceiling"}),
        ("[half_up]", ("truncation", None), {"parameters": "half_up, truncation"}),
        ("[half_up, truncation]", ("truncation", "truncation"), None),
        ("[half_up]", ("half_up", "half_up"), None),
    ],
)  # fmt: skip
def test_rounding_rules_that_the_spec_leaves_out_are_written(
    own: Path, declared: str, found: tuple[str, str | None], written: dict[str, str] | None
) -> None:
    own.write_text(own.read_text().replace("  readings:\n", f"  rounding: {declared}\n  readings:\n"))
    first = SolvedFirst(
        reading={}, nearest="as_written", apart=0, weights={}, parameter_rounding=found[0], flops_rounding=found[1]
    )
    answer = Answered(
        what="both", score=2, of=2, solutions=1, exhaustive=True, bound=2, readings={}, named=(), first=first, axes=()
    )
    solved = Solved(selection=("own",), left_out={}, answers=(answer,), order="the first")
    (paper,) = load(["own"]).papers
    if written is None:
        with pytest.raises(UsageError, match="nothing to write"):
            write_found(paper, "mine", solved)
        return
    write_found(paper, "mine", solved)
    lines = "".join(f"    {measure}: [{rules}]\n" for measure, rules in written.items())
    assert f"  rounding_of:\n{lines}" in own.read_text()
    (paper,) = load(["own"]).papers
    with pytest.raises(UsageError, match="nothing to write"):  # what was written says it all
        write_found(paper, "mine", solved)


def test_a_spec_that_nothing_can_be_added_to_is_refused_before_the_search(own: Path) -> None:
    about = "about: {title: T, authors: A, version: v1}"
    own.write_text(re.sub(r"^about:\n(?:  .*\n)*", f"{about}\n", own.read_text(), flags=re.MULTILINE))
    assert about in own.read_text()
    done = call("solve", str(own), "--write", "mine")
    assert done.code == 2
    assert "no `about:` in a block of lines of its own" in done.err
    assert done.out == ""


@pytest.mark.parametrize(("score", "written"), [(3, False), (4, False), (5, True)])
def test_a_counter_that_luck_does_as_well_is_not_written(own: Path, score: int, written: bool) -> None:
    """Five numbers, of which the same search explains four where their digits are shifted."""
    first = SolvedFirst(reading={}, apart=0, weights={"linear": 1})
    answer = Answered(
        what="flops", flops=("own/1/base/params",), score=score, of=5, solutions=1, exhaustive=True, bound=score,
        readings={}, named=(), first=first, axes=(), null=((1, 4), (0, 2)),
    )  # fmt: skip
    solved = Solved(selection=("own",), left_out={}, answers=(answer,), order="the first")
    (paper,) = load(["own"]).papers
    before = own.read_text()
    if written:
        write_found(paper, "mine", solved)
    else:
        with pytest.raises(UsageError, match=f"explains {score} of 5 numbers, and the same search explains up to 4 of"):
            write_found(paper, "mine", solved)
    assert ("mine" in own.read_text(), own.read_text() == before) == (written, not written)
