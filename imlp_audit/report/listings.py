"""Documents of `coverage`, `acknowledge` and `diff`."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.check import Verdict
from imlp_audit.records.diff import AuditDiff, CheckChange, CheckOfOne, CheckState
from imlp_audit.records.finding import RenewedLock
from imlp_audit.records.listing import CoverageReport, CoveredNumber, NumberState
from imlp_audit.report import document as doc
from imlp_audit.report.findings import stale_findings
from imlp_audit.report.verdicts import word_of, write_measured, write_verdict

_STYLES = {NumberState.BOUND: doc.Style.GOOD, NumberState.EXPLAINED: doc.Style.KNOWN, NumberState.OPEN: doc.Style.BAD}
_MOST_CHECKS = 3


def coverage_document(report: CoverageReport, *, only_open: bool) -> doc.Document:
    """Return what a person reads: quantities, or open ones alone, with their lines, what is missing, and the share."""
    listed = {NumberState.OPEN} if only_open else {*_STYLES}
    return tuple(_blocks(report, [number for number in report.numbers if number.state in listed]))


def _blocks(report: CoverageReport, shown: list[CoveredNumber]) -> Iterator[doc.Block]:
    yield doc.Heading(f"Numbers of {report.document} against {report.paper}", 1)
    if shown:
        yield doc.Table(("line", "numbers", "", "read or explained by"), tuple(_rows(shown)))
    if report.unplaced:
        yield doc.Heading("Not found where the specs say")
        yield doc.List(
            tuple(f"{one.what}: {one.reason} ({one.source.file}:{one.source.line})" for one in report.unplaced)
        )
    apart = Counter(one.reason for one in report.numbers if one.state is NumberState.APART and one.reason is not None)
    if apart:
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(apart.items(), key=lambda one: (-one[1], one[0])))
        yield doc.Paragraph(f"{count_of(report.count(NumberState.APART), 'other number')} not counted: {kinds}.")
    yield from (doc.Paragraph((doc.Span("note:", doc.Style.STRONG), f" {note}")) for note in report.notes)
    yield doc.Paragraph(share(report))


def _rows(numbers: list[CoveredNumber]) -> Iterator[tuple[doc.Inline, ...]]:
    """Yield a row for the numbers of a line that have the same fate; an open one is shown with its context."""
    for (page, line, state, fate), group in groupby(numbers, key=_key):
        place = f"{f'p. {page}, ' if page is not None else ''}{line}"
        together = list(group)
        checks = {check for number in together for check in number.checks}
        read_by = checks.pop() if len(checks) == 1 else fate
        texts = " ".join(number.text for number in together)
        yield (place, texts, doc.Span(str(state), _STYLES[state]), read_by)


def _key(number: CoveredNumber) -> tuple[int | None, int, NumberState, str]:
    """Return what numbers have in common that are shown together: a line, and a row of a table or a reason."""
    if number.state is NumberState.OPEN:
        fate = number.context
    elif number.reason is not None:
        fate = number.reason
    else:
        parts = [check.split("/") for check in number.checks]
        rows = dict.fromkeys(f"{'/'.join(names[:3])}/*" if len(names) == 4 else "/".join(names) for names in parts)
        fate = list_some(list(rows), _MOST_CHECKS)
    return number.page, number.line, number.state, fate


def share(report: CoverageReport) -> str:
    """Return the counts, the share of the numbers that are bound or explained, and how much of the specs is missing."""
    bound, explained = report.count(NumberState.BOUND), report.count(NumberState.EXPLAINED)
    counts = f"{bound} read by checks, {explained} explained, {report.count(NumberState.OPEN)} open"
    part = f" ({100 * (bound + explained) // report.quantities} % covered)" if report.quantities else ""
    missing = f"; {count_of(len(report.unplaced), 'part')} of the specs not found in it" if report.unplaced else ""
    return f"{count_of(report.quantities, 'number')}: {counts}{part}{missing}"


def acknowledged_document(locks: Sequence[RenewedLock], *, written: bool) -> doc.Document:
    """Return what each lock gains and loses, or would, and what no finding covers yet."""
    return tuple(block for lock in locks for block in _paper(lock, written=written))


def _paper(paper: RenewedLock, *, written: bool) -> Iterator[doc.Block]:
    total = paper.kept + len(paper.new) + len(paper.changed)
    state = "in" if written else "would be in"
    yield doc.Heading(f"{paper.paper}: {total} {'entry' if total == 1 else 'entries'} {state} {paper.lock}", 1)
    new = [doc.Item((doc.code(one.check), f" ({one.finding})"), (one.reason,)) for one in paper.new]
    changed, dropped = (
        [doc.Item((doc.code(one.check), ": ", one.reason)) for one in entries]
        for entries in (paper.changed, paper.dropped)
    )
    listed = {"New": new, "Changed": changed, "Dropped": dropped}
    if not any(listed.values()):
        yield doc.Paragraph("The lock stays as it is.")
    for name, items in listed.items():
        yield from doc.titled_list(f"{name}: {count_of(len(items), 'check')}", items)
    failing = (doc.Item(f"{one.kind.value}: {one.title}", (", ".join(one.checks),)) for one in paper.unexplained)
    yield from doc.titled_list("Still failing: no finding covers these", failing)
    if paper.unexplained:
        yield doc.Paragraph(doc.parse_code("Describe each cause in the paper's `findings.yaml`, then acknowledge it."))
    yield from stale_findings(paper.stale_findings)


_MOST = 5  # changes of a kind that a terminal lists


def diff_document(diff: AuditDiff, *, short: bool = False) -> doc.Document:
    """Return what changed between two audits; in `short`, the first changes of each kind."""
    if diff.is_empty:
        return (doc.Paragraph("No difference."),)
    blocks: list[doc.Block] = [doc.Heading(f"What changed: {', '.join(diff.papers)}", 1), *_summary(diff)]
    for title, items in _sections(diff).items():
        shown = items[:_MOST] if short else items
        more = (f"{one}: -f markdown lists all" for one in doc.count_more(len(items) - len(shown), "check"))
        blocks += doc.titled_list(f"{title} ({count_of(len(items), 'check')})", (*shown, *more))
    return (*blocks, *_next(diff))


def _summary(diff: AuditDiff) -> Iterator[doc.Block]:
    counts = (
        (len(diff.worse), "got worse"),
        (len(diff.better), "got better"),
        (len(diff.undecided), "can no longer be decided"),
        (len(diff.changed), "changed, with a verdict as good as before"),
        (len(diff.new), "new"),
        (len(diff.gone), "gone"),
        (diff.same, "as before"),
    )
    named = ", ".join(f"{readable(count)} {what}" for count, what in counts if count)
    before, after = diff.before, diff.after
    verdicts = [(word_of(one), before.verdicts.get(one, 0), after.verdicts.get(one, 0)) for one in Verdict]
    verdicts.append(("known", before.acknowledged, after.acknowledged))
    changes = (f"{name} {_arrow(readable(then), readable(now))}" for name, then, now in verdicts if then or now)
    yield doc.Paragraph(f"Checks: {named}. Verdicts: {', '.join(changes)}.")
    if diff.versions:
        changes = (f"{one.library} {_arrow(one.before or 'none', one.after or 'none')}" for one in diff.versions)
        yield doc.Paragraph(f"Measured with other versions: {', '.join(changes)}.")


def _sections(diff: AuditDiff) -> dict[str, list[doc.Item]]:
    return {
        "Got worse": [*map(_change, diff.worse)],
        "New and failing": [_of_one(one) for one in diff.new if one.state.fails_the_run],
        "Failed before, can no longer be decided": [*map(_change, diff.undecided)],
        "Changed, with a verdict as good as before": [*map(_change, diff.changed)],
        "Got better": [*map(_change, diff.better)],
        "New": [_of_one(one) for one in diff.new if not one.state.fails_the_run],
        "Gone": [*map(_of_one, diff.gone)],
    }


def _change(change: CheckChange) -> doc.Item:
    """Write a change: the verdicts, and below them what else is not as it was, and why the new verdict."""
    before, after = change.before, change.after
    verdicts = tuple(dict.fromkeys((write_verdict(before), write_verdict(after))))
    parts = [_values("printed", before.printed, after.printed), *_measured(before, after)]
    if before.weak != after.weak:
        parts.append("its pass may be luck now" if after.weak else "its pass is no longer in doubt")
    if before.verdict is not after.verdict:
        parts.append(after.reason)
    below = "; ".join(part for part in parts if part)
    return doc.Item((doc.code(change.id), ": ", *doc.join(verdicts, " → ")), (below,) if below else ())


def _of_one(one: CheckOfOne) -> doc.Item:
    printed = f" printed {one.state.printed}" if one.state.printed is not None else ""
    reason = f": {one.state.reason}" if one.state.fails_the_run else ""
    return doc.Item((write_verdict(one.state), " ", doc.code(one.id), f"{printed}{reason}"))


def _measured(before: CheckState, after: CheckState) -> Iterator[str]:
    """Yield the measured values that changed, those under other readings and conventions by their names."""
    if before.measured != after.measured:
        yield _values("measured", write_measured(before.measured), write_measured(after.measured))
    for name in dict.fromkeys((*before.also, *after.also)):
        then, now = before.also.get(name), after.also.get(name)
        if then != now:
            yield _values(f"measured under {name}", write_measured(then), write_measured(now))


def _values(what: str, before: str | None, after: str | None) -> str:
    return f"{what} {_arrow(before or 'nothing', after or 'nothing')}" if before or after else ""


def _arrow(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"


def _next(diff: AuditDiff) -> doc.Document:
    failing = (*(one.id for one in diff.worse), *(one.id for one in diff.new if one.state.fails_the_run))
    command = shlex.join(["imlp-audit", "explain", *failing[:1]])
    return (doc.Heading("Try next", 3), doc.Code(command, "sh")) if failing else ()
