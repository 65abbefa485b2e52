"""The first screen of a run of a checkpoint or on hardware: the findings, and each number that was measured."""

from __future__ import annotations

import shlex
from pathlib import Path

from imlp_audit.records.check import Check, Verdict
from imlp_audit.records.evidence import Throughput
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Code, Document, Heading, Item, List, Paragraph, code, parse_code
from imlp_audit.report.evidence import SAMPLING, describe_run
from imlp_audit.report.fitting import items_that_fit, lines_of, shorten
from imlp_audit.report.numbered import number_findings
from imlp_audit.report.outcome import broken_checks, count_checked
from imlp_audit.report.overview import SCREEN
from imlp_audit.report.verdicts import write_verdict
from imlp_audit.report.worst import count_more, list_asks


def run_screen(result: AuditResult, targets: list[str], saved: Path | None = None) -> Document:
    """Return what a terminal shows of a run: about as many lines as of an audit.

    `targets` are the papers as they were given on the command line, `saved` is the JSON file that holds the result.
    """
    (paper,) = result.papers
    title = Heading(f"{paper.id}: {shorten(paper.title, 140)}", 1)
    asks = list_asks(result, number_findings(result), SCREEN // 2)
    above = (count_checked(result), *broken_checks(result), *asks, *_sampling(result))
    items = [_measured(check) for check in result.checks if check.verdict is not Verdict.ERROR]
    listed = items_that_fit(items, SCREEN - sum(map(lines_of, above)), at_least=1)
    more = [f"{one}: `--all` shows every one" for one in count_more(len(items) - len(listed), "number")]
    if any(isinstance(one, Throughput) and one.spent for check in result.checks for one in check.evidence):
        more.append("where the time goes: `--all` shows it by kind of module")
    below = (Heading("What was measured", 3), List((*listed, *map(parse_code, more)))) if items else ()
    again = shlex.join(["imlp-audit", "report", *targets, "--with", str(saved or "RUN.json"), "--dir", "DIR"])
    keep = Paragraph(("Once more with ", code("-o RUN.json"), ", which keeps the run; then:"))
    return (title, *above, *below, Heading("Try next", 3), *(() if saved else (keep,)), Code(again, "sh"))


def _sampling(result: AuditResult) -> Document:
    return (Paragraph(parse_code(SAMPLING)),) if any("sampling" in check.under for check in result.checks) else ()


def _measured(check: Check) -> Item:
    """Write a number in full: its verdict, what is printed, what was found, and how it was measured."""
    text = (write_verdict(check), " ", code(check.id), f" printed {check.printed}: {check.reason}")
    return Item(text, tuple(map(describe_run, check.evidence)))
