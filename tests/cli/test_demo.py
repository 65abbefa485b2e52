"""The demo: three planted errors, each caught by the check that is named, and mended by the edit that is named."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from imlp_audit.cli.demo import PLANTED, PlantedError, write_paper
from tests.cli.running import Outcome, call, spawn

NUMBERS = [one for one in PLANTED if one.file.endswith(".yaml")]
EQUATION = next(one for one in PLANTED if one not in NUMBERS)
FAILING = ("differs", "inconsistent", "error")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the demo's paper."""
    write_paper(tmp_path / "d")
    return tmp_path / "d"


def failing(folder: Path, *options: str) -> set[str]:
    """Audit the paper; return what fails, and print why."""
    done = call("verify", str(folder), *options, "-f", "json", "--no-progress")
    found = [check for check in json.loads(done.out)["checks"] if check["verdict"] in FAILING]
    print(*((check["id"], check["verdict"], check["reason"]) for check in found), done.err, sep="\n")
    return {check["id"] for check in found}


def mend(folder: Path, one: PlantedError) -> None:
    """Edit the file as the demo says."""
    path = folder / one.file
    text = path.read_text(encoding="utf-8")
    for wrong, right in one.edits:
        assert text.count(wrong) == 1
        text = text.replace(wrong, right)
    path.write_text(text, encoding="utf-8")


def test_the_numbers_that_fail_are_the_planted_ones(folder: Path) -> None:
    assert failing(folder) == {one.check for one in NUMBERS}  # without trust the equation isn't run


@pytest.mark.slow
def test_mending_the_equation_makes_its_check_pass(folder: Path) -> None:
    assert failing(folder, "--trust-code") == {one.check for one in PLANTED}
    mend(folder, EQUATION)
    assert failing(folder, "--trust-code") == {one.check for one in NUMBERS}


def test_what_is_mended_in_the_spec_is_what_the_paper_prints(folder: Path) -> None:
    paper = (folder / "paper.tex").read_text(encoding="utf-8")
    numbers = {wrong.strip("%") for one in NUMBERS for wrong, _ in one.edits}
    assert {number: paper.count(number) for number in numbers} == dict.fromkeys(numbers, 1)
    assert r"x = \mathrm{ReLU}(x) + \mathrm{ReLU}(-x)" in paper


@pytest.mark.slow
def test_each_error_is_shown_as_it_was_caught(tmp_path: Path) -> None:
    done = spawn("demo", cwd=tmp_path, COLUMNS="80")
    assert (done.code, done.err) == (0, "")
    assert "The audit caught 3 of 3 errors." in done.out
    for one in PLANTED:
        assert f"ask      {one.explain_command(Path())}\n" in done.out
    paper = (tmp_path / "paper.yaml").read_text(encoding="utf-8").splitlines()
    for line, wrong, right in re.findall(r"paper\.yaml line (\d+): change (\S+) to (\S+)\n", done.out):
        assert wrong in paper[int(line) - 1]
        assert (wrong, right) in [edit for one in NUMBERS for edit in one.edits]
    found = call("explain", NUMBERS[1].check, str(tmp_path), "--no-progress")
    assert (found.code, found.out.splitlines()[0]) == (0, f"{NUMBERS[1].check}: inconsistent")


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name, shown in (((), "."), (("notes.txt",), "notes.txt")):
        refusal = f"imlp-audit: {shown} is not an empty folder; name a new one\n"
        assert call("demo", *name) == Outcome(2, "", refusal)
    assert call("demo", "notes.txt/d").code == 3
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
