"""The first screen of an audit: what to ask the authors, the misprints, and how far to trust the rest.

It is complete in itself and short: the lines that findings may take are counted, and the rest is "n more".
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.check import FAILS, NO_MODEL, PASSES, Caveat, CellCheck, Check, CheckKind, ClaimCheck, Verdict
from imlp_audit.records.finding import FindingKind
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Block, Code, Document, Heading, Item, List, Paragraph, code
from imlp_audit.report.fitting import COLUMNS, lines_of, shorten
from imlp_audit.report.numbered import NumberedFinding, number_findings
from imlp_audit.report.outcome import broken_checks, name_check, say_power
from imlp_audit.report.ranking import worst_first
from imlp_audit.report.verdicts import count_outcomes
from imlp_audit.report.worst import list_asks

SCREEN = 32  # lines of one paper on a terminal
_SCREENS = 120  # lines of several papers
_LEAST = 12  # lines of each of several papers
_UNTRUSTED = "where the Python beside the spec was not run (--trust-code runs it)"
_NO_MODEL = f"where {NO_MODEL}"
_FEW = 8  # checks that are listed one by one where no more were selected


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
    whole = SCREEN if len(titles) == 1 else _SCREENS
    lines = (whole - sum(lines_of(block, columns) for block in (*titles, *after))) // max(len(titles), 1)
    for paper, title in zip(result.papers, titles, strict=True):
        blocks += [title, *overview(result.of(paper), max(lines, _LEAST), columns)]
    return (*blocks, *after)


def overview(result: AuditResult, lines: int | None = None, columns: int = COLUMNS) -> Document:
    """Return the first screen of a result that is about one paper, without its title.

    It takes about so many lines on a terminal of so many columns: what the rest leaves of them is for the findings.
    Without a number of lines it has all that authors are asked, and all misprints.
    """
    findings = number_findings(result)
    before = broken_checks(result)
    misprints = [one for one in findings if one.finding.kind is FindingKind.MISPRINT and one.finding.acknowledged]
    in_a_line = lines is not None
    below = (*(_misprints(misprints, columns) if in_a_line else ()), *_trust(result))
    after = (
        *(() if in_a_line or not misprints else _list_misprints(misprints)),
        *stale_entries(result),
        *_few(result),
        *((List(below),) if below else ()),
        *_for_ci(result, findings),
    )
    room = None if lines is None else lines - sum(lines_of(block, columns) for block in (*before, *after))
    return (*before, *list_asks(result, findings, room, columns), *after)


def _list_misprints(misprints: Sequence[NumberedFinding]) -> Iterator[Block]:
    yield Heading(f"Misprints ({len(misprints)})", 3)
    yield List(tuple((one.link, f" {one.finding.title}") for one in misprints))


def _misprints(misprints: Sequence[NumberedFinding], columns: int) -> Iterator[Item]:
    """Yield the misprints in a line: the first by their titles, the others counted."""
    if misprints:
        title = shorten(f"{misprints[0].name} {misprints[0].finding.title}", columns)
        more = f"; {len(misprints) - 1} more" if len(misprints) > 1 else ""
        yield Item(f"{title}{more}", label="misprints")


def _few(result: AuditResult) -> Iterator[Block]:
    """Yield one by one what does not fail the run where few checks were selected."""
    listed = [check for check in result.checks if check.acknowledged or check.verdict not in (*FAILS, Verdict.ERROR)]
    if listed and len(result.checks) <= _FEW:
        yield List(tuple(map(name_check, listed)))


def stale_entries(result: AuditResult) -> Iterator[Block]:
    """Yield what is not as it was when it was acknowledged, and findings that cover checks that do not fail."""
    if result.stale:
        named = list_some([entry.check for entry in result.stale], 1)
        have = "has" if len(result.stale) == 1 else "have"
        changed = f"{count_of(len(result.stale), 'acknowledged check')} {have} changed ({named})"
        yield Paragraph((f"{changed}; run ", code("imlp-audit acknowledge"), " once you understand why."))
    if result.stale_findings:
        named = list_some([f"{found.source.file}:{found.source.line} {found.id}" for found in result.stale_findings], 1)
        cover = "covers" if len(result.stale_findings) == 1 else "cover"
        yield Paragraph(f"{count_of(len(result.stale_findings), 'finding')} {cover} checks that do not fail: {named}.")


def _trust(result: AuditResult) -> Iterator[Item]:
    """Say how far to trust the numbers: how many were counted, how many by a fitted counter, how many not at all."""
    numbers = result.of_kind(CellCheck)
    counts = Counter(check.verdict for check in numbers)
    passing = [check for check in numbers if check.verdict in PASSES]
    counted = len(passing) + sum(counts[verdict] for verdict in FAILS)
    if counted:
        of = f" of {count_of(len(numbers), 'number')}" if len(numbers) > counted else ""
        under = counts[Verdict.REPRODUCED_UNDER]
        named = f", {under} of them only under another reading, counter or rounding" if under else ""
        text = f"{counted}{of}; {len(passing)} follow{named}. {say_power(result)}"
        yield Item(text.strip(), label="counted")
    caveats = Counter(caveat for check in passing for caveat in check.caveats)
    fitted, weak = caveats[Caveat.FITTED], caveats[Caveat.WEAK]
    doubts = [
        *([f"{fitted} of these by a counter that was fitted to them, which proves little"] if fitted else []),
        *([f"{weak} may be luck: too few numbers decide between the options"] if weak else []),
    ]
    if doubts:
        yield Item("; ".join(doubts), label="doubtful")
    open_ = "; ".join(_unchecked(result))
    if open_:
        yield Item(open_, label="unchecked")


def _unchecked(result: AuditResult) -> Iterator[str]:
    """Yield how much cannot be decided here and why, and how many claims hold only in a charitable meaning."""
    missing = [check for check in result.checks if check.verdict is Verdict.UNVERIFIABLE]
    reasons = Counter(map(_what_is_missing, missing)).most_common()
    reasons.sort(key=lambda one: not _is_up_to_reader(one[0]))
    if reasons:
        what, first = reasons[0]
        noun = "number" if all(check.kind is CheckKind.CELL for check in missing) else "check"
        yield f"{count_of(len(missing), noun)}{f', {readable(first)}' if len(reasons) > 1 else ''} {what}"
    alone, of = result.unguarded()
    if alone:
        yield f"a typo in {alone} of {count_of(of, 'number')} would go unnoticed"
    passing = [check for check in result.of_kind(ClaimCheck) if check.verdict in PASSES]
    charitable = len({check.id.partition(".")[0] for check in passing if check.charitable is not None})
    if charitable:
        hold = "holds" if charitable == 1 else "hold"
        yield f"{count_of(charitable, 'claim')} {hold} only in the most charitable meaning"
    yield from (paper.lacks.rstrip(".") for paper in result.papers if paper.lacks)


def _is_up_to_reader(what: str) -> bool:
    """Whether whoever runs the audit can decide the check at once, with an option or a line of the spec."""
    return what in (_UNTRUSTED, _NO_MODEL)


def _what_is_missing(check: Check) -> str:
    """Say what it takes to decide a check: reasons name it after "needs"; other claims need more digits."""
    _, needs, what = check.reason.rpartition("needs ")
    if needs:
        return f"for want of {shorten(what, 80)}"
    if check.kind is CheckKind.CLAIM:
        return "because the printed digits leave it open"
    return _UNTRUSTED if "--trust-code" in check.reason else f"where {shorten(check.reason, 100)}"


def _for_ci(result: AuditResult, findings: Sequence[NumberedFinding]) -> Iterator[Block]:
    """Yield the line for CI: all verdicts, and how many findings are notes."""
    notes = sum(one.finding.kind is FindingKind.NOTE for one in findings)
    noted = (f" {count_of(notes, 'note')}: ", code("--all"), ".") if notes else ()
    yield Paragraph((f"For CI: {count_outcomes(result.checks)}.", *noted))


def describe_strictness(result: AuditResult, *, strict: bool, baseline: bool) -> Document:
    """Return which checks fail the run only because of the options `--strict` and `--no-baseline`."""
    undecided = result.counts()[Verdict.UNVERIFIABLE] if strict else 0
    known = 0 if baseline else result.acknowledged()
    return tuple(
        Paragraph(f"{option}: {count_of(count, noun)} also {'fails' if count == 1 else 'fail'} the run.")
        for option, count, noun in (
            ("--no-baseline", known, "acknowledged check"),
            ("--strict", undecided, "unverifiable check"),
        )
        if count
    )


def next_commands(result: AuditResult, targets: Sequence[str], again: Sequence[Sequence[str]] | None = None) -> Code:
    """Return what to try next, as it is typed."""
    given = [] if all(target in {paper.id for paper in result.papers} for target in targets) else targets
    lines = [["explain", check, *given] for check in _worst(result)]
    lines += map(list, again or (["report", *targets, "--dir", "DIR"],))
    return Code("\n".join(shlex.join(["imlp-audit", *line]) for line in lines), "sh")


def _worst(result: AuditResult) -> Iterator[str]:
    """Yield the check that is most worth asking about, if one fails."""
    acknowledged = {check.id: check.acknowledged for check in result.checks}
    failing = next((finding.checks for finding in worst_first(result) if finding.checks), ())
    if failing:
        yield min(failing, key=lambda name: acknowledged[name] is True)
