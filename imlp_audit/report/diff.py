"""The document of `imlp-audit diff`: what got worse first, then what else changed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import Verdict
from imlp_audit.records.diff import AuditDiff, CheckChange, CheckOfOne, CheckState
from imlp_audit.report.document import (
    Block,
    Code,
    Document,
    Heading,
    Item,
    List,
    Paragraph,
    code,
    count_more,
    join,
)
from imlp_audit.report.verdicts import word_of, write_measured, write_verdict

_MOST = 5  # changes of a kind that a terminal lists


def diff_document(diff: AuditDiff, *, short: bool = False) -> Document:
    """Return what changed between two audits; in `short`, the first changes of each kind."""
    if diff.is_empty:
        return (Paragraph("No difference."),)
    blocks: list[Block] = [Heading(f"What changed: {', '.join(diff.papers)}", 1), *_summary(diff)]
    for title, items in _sections(diff).items():
        shown = items[:_MOST] if short else items
        if items:
            blocks.append(Heading(f"{title} ({count_of(len(items), 'check')})", 3))
            more = (f"{one}: -f markdown lists all" for one in count_more(len(items) - len(shown), "check"))
            blocks.append(List((*shown, *more)))
    return (*blocks, *_next(diff))


def _summary(diff: AuditDiff) -> Iterator[Block]:
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
    yield Paragraph(f"Checks: {named}. Verdicts: {', '.join(changes)}.")
    if diff.versions:
        changes = (f"{one.library} {_arrow(one.before or 'none', one.after or 'none')}" for one in diff.versions)
        yield Paragraph(f"Measured with other versions: {', '.join(changes)}.")


def _sections(diff: AuditDiff) -> dict[str, list[Item]]:
    return {
        "Got worse": [*map(_change, diff.worse)],
        "New and failing": [_of_one(one) for one in diff.new if one.state.fails_the_run],
        "Failed before, can no longer be decided": [*map(_change, diff.undecided)],
        "Changed, with a verdict as good as before": [*map(_change, diff.changed)],
        "Got better": [*map(_change, diff.better)],
        "New": [_of_one(one) for one in diff.new if not one.state.fails_the_run],
        "Gone": [*map(_of_one, diff.gone)],
    }


def _change(change: CheckChange) -> Item:
    """Write a change: the verdicts, and below them what else is not as it was, and why the new verdict."""
    before, after = change.before, change.after
    verdicts = tuple(dict.fromkeys((write_verdict(before), write_verdict(after))))
    parts = [_values("printed", before.printed, after.printed), *_measured(before, after)]
    if before.weak != after.weak:
        parts.append("its pass may be luck now" if after.weak else "its pass is no longer in doubt")
    if before.verdict is not after.verdict:
        parts.append(after.reason)
    below = "; ".join(part for part in parts if part)
    return Item((code(change.id), ": ", *join(verdicts, " → ")), (below,) if below else ())


def _of_one(one: CheckOfOne) -> Item:
    printed = f" printed {one.state.printed}" if one.state.printed is not None else ""
    reason = f": {one.state.reason}" if one.state.fails_the_run else ""
    return Item((write_verdict(one.state), " ", code(one.id), f"{printed}{reason}"))


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


def _next(diff: AuditDiff) -> Document:
    failing = (*(one.id for one in diff.worse), *(one.id for one in diff.new if one.state.fails_the_run))
    command = shlex.join(["imlp-audit", "explain", *failing[:1]])
    return (Heading("Try next", 3), Code(command, "sh")) if failing else ()
