"""What `verify` shows first: short enough for one screen, and a wrong number is on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from .running import call, spawn


def test_a_wrong_number_is_on_the_first_screen(here: Path) -> None:
    shown = " ".join(call("verify", "findings", "--no-progress").out.split())
    assert "findings: The paper findings" in shown
    assert "Ask the authors (1) - F1 " in shown
    assert "findings/1/b/top1.delta printed 50%; " in shown
    assert "Try next imlp-audit explain findings/1/b/top1.delta " in shown
    assert "imlp-audit report findings --dir DIR" in shown


def test_advised_commands_trust_what_the_command_trusted(here: Path) -> None:
    commands = (
        call("verify", "specs/findings", "--trust-code", "--no-progress").out.partition("Try next\n")[2].splitlines()
    )
    assert [line for line in commands if "eval" not in line][:2] == [
        "imlp-audit explain findings/1/b/top1.delta specs/findings --trust-code",
        "imlp-audit report specs/findings --trust-code --dir DIR",
    ]


def test_all_prints_every_number(here: Path) -> None:
    assert "Table 1: Models" not in call("verify", "clean", "--no-progress").out
    whole = call("verify", "clean", "--all", "--no-progress").out
    assert "5 717 416" in whole
    assert "Table 1: Models" in whole


def test_a_stream_is_as_wide_as_columns_says(papers: Path) -> None:
    shown = spawn("verify", "findings", "--all", "--no-progress", cwd=papers, COLUMNS="60").out
    assert max(map(cell_len, shown.splitlines())) <= 60


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (("--nosuch",), "imlp-audit"),
        (("verify", "--nosuch"), "imlp-audit verify"),
        (("explain",), "imlp-audit explain"),
    ],
)
def test_a_usage_error_names_the_command_whose_help_answers(arguments: tuple[str, ...], command: str) -> None:
    done = call(*arguments)
    assert done.code == 2
    assert done.err.endswith(f"Try `{command} --help`.\n")


@pytest.mark.daily(1)
@pytest.mark.parametrize(("typed", "offered"), [("imlp-audit ver", "verify"), ("imlp-audit verify --str", "--strict")])
def test_a_shell_completes_commands_and_options(papers: Path, typed: str, offered: str) -> None:
    words = typed.split()
    asked = {"_IMLP_AUDIT_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    assert offered in spawn(cwd=papers, **asked).out.split()
