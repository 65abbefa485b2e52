"""The document of `imlp-audit diff`: what got worse first, then what else changed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

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
    join,
    shorten,
)
from imlp_audit.report.first_screen import count_more
from imlp_audit.report.verdicts import word_of, write_measured, write_verdict

_MOST = 5  # changes of a kind that a terminal lists
_LONGEST = 120  # characters of a reason or a value on a terminal; longer ones end at a word


class _Section(NamedTuple):
    title: str
    items: Sequence[Item]

    def blocks(self, most: int) -> Document:
        """Return the section with its first entries, and how many more there are."""
        more = count_more(len(self.items) - most, "check")
        heading = Heading(f"{self.title} ({count_of(len(self.items), 'check')})", 3)
        return (heading, List((*self.items[:most], *more)))


def diff_document(diff: AuditDiff, files: Sequence[str], *, short: bool = False) -> Document:
    """Return what changed between two files; in `short`, the first changes of each kind."""
    if diff.is_empty:
        return (Paragraph("No difference."),)
    head = (Heading(f"What changed: {', '.join(diff.papers)}", 1), *_summary(diff))
    sections = [one for one in _sections(diff, _LONGEST if short else None) if one.items]
    longest = max((len(one.items) for one in sections), default=0)
    most = min(longest, _MOST) if short else longest
    listed = (block for one in sections for block in one.blocks(most))
    return (*head, *listed, *_next(diff, files if most < longest else ()))


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


def _sections(diff: AuditDiff, most: int | None) -> Iterator[_Section]:
    failing = [one for one in diff.new if one.state.fails_the_run]
    rest = [one for one in diff.new if not one.state.fails_the_run]
    yield _Section("Got worse", tuple(_change(one, most) for one in diff.worse))
    yield _Section("New and failing", tuple(_of_one(one, most) for one in failing))
    yield _Section("Failed before, can no longer be decided", tuple(_change(one, most) for one in diff.undecided))
    yield _Section("Changed, with a verdict as good as before", tuple(_change(one, most) for one in diff.changed))
    yield _Section("Got better", tuple(_change(one, most) for one in diff.better))
    yield _Section("New", tuple(_of_one(one, most) for one in rest))
    yield _Section("Gone", tuple(_of_one(one, most) for one in diff.gone))


def _change(change: CheckChange, most: int | None) -> Item:
    """Write a change: the verdicts, and below them what else is not as it was, and why the new verdict."""
    before, after = change.before, change.after
    verdicts = tuple(dict.fromkeys((write_verdict(before), write_verdict(after))))
    parts = [_values("printed", before.printed, after.printed), *_measured(before, after)]
    if before.weak != after.weak:
        parts.append("its pass may be luck now" if after.weak else "its pass is no longer in doubt")
    if before.verdict is not after.verdict:
        parts.append(after.reason)
    below = "; ".join(_cut(part, most) for part in parts if part)
    return Item((code(change.id), ": ", *join(verdicts, " → ")), (below,) if below else ())


def _of_one(one: CheckOfOne, most: int | None) -> Item:
    printed = f" printed {_cut(one.state.printed, most)}" if one.state.printed is not None else ""
    reason = f": {_cut(one.state.reason, most)}" if one.state.fails_the_run else ""
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


def _cut(text: str, most: int | None) -> str:
    return text if most is None else shorten(text, most)


def _next(diff: AuditDiff, files: Sequence[str] = ()) -> Document:
    failing = (*(one.id for one in diff.worse), *(one.id for one in diff.new if one.state.fails_the_run))
    commands = [["explain", name] for name in failing[:1]] + ([["diff", *files, "--all"]] if files else [])
    lines = "\n".join(shlex.join(["imlp-audit", *command]) for command in commands)
    return (Heading("Try next", 3), Code(lines, "sh")) if commands else ()
