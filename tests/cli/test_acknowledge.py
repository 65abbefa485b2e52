"""`imlp-audit acknowledge`: what it acknowledges, and what it leaves to a person."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from .running import call

PAPER = """\
paper: wrong
about: {title: A wrong paper, authors: A. Author, version: v1}
tables:
  - table: "1"
    title: Two models
    source: {section: "4"}
    columns:
      params: {measure: parameters, unit: M, heading: Parameters (M)}
    rows:
      - {id: alexnet, label: AlexNet, model: {torchvision: alexnet}, printed: {params: 61.2}}
      - {id: vgg11, label: VGG-11, model: {torchvision: vgg11}, printed: {params: 132.8}}
"""
FINDINGS = """\
paper: wrong
# a comment that stays
findings:
- id: too-large
  title: AlexNet is printed too large
  kind: ask
  why: It has 61 100 840 parameters.
  checks: [wrong/1/alexnet/params]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A paper with two wrong numbers, of which a finding explains one."""
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "paper.yaml").write_text(PAPER)
    (tmp_path / "wrong" / "findings.yaml").write_text(FINDINGS)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "wrong"


def audited(*options: str) -> tuple[int, dict[str, Any]]:
    done = call("verify", "wrong", "-f", "json", "--no-progress", *options)
    return done.code, json.loads(done.out)


def test_it_acknowledges_what_a_finding_covers_and_nothing_else(folder: Path) -> None:
    assert audited()[0] == 1
    shown = call("acknowledge", "wrong", "--dry-run", "--no-progress")
    assert (shown.code, "would be in" in shown.out, (folder / "findings.lock").exists()) == (0, True, False)
    done = call("acknowledge", "wrong", "--no-progress")
    assert (done.code, done.err) == (0, "wrote wrong/findings.lock\n")
    assert "- wrong/1/alexnet/params (too-large)" in done.out
    assert "Still failing: no finding covers these" in done.out
    assert "wrong/1/vgg11/params" in done.out
    locked = json.loads((folder / "findings.lock").read_text())
    assert locked["checks"] == {
        "wrong/1/alexnet/params": {"measured": "61100840", "printed": "61.2", "verdict": "differs"}
    }
    code, result = audited()
    assert (code, result["summary"]["differs"], result["summary"]["acknowledged"]) == (1, 2, 1)
    (finding,) = result["findings"]
    assert (finding["id"], finding["acknowledged"]) == ("too-large", True)
    (unexplained,) = result["unexplained"]
    assert unexplained["title"] == "Table 1, params: 1 printed number does not follow from the model"
    assert audited("--only", "wrong/1/alexnet/*")[0] == 0
    assert audited("--only", "wrong/1/alexnet/*", "--no-baseline")[0] == 1
    again = call("acknowledge", "wrong", "--no-progress")
    assert (again.err, "The lock stays as it is." in again.out) == ("", True)


def test_a_number_that_changes_fails_again_and_says_so_first(folder: Path) -> None:
    call("acknowledge", "wrong", "--no-progress")
    (folder / "paper.yaml").write_text(PAPER.replace("61.2", "61.3"))
    done = call("verify", "wrong", "--only", "wrong/1/alexnet/*", "--no-progress")
    assert done.code == 1
    screen = " ".join("\n".join(done.out.split("\n")[:12]).split())
    assert "Ask the authors (1) - F1 AlexNet is printed too large (fails the run)" in screen
    assert "1 acknowledged check has changed (wrong/1/alexnet/params)" in screen
    [check] = json.loads(call("verify", "wrong", "--only", "wrong/1/alexnet/*", "-f", "json").out)["checks"]
    assert "changed since findings.lock was written: '61.2' was printed then, '61.3' is printed now" in check["reason"]


def test_a_single_file_holds_its_findings_and_has_its_own_lock(folder: Path) -> None:
    (folder / "findings.yaml").unlink()
    (folder / "other.yaml").write_text(PAPER.replace("wrong", "other"))
    both = FINDINGS.partition("\n")[2].replace(
        "[wrong/1/alexnet/params]", "[wrong/1/alexnet/params, wrong/1/vgg11/params]"
    )
    (folder / "paper.yaml").write_text(PAPER + both)
    done = call("acknowledge", "wrong/paper.yaml", "--no-progress")
    assert done.err == "wrote wrong/paper.lock\n"
    assert call("verify", "wrong/paper.yaml", "-q").code == 0


def test_a_lock_of_another_version_is_refused_and_can_be_written_anew(folder: Path) -> None:
    lock = folder / "findings.lock"
    lock.write_text('{\n  "format": "imlp-audit/findings-lock/0"\n}\n')
    for command in ("verify", "lint"):
        done = call(command, "wrong")
        assert done.code == 2
        assert done.err.startswith("wrong/findings.lock:2:1: format imlp-audit/findings-lock/0 was written by another")
        assert "run `imlp-audit acknowledge wrong` again" in done.err
    assert call("acknowledge", "wrong", "--no-progress").code == 0
    assert call("lint", "wrong").code == 0


def test_a_finding_that_covers_a_check_that_passes_is_said_to_be_stale(folder: Path) -> None:
    (folder / "paper.yaml").write_text(PAPER.replace("61.2", "61.10"))
    screen = " ".join(call("verify", "wrong", "--no-progress").out.split())
    assert "1 finding covers checks that do not fail: wrong/findings.yaml:8 too-large." in screen
    reason = "wrong/1/alexnet/params does not fail; take it out of"
    for command in (("verify", "--all"), ("acknowledge",), ("verify", "-f", "markdown"), ("verify", "-f", "github")):
        assert reason in " ".join(call(*command[:1], "wrong", "--no-progress", *command[1:]).out.split())
    [found] = audited()[1]["stale_findings"]
    assert (found["id"], found["checks"]) == ("too-large", ["wrong/1/alexnet/params"])
    assert "stale_findings" not in audited("--only", "wrong/1/vgg11/*")[1]  # whether the other check fails is not known


def test_checks_that_fail_the_run_by_an_option_alone_are_counted(folder: Path) -> None:
    (folder / "findings.yaml").write_text(
        FINDINGS.replace("[wrong/1/alexnet/params]", "[wrong/1/alexnet/params, wrong/1/vgg11/params]")
    )
    call("acknowledge", "wrong", "--no-progress")
    assert "fails the run" not in call("verify", "wrong", "--no-progress").out
    for option in ((), ("--all",)):
        done = call("verify", "wrong", "--no-baseline", "--no-progress", *option)
        assert (done.code, done.err) == (1, "imlp-audit: --no-baseline: acknowledged checks fail the run (2)\n")


def test_the_lock_of_another_paper_is_answered_with_the_command_for_the_folder(folder: Path) -> None:
    call("acknowledge", "wrong", "--no-progress")
    moved = folder.rename(folder.with_name("my folder"))
    lock = (moved / "findings.lock").read_text().replace('"paper": "wrong"', '"paper": "other"')
    (moved / "findings.lock").write_text(lock)
    done = call("verify", "my folder")
    assert "it is the lock of 'other', not of 'wrong'; run `imlp-audit acknowledge 'my folder'`" in done.err
    assert call("acknowledge", "my folder", "--no-progress").code == 0
    assert call("lint", "my folder").code == 0


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('"measured": "61100840",', '"measured": "61100840",\n      "banana": 1,', '"banana"'),
        ('"verdict": "differs"', '"verdict": "banana"', '"verdict"'),
        (',\n      "verdict": "differs"', "", '"wrong/1/alexnet/params"'),  # what is missing has no line of its own
        ('"checks": {', '"checks": {\n    "wrong/1/vgg11/params": "banana",', '"wrong/1/vgg11/params"'),
        ('"paper": "wrong"', '"paper": "wrong" banana', '"paper"'),
    ],
)
def test_a_bad_entry_of_a_lock_is_pointed_to(folder: Path, old: str, new: str, line: str) -> None:
    call("acknowledge", "wrong", "--no-progress")
    lock = folder / "findings.lock"
    text = lock.read_text().replace(old, new)
    lock.write_text(text)
    place = next(at for at, one in enumerate(text.split("\n"), 1) if line in one)
    assert call("lint", "wrong").err.startswith(f"wrong/findings.lock:{place}:1: ")


def test_findings_beside_a_file_that_name_no_paper_are_reported(here: Path) -> None:
    (here / "lone").mkdir()
    shutil.copy(here / "specs" / "findings" / "paper.yaml", here / "lone" / "mine.yaml")
    (here / "lone" / "findings.yaml").write_text("findings: []\n", encoding="utf-8")
    for command, target in (("lint", "mine"), ("lint", "findings"), ("acknowledge", "mine")):
        assert "lone/findings.yaml:1:1: paper is missing" in call(command, f"lone/{target}.yaml").err


def test_a_finding_that_rests_on_evidence_is_shown_and_fails_nothing(folder: Path) -> None:
    """The number of the check and a quote are as acknowledged, then the number changes."""
    (folder / "paper.yaml").write_text(PAPER.replace("61.2", "61.10").replace("132.8", "132.86"))
    resting = FINDINGS.replace(
        "checks: [wrong/1/alexnet/params]", "evidence: [wrong/1/alexnet/params, {quote: Q, source: S}]"
    )
    (folder / "findings.yaml").write_text(resting)
    done = call("acknowledge", "wrong", "--no-progress")
    assert "1 acknowledged check has changed (wrong/1/alexnet/params)" not in done.out
    locked = json.loads((folder / "findings.lock").read_text())
    entry = {"measured": "61100840", "printed": "61.10", "verdict": "reproduced"}
    assert locked["evidence"] == {"too-large": {"checks": {"wrong/1/alexnet/params": entry}, "quotes": {"Q": "S"}}}
    code, result = audited()
    (finding,) = result["findings"]
    assert (code, finding["checks"], finding["evidence"]) == (
        0, [], ["wrong/1/alexnet/params", {"quote": "Q", "source": "S"}]
    )  # fmt: skip
    assert "stale" not in result
    for form in ("rich", "markdown", "html", "sarif", "github"):
        assert call("verify", "wrong", "-f", form, "--no-progress").code == 0
    assert "AlexNet is printed too large" in call("verify", "wrong", "--no-progress").out
    (folder / "paper.yaml").write_text(PAPER.replace("61.2", "61.1").replace("132.8", "132.86"))
    code, result = audited()
    assert (code, [one["check"] for one in result["stale"]]) == (0, ["wrong/1/alexnet/params"])
