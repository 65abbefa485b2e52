"""Help, version, list and lint; and that they start without a framework."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import imlp_audit
from imlp_audit.cli.main import _pick_app, make_app

from .running import MODULE, SCRIPT, call, spawn

COMMANDS = ("verify", "properties", "list", "lint", "report")
HEAVY = ("torch", "torchvision", "timm", "transformers", "fvcore", "numpy", "hypothesis", "cvxpy", "matplotlib")


@pytest.mark.slow
@pytest.mark.parametrize("command", [(SCRIPT,), MODULE], ids=["script", "module"])
def test_the_script_and_the_module_are_the_same_command(papers: Path, command: tuple[str, ...]) -> None:
    done = spawn("--version", cwd=papers, command=command)
    assert (done.code, done.out, done.err) == (0, f"imlp-audit {imlp_audit.__version__}\n", "")
    assert spawn("lint", "nosuch", cwd=papers, command=command).code == 2


def test_help_names_the_commands_and_the_exit_codes(here: Path) -> None:
    done = call("--help")
    assert (done.code, done.err) == (0, "")
    for word in (*COMMANDS, "0 clean", "1 findings", "2 unusable", "3 not completed", "130 interrupted"):
        assert word in " ".join(done.out.split())


def test_what_counts_nothing_loads_no_framework(papers: Path) -> None:
    program = (
        "import sys; from imlp_audit.cli.main import _pick_app\n"
        "for line in sys.argv[1:]:\n"
        "    sys.argv = ['imlp-audit', *line.split()]\n"
        "    _pick_app()(sys.argv[1:], standalone_mode=False)\n"
        f"    print(line, [name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    lines = ("--help", "--version", "verify --help", "list", "lint findings", "verify findings -q")
    done = spawn(*lines, cwd=papers, command=(sys.executable, "-c", program))
    assert done.err.splitlines() == [f"{line} []" for line in lines]


def test_the_commands_are_listed_as_they_are_described_without_being_imported(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import sys; from imlp_audit.cli.main import _pick_app; _pick_app(); sys.exit('pydantic' in sys.modules)"
    assert spawn(cwd=here, command=(sys.executable, "-c", code)).code == 0
    monkeypatch.setattr(sys, "argv", ["imlp-audit"])
    listed, described = (CliRunner().invoke(app, ["--help"]).output for app in (_pick_app(), make_app()))
    assert listed == described


def test_list_prints_every_id_with_its_place(here: Path) -> None:
    done = call("list", "findings", "scores")
    assert (done.code, done.err) == (0, "")
    assert [line.split() for line in done.out.splitlines()] == [
        ["findings/1/a/top1", "specs/findings/table1.yaml:8"],
        ["findings/1/b/top1", "specs/findings/table1.yaml:9"],
        ["findings/1/b/top1.delta", "specs/findings/table1.yaml:9"],
        ["scores/1/a/top1", "specs/scores/table1.yaml:8"],
    ]


def test_lint_reports_all_problems_of_all_papers_on_stderr(here: Path) -> None:
    for name in ("one", "two"):
        (here / name).mkdir()
        (here / name / "paper.yaml").write_text(f"paper: {name}\nabot: {{}}\n", encoding="utf-8")
    done = call("lint", "one", "two")
    assert (done.code, done.out) == (2, "")
    lines = done.err.splitlines()
    assert lines[0].startswith("one/paper.yaml:2:1: unknown key 'abot'; did you mean 'about'?")
    assert lines[1].startswith("two/paper.yaml:2:1: unknown key 'abot'; did you mean 'about'?")
    assert lines[2:] == ["imlp-audit: 2 problems in the specs"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("verify findings --jobs -1", "Invalid value for '--jobs' / '-j': Input should be greater than or equal to 0"),
        ("verify findings --jobs x", "Invalid value for '--jobs' / '-j': Input should be a valid integer"),
        ("properties imlp --examples 0", "Invalid value for '--examples': Input should be greater than or equal to 1"),
    ],
)
def test_a_value_out_of_range_is_named(here: Path, line: str, message: str) -> None:
    done = call(*line.split())
    assert done.code == 2
    assert done.err.startswith(f"imlp-audit: {message}")
