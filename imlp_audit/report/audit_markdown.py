"""The report as markdown, to attach to a paper or keep in a repository.

It names no versions of the measuring libraries: exact counts do not depend on them, and a report kept
under version control would go stale with every release of theirs. The JSON result has them.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator

from imlp_audit.records.check import Check, CheckKind, Verdict
from imlp_audit.records.evidence import Throughput
from imlp_audit.records.paper import PaperHead, TableHead
from imlp_audit.records.result import AuditResult
from imlp_audit.report.evidence import SAMPLING, SPENT, spent, told, with_evidence
from imlp_audit.report.figures import figure_file
from imlp_audit.report.layout import CellChecks, cells, findings, leads, measured, others, summary
from imlp_audit.report.markdown import render_markdown
from imlp_audit.report.solved import solved_document

HEADINGS = {
    CheckKind.MARK: "Footnote marks",
    CheckKind.COLUMN: "Column headings",
    CheckKind.REPEAT: "Numbers printed in several places",
    CheckKind.WAIVER: "Waivers that no longer hold",
}
LEGEND = (
    "`reproduced`: follows from the model as read by default. `reproduced_under`: follows under another reading, "
    "convention or rounding rule that the spec declares, which is named. `differs`: does not follow. "
    "`inconsistent`: the paper contradicts itself. `unverifiable`: what is missing is named. "
    "`waived`: a known finding, unchanged. The gap is measured minus printed, in units of the last printed digit."
)


def markdown(result: AuditResult) -> str:
    """Write a result as markdown."""
    return "\n".join(line for paper in result.papers for line in _paper(result, paper)) + "\n"


def _paper(result: AuditResult, paper: PaperHead) -> Iterator[str]:
    own = result.of(paper)
    yield f"# Audit of “{_text(paper.title)}”"
    yield ""
    yield f"Authors: {_text(paper.authors)}. Version: {_text(paper.version)}."
    if paper.url:
        yield f"Found at {_text(paper.url)}."
    yield ""
    yield f"**{summary(own)}**"
    yield ""
    yield from _counts(own)
    yield ""
    yield LEGEND
    if paper.id in own.solved:
        found = own.solved[paper.id]
        figure = figure_file(f"{paper.id}/solved") if found.sizes else None
        yield from ("", *render_markdown(solved_document(found, figure)).splitlines())
    yield from _findings(findings(own))
    yield from _waived([check for check in own.checks if check.verdict is Verdict.WAIVED])
    for table in paper.tables:
        yield from _table(own, paper, table)
    yield from _evidence(with_evidence(own))
    yield from _claims(others(own, paper, CheckKind.CLAIM))
    yield from _equations(others(own, paper, CheckKind.EQUATION))
    for kind, heading in HEADINGS.items():
        yield from _others(heading, others(own, paper, kind))
    yield from _readings(paper)


def _counts(result: AuditResult) -> Iterator[str]:
    """Count the verdicts by kind of check."""
    verdicts = [verdict for verdict, count in result.counts().items() if count]
    lines = []
    for kind in CheckKind:
        found = [check.verdict for check in result.checks if check.kind is kind]
        if found:
            lines.append((kind.value, *(str(found.count(verdict) or "") for verdict in verdicts), str(len(found))))
    yield from _rows(("", *(verdict.value for verdict in verdicts), "all"), lines)


def _readings(paper: PaperHead) -> Iterator[str]:
    """Tell how the numbers are read: rounding, conventions, and each reading's answers with their reasons."""
    yield from ("", "## How the paper is read", "")
    yield "Of each list the first is the default; a number that only another one gives is `reproduced_under` it."
    yield ""
    for name, values in (("rounding", paper.rounding), ("parameters", paper.parameters), ("FLOPs", paper.flops)):
        yield f"- {name}: {', '.join(f'`{value}`' for value in values)}"
    for reading in paper.readings:
        yield from ("", f"### Reading `{reading.name}`", "")
        header = ("question", "answer", "because")
        yield from _rows(header, ((f"`{a.axis}`", f"`{a.value}`", _text(a.because)) for a in reading.axes))


def _findings(checks: list[Check]) -> Iterator[str]:
    yield from ("", "## Findings", "")
    if not checks:
        yield "None beyond those that the spec declares as known."
        return
    for check in checks:
        yield f"- **{check.verdict.value}** `{check.id}` printed {_text(check.printed or '?')}: {_text(check.reason)}"
        yield from (f"  - hint: {_text(hint)}" for hint in check.hints)


def _waived(checks: list[Check]) -> Iterator[str]:
    """List the known findings under the reason that each group of them shares."""
    if not checks:
        return
    yield from ("", "## Known findings", "")
    groups: dict[str, list[Check]] = {}
    for check in checks:
        groups.setdefault(check.waiver or "", []).append(check)
    for reason, group in groups.items():
        yield from (f"### {_text(reason)}", "")
        yield from _rows(
            ("check", "verdict", "printed", "what was found"),
            ((f"`{c.id}`", (c.finding or c.verdict).value, _text(c.printed or ""), _text(c.reason)) for c in group),
        )
        yield ""


def _table(result: AuditResult, paper: PaperHead, table: TableHead) -> Iterator[str]:
    found = list(cells(result, paper, table))
    if not found:
        return
    yield from ("", f"## Table {table.id}: {_text(table.title)}", "")
    header = ("model", "column", "printed", "measured", "gap", "verdict", "also measured")
    yield from _rows(header, (line for one in found for line in _cell(one)))
    notes = leads(found)
    yield from ("",) if notes else ()
    yield from (f"- note: {_text(note)} ({', '.join(f'`{row}`' for row in rows)})" for note, rows in notes.items())


def _cell(one: CellChecks) -> Iterator[tuple[str, ...]]:
    label, heading = _text(one.row.label), _text(one.column.heading)
    if one.cell is not None:
        yield (label, heading, *_numbers(one.cell))
    changes = [("change, from the cells", one.delta), ("change, as measured", one.delta_measured)]
    changes += [(f"against {check.id.rpartition('.')[2]}", check) for check in one.against]
    for name, check in changes:
        if check is not None:
            yield ("" if one.cell else label, name if one.cell else f"{heading}, {name}", *_numbers(check))


def _numbers(check: Check) -> tuple[str, ...]:
    under = f" ({', '.join(check.under)})" if check.under else ""
    untold = check.verdict in (Verdict.UNVERIFIABLE, Verdict.ERROR) and not check.evidence  # of evidence there is more
    missing = f": {_text(check.reason)}" if untold else ""
    verdict = f"{check.verdict.value}{under}{missing}"
    return (_text(check.printed or "?"), measured(check.measured), check.gap or "", verdict, _also(check))


def _also(check: Check) -> str:
    """List the measurements beside the deciding one, those that give the same number together."""
    names: dict[str, list[str]] = {}
    for one in check.also:
        names.setdefault(one.measured, []).append("/".join(part for part in (one.reading, one.convention) if part))
    return "; ".join(f"{measured(value)} ({', '.join(group)})" for value, group in names.items())


def _evidence(checks: list[Check]) -> Iterator[str]:
    """Tell what the numbers that needed a run rest on."""
    if not checks:
        return
    yield from ("", "## Evidence", "")
    if any("sampling" in check.under for check in checks):
        yield from (SAMPLING, "")
    yield from _rows(("number", "verdict", "what was found", "measured with"), map(_run, checks))
    for check in checks:
        for timed in check.evidence:
            if isinstance(timed, Throughput) and timed.spent:
                yield from ("", f"Where the time goes, `{check.id}`, one image of a batch of {timed.batch}:", "")
                yield from _rows(SPENT, (tuple(map(_text, row)) for row in spent(timed)))


def _run(check: Check) -> tuple[str, ...]:
    under = f" ({_text(', '.join(check.under))})" if check.under else ""
    with_ = _text(" / ".join(map(told, check.evidence)))
    return f"`{check.id}`", f"{check.verdict.value}{under}", _text(check.reason), with_


def _claims(checks: list[Check]) -> Iterator[str]:
    if not checks:
        return
    yield from ("", "## What the text says about the numbers", "")
    header = ("claim", "verdict", "checked as", "what was found")
    yield from _rows(header, ((_claim(c), c.verdict.value, _text(c.statement or ""), _text(c.reason)) for c in checks))


def _equations(checks: list[Check]) -> Iterator[str]:
    """Tell of statements about functions: what is false as printed with its counterexample, then what holds."""
    if not checks:
        return
    yield from ("", "## What the text says about functions", "")
    yield "Each statement is tested by running it on small examples. What rounding may change is bounded, not guessed."
    false = [check for check in checks if check.counterexample]
    if false:
        yield from ("", "### False as printed", "")
        header = ("statement", "place", "as printed", "smallest counterexample", "verdict", "nearest form that holds")
        yield from _rows(header, ((*_stated(c), _counterexample(c), c.verdict.value, _hints(c)) for c in false))
    rest = [check for check in checks if not check.counterexample]
    if rest:
        yield from ("", "### Not found false", "")
        short = ("statement", "place", "form", "verdict", "what was found")
        yield from _rows(short, ((*_stated(c), c.verdict.value, _text(c.reason)) for c in rest))
    for check in checks:
        if check.figure is not None:
            yield from ("", f"![{_text(check.figure.title)}]({figure_file(check.id)})")


def _stated(check: Check) -> tuple[str, str, str]:
    statement = f"{_text(check.statement or '')} `{check.id.rpartition('/')[2]}`"
    return statement, _text(check.place or ""), _text(check.printed or check.corrected or "")


def _counterexample(check: Check) -> str:
    return _text("; ".join(check.counterexample))


def _hints(check: Check) -> str:
    return _text("; ".join(check.hints))


def _claim(check: Check) -> str:
    return f"{_text(check.printed or '')} `{check.id.rpartition('/')[2]}`"


def _others(heading: str, checks: list[Check]) -> Iterator[str]:
    if not checks:
        return
    yield from ("", f"## {heading}", "")
    header = ("check", "printed", "verdict", "what was found")
    yield from _rows(header, ((f"`{c.id}`", _text(c.printed or ""), c.verdict.value, _text(c.reason)) for c in checks))


def _rows(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{' --- |' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _text(text: str) -> str:
    """Escape what a paper's text could break a table or a paragraph with."""
    for character in "\\`*_|[]#~":
        text = text.replace(character, "\\" + character)
    return " ".join(html.escape(text, quote=False).split())
