"""The document of a difference: what got worse first, and on a terminal the first changes of each kind."""

from __future__ import annotations

import pytest

from imlp_audit.records.check import Check, CheckKind, Measurement, Verdict
from imlp_audit.records.diff import AuditDiff, diff_audits
from imlp_audit.records.result import AuditResult
from imlp_audit.report.listings import diff_document
from imlp_audit.report.markdown import render_markdown
from imlp_audit.report.terminal import Surface, render_terminal
from tests.report.results import check, full, head


def audit(*checks: Check, **more: object) -> AuditResult:
    return AuditResult.model_validate({"papers": (head(),), "versions": {"torch": "2.6"}, "checks": checks, **more})


def screen(diff: AuditDiff, *, short: bool = True) -> list[str]:
    return render_terminal(diff_document(diff, short=short), Surface(80)).splitlines()


def cell(row: str, verdict: Verdict, **more: object) -> Check:
    return check(f"1/{row}/params", CheckKind.CELL, verdict, printed="5.72").model_copy(update=more)


def large(count: int) -> AuditDiff:
    """A difference that has many changes of every kind, with long texts."""
    text = "a reason that takes two lines of a terminal with eighty columns, as long ones in many a paper do " * 2
    ways = [(Verdict.REPRODUCED, Verdict.DIFFERS), (Verdict.DIFFERS, Verdict.REPRODUCED)]
    ways += [(Verdict.INCONSISTENT, Verdict.UNVERIFIABLE), (Verdict.DIFFERS, Verdict.INCONSISTENT)]
    both = [
        [
            cell(f"r{at}_{way}", ways[way][side], reason=text, measured="5717416")
            for way in range(4)
            for at in range(count)
        ]
        for side in range(2)
    ]
    ends = [[cell(f"{name}{at}", Verdict.DIFFERS, reason=text) for at in range(count)] for name in ("gone", "new")]
    before = audit(*both[0], *ends[0])
    return diff_audits(before, audit(*both[1], *ends[1], versions={"torch": "2.7"}))


def test_no_difference_is_one_line() -> None:
    assert screen(diff_audits(full(), full())) == ["No difference."]


@pytest.mark.parametrize("count", [1, 3, 60])
def test_a_screen_has_every_kind_of_change_and_counts_what_is_more_than_five(count: int) -> None:
    lines = screen(large(count))
    for title in ("Got worse", "New and failing", "Failed before, can no longer be decided", "Got better", "Gone"):
        assert any(line.startswith(f"{title} ({count} ") for line in lines)
    assert sum("_0/params: reproduced → differs" in line for line in lines) == min(count, 5)
    assert lines.count("- 55 more checks: -f markdown lists all") == (6 if count == 60 else 0)


def test_other_formats_list_every_change() -> None:
    lines = screen(large(60), short=False)
    assert sum("p/1/" in line for line in lines) == 6 * 60 + 1  # and the one to be explained
    assert "more checks" not in "".join(lines)


def test_what_got_worse_stands_first_with_what_was_measured() -> None:
    before = (
        cell("a", Verdict.REPRODUCED, measured="5717416"),
        cell("b", Verdict.DIFFERS),
        cell("c", Verdict.REPRODUCED),
    )
    after = (
        cell("a", Verdict.DIFFERS, measured="5800000", reason="it is outside"),
        cell("b", Verdict.REPRODUCED),
        cell("c", Verdict.REPRODUCED, weak=True),
    )
    lines = screen(diff_audits(audit(*before), audit(*after, versions={"torch": "2.7"})))
    assert lines == [
        "What changed: p",
        "",
        "Checks: 1 got worse, 1 got better, 1 changed, with a verdict as good as before.",
        "Verdicts: reproduced 2, differs 1.",
        "",
        "Measured with other versions: torch 2.6 → 2.7.",
        "",
        "Got worse (1 check)",
        "- p/1/a/params: reproduced → differs",
        "  - printed 5.72; measured 5 717 416 → 5 800 000; it is outside",
        "",
        "Changed, with a verdict as good as before (1 check)",
        "- p/1/c/params: reproduced → reproduced, weak",
        "  - printed 5.72; its pass may be luck now",
        "",
        "Got better (1 check)",
        "- p/1/b/params: differs → reproduced",
        "  - printed 5.72; plain words",
        "",
        "Try next",
        "imlp-audit explain p/1/a/params",
    ]


def test_values_under_other_readings_are_named() -> None:
    def also(measured: str) -> Check:
        one = Measurement(reading="released", convention="macs", measured=measured, verdict=Verdict.DIFFERS)
        return cell("a", Verdict.REPRODUCED, also=(one,))

    found = render_markdown(diff_document(diff_audits(audit(also("5")), audit(also("6")))))
    assert "measured under released/macs 5 → 6" in found
