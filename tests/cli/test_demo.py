"""The demo: three planted errors, each caught, and mended by the edit that is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.cli.init import write_paper
from imlp_audit.pipeline import audit_targets
from imlp_audit.records.check import FAILS, Verdict
from tests.cli.running import Outcome, call

COUNT, CHANGE = "demo/1/deit_s/params", "demo/1/deit_s/speed.delta"
EQUATION = "demo/equations/relu_loses_nothing"
FAILING = (*FAILS, Verdict.ERROR)
EDITS = {
    "paper.yaml": (("22.50", "22.05"), ("-69.2%", "-62.9%")),
    "claims/sec2.py": (("+ ReLU(-x)", "- ReLU(-x)"), ("+ relu(", "- relu(")),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the demo's paper."""
    write_paper(tmp_path / "d")
    return tmp_path / "d"


def failing(folder: Path, *, trust: bool = False) -> set[str]:
    """Audit the paper, and return what fails."""
    return {check.id for check in audit_targets(folder, trust_code=trust).checks if check.verdict in FAILING}


def mend(folder: Path, file: str) -> None:
    """Edit a file as the demo says."""
    text = (folder / file).read_text(encoding="utf-8")
    for wrong, right in EDITS[file]:
        assert text.count(wrong) == 1
        text = text.replace(wrong, right)
    (folder / file).write_text(text, encoding="utf-8")


def test_the_numbers_that_fail_are_the_planted_ones(folder: Path) -> None:
    assert failing(folder) == {COUNT, CHANGE}  # without trust the equation isn't run
    mend(folder, "paper.yaml")
    assert failing(folder) == set()


@pytest.mark.slow
def test_mending_the_equation_makes_its_check_pass(folder: Path) -> None:
    assert failing(folder, trust=True) == {COUNT, CHANGE, EQUATION}
    mend(folder, "claims/sec2.py")
    assert failing(folder, trust=True) == {COUNT, CHANGE}


def test_what_is_mended_in_the_spec_is_what_the_paper_prints(folder: Path) -> None:
    paper = (folder / "paper.tex").read_text(encoding="utf-8")
    numbers = {wrong.strip("%") for wrong, _ in EDITS["paper.yaml"]}
    assert {number: paper.count(number) for number in numbers} == dict.fromkeys(numbers, 1)
    assert r"x = \mathrm{ReLU}(x) + \mathrm{ReLU}(-x)" in paper


@pytest.mark.slow
def test_each_error_is_shown_with_what_mends_it(tmp_path: Path) -> None:
    done = call("demo", str(tmp_path), "--no-progress", COLUMNS="80")
    assert (done.code, done.err) == (0, "")
    shown = " ".join(done.out.split())
    for check in (COUNT, CHANGE, EQUATION):
        assert check in shown
    for file, edits in EDITS.items():
        assert file in shown
        assert all(f"{wrong} to {right}" in shown for wrong, right in edits)


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name, shown in (((), "."), (("notes.txt",), "notes.txt")):
        refusal = f"imlp-audit: {shown} is not an empty folder; name a new one\n"
        assert call("demo", *name) == Outcome(2, "", refusal)
    assert call("demo", "notes.txt/d").code == 3
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
