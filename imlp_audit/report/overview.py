"""The first screen of an audit: what was checked, the worst findings, what the models were read as, what is left open.

It is complete in itself and short: the lines that findings may take are counted, and the rest is "n more".
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import FAILS, NO_MODEL, Check, CheckKind, Verdict
from imlp_audit.records.hypothesis import FitScore, GroupScore
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Block, Code, Document, Heading, Item, List, Paragraph
from imlp_audit.report.findings import nothing_was_checked
from imlp_audit.report.fitting import COLUMNS, lines_of, shorten
from imlp_audit.report.hypotheses import write_chance
from imlp_audit.report.outcome import name_check, what_was_checked
from imlp_audit.report.own_counters import count_own_counters
from imlp_audit.report.ranking import worst_first
from imlp_audit.report.worst import list_worst, stale_entries

LINES = 31  # of an overview, without its title and what to try next
_SCREEN = 41  # lines of one paper on a terminal, as they are estimated: it takes at most 40
_SCREENS = 150  # lines of several papers
_NAMED = 4  # findings that leave room on a terminal for more than one choice, and for more than one missing thing
_UNTRUSTED = "where the Python beside the spec was not run (--trust-code runs it)"
_NO_MODEL = f"where {NO_MODEL}"
_FEW = 8  # checks that are listed one by one where no more were selected


def overview(result: AuditResult, lines: int | None = LINES, columns: int = COLUMNS) -> tuple[Block, ...]:
    """Return the first screen of a result that is about one paper, without its title.

    It takes about so many lines on a terminal of so many columns: what the rest leaves of them is for the findings.
    Without a number of lines it has all findings.
    """
    before = what_was_checked(result)
    findings = worst_first(result)
    spacious = lines is None or (len(findings) <= _NAMED and all(finding.acknowledged for finding in findings))
    most = 2 if spacious else 1
    left = (*_read_as(result, most), *_undecided(result, most))
    after = (*stale_entries(result), *_few(result), *((List(left),) if left else ()))
    room = None if lines is None else lines - sum(lines_of(block, columns) for block in (*before, *after))
    return (*before, *list_worst(result, room, columns), *after)


def _few(result: AuditResult) -> Iterator[Block]:
    """Yield one by one what does not fail the run where few checks were selected."""
    listed = [check for check in result.checks if check.acknowledged or check.verdict not in (*FAILS, Verdict.ERROR)]
    if listed and len(result.checks) <= _FEW:
        yield List(tuple(map(name_check, listed)))


def first_screen(
    result: AuditResult,
    targets: Sequence[str] = (),
    again: Sequence[Sequence[str]] | None = None,
    notes: Document = (),
    columns: int = COLUMNS,
) -> Document:
    """Return what a terminal shows of an audit: the overview of each paper, and what to try next.

    `targets` are the papers as they were given on the command line; `again` are the commands that show more, where
    they are not those of `verify`; `notes` stand before both. A terminal of more `columns` has room for more findings.
    """
    blocks: list[Block] = []
    titles = [Heading(f"{paper.id}: {shorten(paper.title, 140)}", 1) for paper in result.papers]
    columns = max(columns, COLUMNS)
    after = (*notes, Heading("Try next", 3), next_commands(result, targets, again))
    room = _SCREEN if len(titles) == 1 else _SCREENS
    lines = (room - sum(lines_of(block, columns) for block in (*titles, *after))) // max(len(titles), 1)
    for paper, title in zip(result.papers, titles, strict=True):
        blocks += [title, *overview(result.of(paper), lines, columns)]
    return (*blocks, *after)


def describe_strictness(result: AuditResult, *, strict: bool, baseline: bool) -> Document:
    """Return which checks fail the run only because of the options `--strict` and `--no-baseline`."""
    undecided = result.counts()[Verdict.UNVERIFIABLE] if strict else 0
    known = 0 if baseline else result.acknowledged()
    return tuple(
        Paragraph(f"{option}: {count_of(count, noun)} also {'fails' if count == 1 else 'fail'} the run.")
        for option, count, noun in (
            ("--no-baseline", known, "known check"),
            ("--strict", undecided, "unverifiable check"),
        )
        if count
    )


def next_commands(result: AuditResult, targets: Sequence[str], again: Sequence[Sequence[str]] | None = None) -> Code:
    """Return what to try next, as it is typed."""
    given = [] if all(target in {paper.id for paper in result.papers} for target in targets) else targets
    lines = [["explain", check, *given] for check in _worst(result)]
    if _has_model_to_evaluate(result):
        lines.append(["eval", "CHECKPOINT", *given, "--row", "ID", "--data", "DIR"])
    lines += map(list, again or (["verify", *targets, "--all"], ["report", *targets, "--dir", "DIR"]))
    return Code("\n".join(shlex.join(["imlp-audit", *line]) for line in lines), "sh")


def _has_model_to_evaluate(result: AuditResult) -> bool:
    """Return whether a score waits for trained weights; not where the spec has no model that these could be of."""
    if nothing_was_checked(result) and any(check.reason == NO_MODEL for check in result.checks):
        return False
    return any(check.verdict is Verdict.UNVERIFIABLE and "weights" in check.reason for check in result.checks)


def _worst(result: AuditResult) -> Iterator[str]:
    """Yield the check that is most worth asking about, if one fails."""
    acknowledged = {check.id: check.acknowledged for check in result.checks}
    for finding in worst_first(result)[:1]:
        yield min(finding.checks, key=lambda name: acknowledged[name] is True)


def _read_as(result: AuditResult, most: int) -> Iterator[Item]:
    """Say what the numbers were read as, and how the other declared options do."""
    headings = {
        f"{table.id}/{column.id}": f" in {column.heading} of {table.called}"
        for paper in result.papers
        for table in paper.tables
        for column in table.columns
    }
    named: list[str] = []
    for judged in result.hypotheses.values():
        columns = [one.group for one in judged.columns if one.group.votes and len(one.group.scores) > 1]
        groups = [*(group for group in judged.readings if group.votes), *columns]
        fits = {one.group.name: one.fit for one in judged.columns}
        rest = groups[most:]
        doubtful = sum(group.choice == "weak" for group in rest)
        named += [_group(group, headings.get(group.name), fits.get(group.name)) for group in groups[:most]]
        if rest:
            noun = "more column" if any(group in columns for group in groups[:most]) else "column"
            named.append(f"the conventions of {count_of(len(rest), noun)}{f', {doubtful} weak' if doubtful else ''}")
    named += [own] if (own := count_own_counters(result)) else []
    if named:
        yield Item("; ".join(named), label="judged under")


def _group(group: GroupScore, where: str | None, fit: FitScore | None) -> str:
    """Write the choice of a group: the option, its score, the scores of the others, and the best score of luck.

    `where` is the column of a convention; a reading has none.
    """
    others = [f"{name} {score}" for name, score in group.scores.items() if name != group.winner]
    score = f"explains {group.scores.get(str(group.winner), 0)} of {count_of(group.votes, 'number')}"
    kind = "reading" if where is None else "convention"
    winner = f"{kind} {group.winner}{where or ''}, which {score}" if group.winner else f"{kind}{where or ''} undecided"
    doubt = (group.choice,) if group.choice in ("mixed", "shared", "weak") else ()
    rest = (*((", ".join(others),) if others else ()), f"by chance up to {write_chance(group, fit)}", *doubt)
    return f"{winner} ({'; '.join(rest)})"


def _undecided(result: AuditResult, most: int) -> Iterator[Item]:
    """Count what could not be decided, by what it takes."""
    found = Counter(_missing(check) for check in result.checks if check.verdict is Verdict.UNVERIFIABLE)
    if not found:
        return
    reasons = sorted(found.items(), key=lambda one: (not _is_up_to_reader(one[0]), -one[1]))
    first = reasons[: most if len(reasons) > most + 1 else most + 1]
    named = [_count_undecided(count, what) for what, count in first]
    rest = found.total() - sum(count for _, count in first)
    more = (
        f"; {readable(rest)} for {count_of(len(reasons) - len(first), 'other reason')}, which their checks name"
        if rest
        else ""
    )
    yield Item(f"{'; '.join(named)}{more}", label="undecided")
    alone, of = result.unguarded()
    if alone:
        are, them = ("is", "it") if alone == 1 else ("are", "them")
        typo = f"covered by no check: a typo in {them} would go unnoticed"
        yield Item(f"{alone} of the {of} numbers that cannot be counted {are} {typo}", label="unguarded")


def _count_undecided(count: int, what: str) -> str:
    return f"{readable(count)} {f'needs{what[4:]}' if count == 1 and what.startswith('need ') else what}"


def _is_up_to_reader(what: str) -> bool:
    """Whether whoever runs the audit can decide the check at once, with an option or a line of the spec."""
    return what in (_UNTRUSTED, _NO_MODEL)


def _missing(check: Check) -> str:
    """Say what it takes to decide a check: reasons name it after "needs"; other claims need more digits."""
    _, needs, what = check.reason.rpartition("needs ")
    if needs:
        return f"need {shorten(what, 100)}"
    if check.kind is CheckKind.CLAIM:
        return "because the printed digits leave it open"
    return _UNTRUSTED if "--trust-code" in check.reason else f"where {shorten(check.reason, 100)}"
