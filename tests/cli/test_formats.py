"""The formats for other programs, from the command line: where they are offered, and what GitHub gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .running import call

ID = "findings/1/b/top1.delta"


def test_the_ending_of_a_file_says_its_format(here: Path) -> None:
    files = ("a.sarif", "b.sarif.json", "github:notes")
    done = call("verify", "findings", "-q", *(part for file in files for part in ("-o", file)))
    assert (done.code, done.out, done.err) == (1, "", "")
    written = [(here / file.rpartition(":")[2]).read_text(encoding="utf-8") for file in files]
    assert written[0] == written[1]
    (found,) = json.loads(written[0])["runs"][0]["results"]
    place = found["locations"][0]["physicalLocation"]
    uri, line = place["artifactLocation"]["uri"], place["region"]["startLine"]
    assert "delta: {top1: 50%}" in (here / uri).read_text(encoding="utf-8").splitlines()[line - 1]
    assert written[2].startswith(f"::error file={uri},line={line},title=findings%3A ")


def test_github_prints_annotations_and_adds_the_first_screen_to_the_page_of_the_step(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = here / "summary"
    page.write_text("Before.\n\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    done = call("verify", "findings", "-f", "github", "--no-progress")
    assert done.code == 1
    assert [line.partition(" ")[0] for line in done.out.splitlines()] == ["::error", "::notice"]
    written = page.read_text(encoding="utf-8")
    assert written.startswith("Before.\n\n# findings: The paper findings\n")
    assert ID in written
    before = page.stat().st_size
    assert call("verify", "findings", "-q", "-f", "github").out == ""  # nothing is printed, and nothing added
    assert call("verify", "findings", "-f", "json").code == 1
    assert page.stat().st_size == before < 2**20  # of which GitHub takes a mebibyte


def test_a_page_of_a_step_that_cannot_be_written_is_noticed_before_the_audit(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "nowhere/summary")
    done = call("verify", "findings", "-f", "github")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "imlp-audit: GITHUB_STEP_SUMMARY: nowhere is not a folder; create it first, or write elsewhere; "
        "unset it to print annotations alone\n"
    )


def test_a_page_of_a_step_that_is_full_is_a_message(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/dev/full")
    done = call("verify", "findings", "-f", "github", "--no-cache")
    assert (done.code, done.out) == (3, "")
    assert done.err == "imlp-audit: /dev/full could not be written: No space left on device\n"


@pytest.mark.parametrize("command", ["list", "solve", "explain", "lint"])
def test_what_has_no_checks_offers_no_format_of_checks(here: Path, command: str) -> None:
    assert "<rich|json|markdown|html>" in call(command, "--help").out
    done = call(command, "-f", "sarif")
    assert done.code == 2
    assert "sarif" in done.err


def test_a_result_becomes_every_format_later(here: Path) -> None:
    call("verify", "findings", "-q", "-o", "r.json", "-o", "r.sarif")
    assert call("report", "--from", "r.json", "-f", "sarif").out == (here / "r.sarif").read_text(encoding="utf-8")
