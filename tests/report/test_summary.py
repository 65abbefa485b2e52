"""The whole report on a terminal: every finding at every width, text as in the paper, colours only if asked for."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from imlp_audit.records.base import from_json, to_json
from imlp_audit.records.check import FAILS
from imlp_audit.records.result import AuditResult
from imlp_audit.report.markdown import render_markdown
from imlp_audit.report.paper import report_document
from imlp_audit.report.terminal import Surface, render_terminal

from .results import HOSTILE, mixed, result

WIDTHS = (40, 80, 200)


def terminal(result: AuditResult, width: int, *, colour: bool = False) -> str:
    return render_terminal(report_document(result), Surface(width, colour))


def squeeze(text: str) -> str:
    """A text without spaces and line breaks: what is left of it however it is wrapped."""
    return "".join(text.split())


@pytest.mark.daily(12)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("text", HOSTILE)
def test_every_finding_is_shown_whole_at_every_width_and_no_line_is_wider(width: int, text: str) -> None:
    audited = result(text)
    written = terminal(audited, width)
    assert max(map(cell_len, written.splitlines())) <= width
    shown = squeeze(written)
    failing = [one for one in audited.checks if one.verdict in FAILS and not one.acknowledged]
    assert len(failing) > 5
    for one in failing:
        assert squeeze(one.id) in shown
        assert squeeze(f"{one.verdict}: {text}") in shown
    assert squeeze(f"p/1/gone/params: {text}") in shown


@pytest.mark.daily(6)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_papers_text_is_shown_as_it_is_and_survives_json(text: str) -> None:
    assert f"“{' '.join(text.replace(chr(13), '').split(chr(10)))}”\n" in terminal(result(text), 400)
    assert from_json(AuditResult, to_json(result(text)), "r.json") == result(text)


def test_every_format_for_people_says_which_rows_state_their_own_counter() -> None:
    said = "counters of their own for 3 rows: fvcore for r0 (because: it fits); macs for r1, r2 (because: it fits)"
    assert said in terminal(mixed("it fits"), 200)
    assert said in render_markdown(report_document(mixed("it fits")))
    assert from_json(AuditResult, to_json(mixed()), "r.json") == mixed()
    assert "counters" not in to_json(result())
