"""What `verify` shows first: short enough for one screen, and a wrong number is on it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from rich.cells import cell_len

from imlp_audit.audit import Options, audit
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Document
from imlp_audit.report.formats import Surface
from imlp_audit.report.overview import first_screen
from imlp_audit.report.paper import summary_document
from imlp_audit.report.terminal import render_terminal
from imlp_audit.spec.library import load

from .running import call, spawn

SPECS = Path(__file__).parents[2] / "specs"
PAPERS = ("iffn_poster", "imlp", "mixer_gmlp_coursework", "mlp_mixer_notes", "resmlp")


@pytest.fixture(scope="module")
def bundled() -> AuditResult:
    """The numbers of all bundled papers; their equations take minutes and are counted like other checks."""
    selection = load([str(SPECS / paper) for paper in PAPERS])
    equations = tuple(f"{paper}/equations/*" for paper in PAPERS if paper != "mlp_mixer_notes")
    return audit(selection, Options(skip=equations), lambda total: lambda name: None)


def lines_of(document: Document, width: int) -> list[str]:
    return render_terminal(document, Surface(width)).splitlines()


@pytest.mark.slow
def test_a_bundled_paper_takes_forty_lines_and_all_take_150(bundled: AuditResult) -> None:
    assert tuple(paper.id for paper in bundled.papers) == PAPERS
    for paper in bundled.papers:
        assert len(lines_of(first_screen(bundled.of(paper), [paper.id]), 80)) <= 40
    assert len(lines_of(first_screen(bundled), 80)) <= 150


@pytest.mark.slow
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_everything_about_the_bundled_papers_fits(bundled: AuditResult, width: int) -> None:
    for document in (first_screen(bundled), summary_document(bundled)):
        lines = lines_of(document, width)
        # commands are not wrapped, so that they can be copied
        assert [line for line in lines if cell_len(line) > width and not line.startswith("imlp-audit ")] == []
        assert not any(line.endswith("…") for line in lines)


@pytest.mark.slow
def test_a_wrong_number_in_a_copy_of_a_paper_is_the_first_that_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "imlp"
    shutil.copytree(SPECS / "imlp", folder)
    table = folder / "table1.yaml"
    text = table.read_text(encoding="utf-8")
    assert text.count("73.66") == 1
    table.write_text(text.replace("73.66", "73.36"), encoding="utf-8")
    options = Options(skip=("imlp/equations/*",))
    lines = lines_of(first_screen(audit(load([str(folder)]), options, lambda total: lambda name: None)), 80)
    shown = " ".join(" ".join(lines).split())
    assert len(lines) <= 40
    assert "imlp/1/deit_b_imlp/params printed 73.36; " in shown
    assert shown.index("printed 73.36") < shown.index("findings, acknowledged")


def test_a_wrong_number_is_on_the_first_screen(here: Path) -> None:
    shown = " ".join(call("verify", "findings", "--no-progress").out.split())
    assert "findings: The paper findings" in shown
    assert "1 finding, not acknowledged (1 failing check) - " in shown
    assert "findings/1/b/top1.delta printed 50%; " in shown
    assert "Try next imlp-audit explain findings/1/b/top1.delta " in shown
    assert "imlp-audit verify findings --all" in shown


def test_advised_commands_trust_what_the_command_trusted(here: Path) -> None:
    commands = (
        call("verify", "specs/findings", "--trust-code", "--no-progress").out.partition("Try next\n")[2].splitlines()
    )
    assert [line for line in commands if "eval" not in line][:2] == [
        "imlp-audit explain findings/1/b/top1.delta specs/findings --trust-code",
        "imlp-audit verify specs/findings --trust-code --all",
    ]


def test_all_prints_every_number(here: Path) -> None:
    assert "Table 1: Models" not in call("verify", "clean", "--no-progress").out
    whole = call("verify", "clean", "--all", "--no-progress").out
    assert "5 717 416" in whole
    assert "Table 1: Models" in whole


def test_a_stream_is_as_wide_as_columns_says(papers: Path) -> None:
    shown = spawn("verify", "findings", "--all", "--no-progress", cwd=papers, COLUMNS="60").out
    assert max(map(cell_len, shown.splitlines())) <= 60


def test_a_listing_keeps_its_lines_for_programs(papers: Path) -> None:
    lines = spawn("list", cwd=papers, COLUMNS="20").out.splitlines()
    assert len(lines) > 5
    assert all(len(line.split()) == 2 for line in lines)


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (("--nosuch",), "imlp-audit"),
        (("verify", "--nosuch"), "imlp-audit verify"),
        (("explain",), "imlp-audit explain"),
        (("doctor", "imagenet", "--nosuch"), "imlp-audit doctor imagenet"),
    ],
)
def test_a_usage_error_names_the_command_whose_help_answers(arguments: tuple[str, ...], command: str) -> None:
    done = call(*arguments)
    assert done.code == 2
    assert done.err.endswith(f"Try `{command} --help`.\n")


@pytest.mark.parametrize("command", ["verify", "list", "solve", "doctor imagenet"])
def test_h_is_help(command: str) -> None:
    assert call(*command.split(), "-h") == call(*command.split(), "--help")


@pytest.mark.parametrize(("typed", "offered"), [("imlp-audit ver", "verify"), ("imlp-audit verify --str", "--strict")])
def test_a_shell_completes_commands_and_options(papers: Path, typed: str, offered: str) -> None:
    words = typed.split()
    asked = {"_IMLP_AUDIT_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    assert offered in spawn(cwd=papers, **asked).out.split()
