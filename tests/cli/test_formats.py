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


def test_github_prints_annotations_and_the_summary_of_a_job_is_a_file_as_any(here: Path) -> None:
    done = call("verify", "findings", "-f", "github", "--no-progress", "-o", "markdown:summary")
    assert done.code == 1
    assert [line.partition(" ")[0] for line in done.out.splitlines()] == ["::error", "::notice"]
    assert ID in (here / "summary").read_text(encoding="utf-8")
    assert (here / "summary").stat().st_size < 2**20  # of which GitHub takes a mebibyte


@pytest.mark.parametrize("command", ["list", "solve", "explain"])
def test_what_has_no_checks_offers_no_format_of_checks(here: Path, command: str) -> None:
    assert "<rich|json|markdown|html>" in call(command, "--help").out
    done = call(command, "-f", "sarif")
    assert done.code == 2
    assert "sarif" in done.err


def test_a_result_becomes_every_format_later(here: Path) -> None:
    call("verify", "findings", "-q", "-o", "r.json", "-o", "r.sarif")
    assert call("report", "--from", "r.json", "-f", "sarif").out == (here / "r.sarif").read_text(encoding="utf-8")
