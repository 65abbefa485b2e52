"""The markdown reports that are kept: small enough for a comment, and without HTML."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from imlp_audit.report.markdown import LIMIT

REPORTS = sorted((Path(__file__).parents[2] / "reports").glob("*.md"))


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.stem)
def test_a_kept_report_can_be_a_comment(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert len(text.encode()) <= LIMIT
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inner = [child for token in tokens for child in token.children or ()]
    assert not any("html" in token.type for token in (*tokens, *inner))
