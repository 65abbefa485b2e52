"""The first screen of an audit or a run: what to ask the authors, the misprints, and how far to trust the rest.

It is complete in itself and short: the first of each list are on it, and the rest is "n more".
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.base import is_number
from imlp_audit.records.check import (
    FAILS,
    NO_MODEL,
    PASSES,
    CauseHint,
    Caveat,
    CellCheck,
    Check,
    CheckKind,
    ClaimCheck,
    CountedCheck,
    Identified,
    Verdict,
    add_powers,
)
from imlp_audit.records.finding import FindingKind
from imlp_audit.records.result import AuditResult, PaperHead
from imlp_audit.report import document as doc
from imlp_audit.report.findings import NumberedFinding, choose_hints, number_findings, say_that_none_fails, worst_first
from imlp_audit.report.hypotheses import list_leads, summarize_identified
from imlp_audit.report.sections import SAMPLING, write_run
from imlp_audit.report.verdicts import code_of, count_outcomes, name_places_of, place_in_specs, summarize, write_check

_LONGEST = 120  # characters of a title or a reason; longer ones end at a word
_LINE = 80  # characters of what takes about a line
_RUN = 6  # numbers that a run measured, which are listed with how
_OF_REASON, _OF_ERROR = 110, 220  # characters: the end of an error names its cause
_FEW = 8  # checks that are listed one by one where no more were selected
_BROKEN = 3  # causes for which checks could not be completed; what is left is counted
_UNTRUSTED = "where the Python beside the spec was not run (--trust-code runs it)"
_NO_MODEL = f"where {NO_MODEL}"


_FAILING, _KNOWN = 4, 6  # points that a screen lists of those that fail the run, and of the known ones


def first_screen(result: AuditResult, targets: Sequence[str] = ()) -> doc.Document:
    """Return what a terminal shows of an audit: the overview of each paper, and what to try next.

    `targets` are the papers as they were given on the command line.
    """
    papers = ((_title(paper), *overview(result.of(paper))) for paper in result.papers)
    blocks = (block for paper in papers for block in paper)
    return (*blocks, doc.Heading("Try next", 3), next_commands(result, targets))


def run_screen(result: AuditResult, targets: list[str], saved: Path | None = None) -> doc.Document:
    """Return what a terminal shows of a run of a checkpoint or on hardware.

    `targets` are the papers as they were given on the command line, `saved` is the JSON file that holds the result.
    """
    (paper,) = result.papers
    sampled = any("sampling" in check.under for check in result.checks)
    above = (
        doc.Paragraph(f"{summarize(result)}."),
        *_broken_checks(result),
        *_list_asks(result, number_findings(result)),
        *((doc.Paragraph(doc.parse_code(SAMPLING)),) if sampled else ()),
    )
    items = [write_run(check) for check in result.checks if check.verdict is not Verdict.ERROR]
    more = [f"{one}: `--all` shows every one" for one in doc.count_more(len(items) - _RUN, "number")]
    below = doc.titled_list("What was measured", (*items[:_RUN], *map(doc.parse_code, more)))
    again = shlex.join(["imlp-audit", "report", *targets, "--with", str(saved or "RUN.json"), "--dir", "DIR"])
    keep = doc.Paragraph(("Once more with ", doc.code("-o RUN.json"), ", which keeps the run; then:"))
    return (
        _title(paper),
        *above,
        *below,
        doc.Heading("Try next", 3),
        *(() if saved else (keep,)),
        doc.Code(again, "sh"),
    )


def _title(paper: PaperHead) -> doc.Heading:
    return doc.Heading(f"{paper.id}: {doc.shorten(paper.title, 140)}", 1)


def overview(result: AuditResult, *, every: bool = False) -> doc.Document:
    """Return the first screen of a result that is about one paper, without its title: the first points, or `every`."""
    findings = number_findings(result)
    misprints = [one for one in findings if one.finding.kind is FindingKind.MISPRINT and one.finding.acknowledged]
    below = list(_trust(result))
    if misprints:  # the first by its title, the others counted
        title = doc.shorten(f"{misprints[0].name} {misprints[0].finding.title}", _LINE)
        more = f"; {len(misprints) - 1} more" if len(misprints) > 1 else ""
        below.insert(0, doc.Item(f"{title}{more}", label="misprints"))
    notes = sum(one.finding.kind is FindingKind.NOTE for one in findings)
    noted = (f" {count_of(notes, 'note')}: ", doc.code("--all"), ".") if notes else ()
    for_ci = doc.Paragraph((f"For CI: {count_outcomes(result.checks)}.", *noted))
    summed = (doc.List(tuple(below)),) if below else ()
    return (
        *_broken_checks(result),
        *list_leads(result, every=every),
        *_list_asks(result, findings, every=every),
        *_changed_entries(result),
        *_few(result),
        *summed,
        for_ci,
    )


def _list_asks(result: AuditResult, findings: Sequence[NumberedFinding], *, every: bool = False) -> Iterator[doc.Block]:
    """Yield what to ask the authors, and before it misprints and notes that fail the run."""
    if not findings:
        yield doc.Paragraph(say_that_none_fails(result))
    failing = [one for one in findings if not one.finding.acknowledged]
    known = [one for one in findings if one.finding.acknowledged and one.finding.kind is FindingKind.ASK]
    listed = [*failing, *known] if every else failing[:_FAILING] or known[:_KNOWN]
    count = len(failing) + len(known)
    more = tuple((f"{one}: ", doc.code("--all")) for one in doc.count_more(count - len(listed), "point"))
    yield from doc.titled_list(f"Ask the authors ({count})", (*(_ask(one, result) for one in listed), *more))


def _name(one: NumberedFinding) -> tuple[str | doc.Span, ...]:
    return one.link, f" {doc.shorten(one.finding.title, _LONGEST)}"


def _ask(one: NumberedFinding, result: AuditResult) -> doc.Item:
    """Write a finding: what is wrong and where in the paper; of one that fails the run, what was found."""
    finding, own = one.finding, result.checks_of(one.finding)
    new = [check for check in own if check.id in finding.checks and check.acknowledged is not True]
    place = name_places_of(finding, own)
    if finding.acknowledged or not new:
        return doc.Item((*_name(one), f" [{place}]"))
    first = new[0] if finding.explained else max(new, key=_how_far)
    state = f"{'' if finding.explained else 'unexplained: '}{'fails' if len(own) == 1 else 'fail'} the run"
    if not finding.explained and len(own) == 1:  # its title says less than the check
        text = (one.link, f" {place}: ", code_of(first), f" {_evidence(first)} ({state})")
        return doc.Item(text, tuple(f"hint: {hint}" for hint in first.hint_texts[:1]))
    hints = () if finding.explained else choose_hints(first, own)
    return doc.Item((*_name(one), f" ({state}) [{place}]: ", code_of(first)), (_evidence(first), *hints))


def _how_far(check: Check) -> Decimal:
    gap = check.gap if isinstance(check, CountedCheck) else None
    return abs(Decimal(gap)) if gap and is_number(gap) else Decimal(0)  # a result may be written by anybody


def _evidence(check: Check) -> str:
    printed = f"printed {doc.shorten(check.printed, 40)}; " if check.printed is not None else ""
    return f"{printed}{doc.shorten(check.reason, _LONGEST)}"


def _broken_checks(result: AuditResult) -> doc.Document:
    causes: dict[str, list[Check]] = {}
    for check in result.checks:
        if check.verdict is Verdict.ERROR:
            causes.setdefault(check.reason, []).append(check)
    items: list[doc.Inline] = []
    for first, *others in list(causes.values())[:_BROKEN]:
        more = f"; and {count_of(len(others), 'more check')}" if others else ""
        items.append((*write_check(first, _OF_ERROR), f" ({place_in_specs(first)}{more})"))
    left = sum(map(len, list(causes.values())[_BROKEN:]))
    broken = count_of(sum(map(len, causes.values())), "check")
    return doc.titled_list(f"{broken} could not be completed", (*items, *doc.count_more(left, "check")))


def _few(result: AuditResult) -> Iterator[doc.Block]:
    listed = [check for check in result.checks if check.acknowledged or check.verdict not in (*FAILS, Verdict.ERROR)]
    if listed and len(result.checks) <= _FEW:
        yield doc.List(tuple(write_check(one, _OF_REASON) for one in listed))


def _changed_entries(result: AuditResult) -> Iterator[doc.Block]:
    """Yield what is not as it was when it was acknowledged, and findings that cover checks that do not fail."""
    if result.stale:
        named = list_some([entry.check for entry in result.stale], 1)
        have = "has" if len(result.stale) == 1 else "have"
        changed = f"{count_of(len(result.stale), 'acknowledged check')} {have} changed ({named})"
        yield doc.Paragraph((f"{changed}; run ", doc.code("imlp-audit acknowledge"), " once you understand why."))
    if result.stale_findings:
        named = list_some([f"{found.source.file}:{found.source.line} {found.id}" for found in result.stale_findings], 1)
        cover = "covers" if len(result.stale_findings) == 1 else "cover"
        yield doc.Paragraph(
            f"{count_of(len(result.stale_findings), 'finding')} {cover} checks that do not fail: {named}."
        )


def _trust(result: AuditResult) -> Iterator[doc.Item]:
    """Say how far to trust the numbers: how many were counted, how many by a fitted counter, how many not at all."""
    yield from summarize_identified(result)
    numbers = result.of_kind(CellCheck)
    counts = Counter(check.verdict for check in numbers)
    passing = [check for check in numbers if check.verdict in PASSES]
    counted = len(passing) + sum(counts[verdict] for verdict in FAILS)
    if counted:
        of = f" of {count_of(len(numbers), 'number')}" if len(numbers) > counted else ""
        under = counts[Verdict.REPRODUCED_UNDER]
        named = f", {under} of them only under another reading, counter or rounding" if under else ""
        yield doc.Item(f"{counted}{of}; {len(passing)} follow{named}. {_say_caught(result)}".strip(), label="counted")
    caveats = Counter(caveat for check in passing for caveat in check.caveats)
    fitted, weak = caveats[Caveat.FITTED], caveats[Caveat.WEAK]
    doubts = [
        *([f"{fitted} of {len(passing)} follow by a counter fitted to them, which proves little"] if fitted else []),
        *([f"{weak} may be luck: too few numbers decide between the options"] if weak else []),
    ]
    if doubts:
        yield doc.Item("; ".join(doubts), label="doubtful")
    sentences = ["; ".join(_unchecked(result)), *(paper.lacks for paper in result.papers)]
    if open_ := ". ".join(one.rstrip(".") for one in sentences if one):
        yield doc.Item(open_, label="unchecked")


def _say_caught(result: AuditResult) -> str:
    powers = [check.power for check in result.of_kind(CellCheck) if check.power is not None and not check.fitted]
    ten = add_powers(powers).ten
    if not ten.tried:
        return ""
    return f"Of {readable(ten.tried)} wrong digits put into {len(powers)} of these, {readable(ten.caught)} were caught."


def _unchecked(result: AuditResult) -> Iterator[str]:
    """Yield how much cannot be decided here and why, and how many claims hold only in a charitable meaning."""
    missing = [check for check in result.checks if check.verdict is Verdict.UNVERIFIABLE]
    reasons = Counter(map(_what_is_missing, missing)).most_common()
    reasons.sort(key=lambda one: one[0] not in (_UNTRUSTED, _NO_MODEL))  # these are up to the reader
    if reasons:
        what, first = reasons[0]
        numbers = sum(check.kind is CheckKind.CELL for check in missing)
        counts = ((numbers, "number"), (len(missing) - numbers, "other check" if numbers else "check"))
        named = " and ".join(count_of(count, noun) for count, noun in counts if count)
        yield f"{named}{f', {readable(first)}' if len(reasons) > 1 else ''} {what}"
    alone, of = result.unguarded()
    if alone:
        yield f"a typo in {alone} of {count_of(of, 'other number')} would go unnoticed"
    causes = [hint for check in result.checks for hint in check.hints if isinstance(hint, CauseHint)]
    if left := sum(not hint.tried for hint in causes):
        every = count_of(len(causes), "unexplained number")
        yield f"{left} of {every} not searched for a cause; imlp-audit explain does it"
    passing = [check for check in result.of_kind(ClaimCheck) if check.verdict in PASSES]
    charitable = len({check.id.partition(".")[0] for check in passing if check.charitable is not None})
    if charitable:
        hold = "holds" if charitable == 1 else "hold"
        yield f"{count_of(charitable, 'claim')} {hold} only in the most charitable meaning"


def _what_is_missing(check: Check) -> str:
    """Say what it takes to decide a check: reasons name it after "needs"; other claims need more digits."""
    _, needs, what = check.reason.rpartition("needs ")
    if needs:
        return f"for want of {doc.shorten(what, 80)}"
    if check.kind is CheckKind.CLAIM:
        return "because the printed digits leave it open"
    return (
        _UNTRUSTED if "--trust-code" in check.reason else f"where {doc.shorten(check.reason.partition(': ')[0], 100)}"
    )


def next_commands(result: AuditResult, targets: Sequence[str]) -> doc.Code:
    """Return what to try next, as it is typed: first what explains the check that is most worth asking about."""
    given = [] if all(target in {paper.id for paper in result.papers} for target in targets) else targets
    acknowledged = {check.id: check.acknowledged for check in result.checks}
    failing = next((finding.checks for finding in worst_first(result) if finding.checks), ())
    worst = sorted(failing, key=lambda name: acknowledged[name] is True)[:1]
    cells = [(check.id.rpartition("/")[0], check) for check in result.of_kind(CellCheck)]
    left = {row for row, check in cells if check.verdict is Verdict.UNVERIFIABLE and check.measured is not None}
    identified = any(check.identified not in (None, Identified.NO) and row not in left for row, check in cells)
    lines = [["explain", check, *given] for check in worst] + [["accept", *targets]] * identified
    lines.append(["report", *targets, "--dir", "DIR"])
    return doc.Code("\n".join(shlex.join(["imlp-audit", *line]) for line in lines), "sh")


def say_verdict(result: AuditResult) -> str:
    """Return the verdict on a paper in a sentence: how many points there are of each kind."""
    found = Counter(finding.kind for finding in worst_first(result))
    asks = found[FindingKind.ASK]
    named = [f"{count_of(asks, 'point')} to ask the authors"] if asks else []
    named += [count_of(found[kind], kind) for kind in (FindingKind.MISPRINT, FindingKind.NOTE) if found[kind]]
    *others, last = named or [say_that_none_fails(result).rstrip(".")]
    return f"{', '.join(others)} and {last}." if others else f"{last}."
