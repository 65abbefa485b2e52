"""Findings whose globs name too much."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.errors import SpecError
from tests.checks.papers import Spec, write

ROW = "{{id: {0}, label: {0}, printed: {{params: 5.00}}}}"
FINDING = """\
findings:
  - {id: all, title: All is wrong, kind: ask, why: Nobody knows., checks: ["GLOB"]}
"""


@pytest.mark.parametrize(("rows", "glob"), [("a", "*"), ("ab", "*"), ("ab", "p/*"), ("ab", "p/1/?/params")])
def test_a_finding_covers_no_check_that_passes(tmp_path: Path, rows: str, glob: str) -> None:
    spec = Spec(tuple(ROW.format(row) for row in rows), end=FINDING.replace("GLOB", glob))
    with pytest.raises(SpecError, match="covers every check, those that pass included"):
        write(tmp_path, spec)


@pytest.mark.parametrize(("rows", "glob"), [("a", "p/1/a/params"), ("a", "p/1/?/params"), ("ab", "p/1/a/*")])
def test_a_finding_may_cover_the_only_check_there_is(tmp_path: Path, rows: str, glob: str) -> None:
    spec = Spec(tuple(ROW.format(row) for row in rows), end=FINDING.replace("GLOB", glob))
    assert len(write(tmp_path, spec).papers[0].findings) == 1
