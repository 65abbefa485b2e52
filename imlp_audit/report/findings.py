"""Findings: their order, short names and common hints; in a line each for a terminal, and in full for a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from imlp_audit.numbers.interval import EXACT, decimal_text, readable
from imlp_audit.numbers.parsing import DecimalMark, NumberForm, parse_printed
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import (
    FAILS,
    NO_MODEL,
    PASSES,
    AnyHint,
    CauseHint,
    CellCheck,
    Check,
    CheckKind,
    CountedCheck,
    ModelHint,
    OptionHint,
    Verdict,
    printed_form,
)
from imlp_audit.records.finding import Finding, FindingKind, Quote, StaleEntry, StaleFinding
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import (
    Block,
    Fold,
    Heading,
    Inline,
    Item,
    List,
    Paragraph,
    Span,
    Style,
    Table,
    code,
    faint,
    parse_code,
)
from imlp_audit.report.verdicts import code_of, name_place, place_in_specs, style_of, write_check, write_measured

_KINDS = tuple(FindingKind)


def worst_first(result: AuditResult) -> list[Finding]:
    """Return the findings of a result: first those that fail the run, then by kind, as `findings.yaml` orders them.

    Of those that nothing explains the ones of more checks come first, then contradictions. Printed changes that
    contradict their cells stand after these cells where the cells themselves are wrong.
    """
    causes = _contradicted_by_a_wrong_cell(result)
    contradictions = {check.id for check in result.checks if check.verdict is Verdict.INCONSISTENT}

    def rank(finding: Finding) -> tuple[bool, bool, int, bool, int, bool]:
        kind = _KINDS.index(finding.kind)
        if finding.explained:
            return finding.acknowledged, True, kind, False, 0, False
        follows = all(name in causes for name in finding.checks)
        contradicts = not contradictions.isdisjoint(finding.checks)
        return finding.acknowledged, False, kind, follows, -len(finding.checks), not contradicts

    return sorted((*result.unexplained(), *result.findings), key=rank)


def _contradicted_by_a_wrong_cell(result: AuditResult) -> set[str]:
    """Return the failing changes whose own cell, or the cell that it is compared with, fails without a finding."""
    wrong = {one.id for one in result.checks if one.kind is CheckKind.CELL and one.verdict in FAILS}
    wrong -= {name for finding in result.findings for name in finding.checks}
    baselines = {
        f"{paper.id}/{table.id}/{row.id}": f"{paper.id}/{table.id}/{row.baseline}"
        for paper in result.papers
        for table in paper.tables
        for row in table.rows
    }
    found = set()
    for check in result.checks:
        if check.kind is CheckKind.DELTA and check.verdict in FAILS:
            cell = check.id.partition(".")[0]
            row, _, column = cell.rpartition("/")
            if {cell, f"{baselines.get(row)}/{column}"} & wrong:
                found.add(check.id)
    return found


@dataclass(frozen=True)
class NumberedFinding:
    """A finding, its short name in a report, and where it stands there."""

    name: str
    finding: Finding

    @property
    def anchor(self) -> str:
        """The anchor of its heading."""
        return f"finding/{self.finding.paper}/{self.finding.id}"

    @property
    def link(self) -> Span:
        """Its short name, leading to its heading."""
        return Span(self.name, link=f"#{self.anchor}")

    @property
    def title(self) -> Inline:
        """Its name and title, and whether it fails the run."""
        state = "" if self.finding.acknowledged else "fails the run"
        why = ", ".join(part for part in ("" if self.finding.explained else "unexplained", state) if part)
        return (f"{self.name} {self.finding.title}", *([Span(f" ({why})", Style.BAD)] if why else []))


def number_findings(result: AuditResult) -> tuple[NumberedFinding, ...]:
    """Return the findings, the worst first, with their short names."""
    return tuple(NumberedFinding(f"F{at}", found) for at, found in enumerate(worst_first(result), 1))


def by_check(findings: tuple[NumberedFinding, ...]) -> dict[str, NumberedFinding]:
    """Return each failing check's finding."""
    return {name: one for one in findings for name in one.finding.checks}


_STALE_LISTED = 20


def nothing_was_checked(result: AuditResult) -> bool:
    """Return whether an audit has checks, and none of them could be decided."""
    return bool(result.checks) and result.counts()[Verdict.UNVERIFIABLE] == len(result.checks)


def say_that_none_fails(result: AuditResult) -> str:
    """Return the sentence for an audit without findings; checks that were not completed may still fail."""
    broken, open_ = result.counts()[Verdict.ERROR], result.counts()[Verdict.UNVERIFIABLE]
    if nothing_was_checked(result):
        missing = sum(check.reason == NO_MODEL for check in result.checks)
        why = f"; for {readable(missing)}, {NO_MODEL}" if missing else ""
        return f"Nothing was checked, and nothing is confirmed: {count_of(open_, 'check')} cannot be decided{why}."
    if not broken:
        return "No check fails."
    return "No check was completed." if broken == len(result.checks) else "No check that was completed fails."


def errors(result: AuditResult) -> Iterator[Block]:
    """Yield the checks that could not be made."""
    broken = [check for check in result.checks if check.verdict is Verdict.ERROR]
    if broken:
        hints = ([f"hint: {hint}" for hint in check.hint_texts] for check in broken)
        items = [
            Item(write_check(one), (*said, faint(place_in_specs(one)))) for one, said in zip(broken, hints, strict=True)
        ]
        yield from (Heading("Not completed", 3), List(tuple(items)))


def stale_findings(stale: Sequence[StaleFinding]) -> Iterator[Block]:
    """Yield the findings that cover checks that do not fail."""
    if stale:
        items = [Item((code(one.id), f" ({one.title}): {one.reason}"), (faint(place_in_specs(one)),)) for one in stale]
        yield from (Heading("Findings that cover checks that do not fail", 3), List(tuple(items)))


def stale_entries(stale: Sequence[StaleEntry]) -> Iterator[Block]:
    """Yield the entries of the lock that no longer hold."""
    if stale:
        items = [
            Item((code(one.check), ": ", one.reason), (faint(place_in_specs(one)),)) for one in stale[:_STALE_LISTED]
        ]
        more = [f"and {len(stale) - _STALE_LISTED} more"] if len(stale) > _STALE_LISTED else []
        yield from (Heading("Known before, different now", 3), List((*items, *more)))
        yield Paragraph(parse_code("`imlp-audit acknowledge` writes the lock anew once you agree with what changed."))


_HINTS = 2  # hints of a finding that a page shows without a click
_OPEN = 6  # checks of a finding that a page shows without a click


_HEADINGS = {FindingKind.ASK: "Ask the authors", FindingKind.MISPRINT: "Misprints", FindingKind.NOTE: "Notes"}


def finding_sections(result: AuditResult, findings: Sequence[NumberedFinding]) -> Iterator[Block]:
    """Yield the findings by kind, then what could not be completed, and entries of the lock that no longer hold."""
    checks = {check.id: check for check in result.checks}
    if not findings:
        yield Heading("Findings")
        yield Paragraph(say_that_none_fails(result))
    for kind, heading in _HEADINGS.items():
        own = [one for one in findings if one.finding.kind is kind]
        if own:
            yield Heading(heading)
        for one in own:
            yield from _finding(one, checks)
    yield from errors(result)
    yield from stale_entries(result.stale)
    yield from stale_findings(result.stale_findings)


def _finding(one: NumberedFinding, checks: Mapping[str, Check]) -> Iterator[Block]:
    """Yield a finding in full: why, the words and checks that it rests on, and its failing checks with their hints."""
    finding = one.finding
    yield Heading(one.title, 3, one.anchor)
    if finding.explained:
        yield Paragraph((finding.why, " ", faint("("), code(finding.id), faint(")")))
    quotes = [quote for quote in finding.evidence if isinstance(quote, Quote)]
    if quotes:
        yield List(tuple(f"“{quote.quote}” ({quote.source})" for quote in quotes))
    own = [checks[name] for name in (*finding.checks, *finding.evident_checks) if name in checks]
    if own:
        yield _evidence(own)
    hints = tuple(dict.fromkeys(hint for check in own for hint in check.hint_texts))
    if hints:
        listed = List(tuple(f"hint: {hint}" for hint in hints))
        yield listed if len(hints) <= _HINTS else Fold(count_of(len(hints), "hint"), (listed,))


def _evidence(checks: Sequence[Check]) -> Block:
    header = ("where", "printed", "measured", "gap", "what was found", "check")
    rows = [_row(check) for check in checks]
    kept = [at for at in range(len(header)) if any(row[at] for row in rows)]
    table = Table(tuple(header[at] for at in kept), tuple(tuple(row[at] for at in kept) for row in rows))
    return table if len(rows) <= _OPEN else Fold(f"All {len(rows)} checks", (table,))


def _row(check: Check) -> tuple[Inline, ...]:
    """Return the evidence of a failing check; the reason of a claim or a repeat names the values that it compares."""
    counted = check if isinstance(check, CountedCheck) else None
    return (
        name_place(check),
        printed_form(check) or "",
        write_measured(counted.measured) if counted is not None else "",
        (counted.gap if counted is not None else None) or "",
        (Span(check.verdict.value, style_of(check)), f": {check.reason}"),
        code_of(check),
    )


_MARKS: tuple[DecimalMark, ...] = (".", ",")
_RELATIVES = "are as printed, or nearly, with another form or size of their model; `--all` names it for each"


def choose_hints(asked: Check, checks: Sequence[Check], every: Sequence[Check] = ()) -> tuple[str, ...]:
    """Return the first hint of a check, and before it what as many as possible of the finding's checks are hinted.

    A convention holds for a column, and a hint says what it would lose there. A rounding rule holds for the whole
    paper, so what it would lose among all checks (`every`) is counted too.
    """
    hinted: dict[str, list[tuple[Check, AnyHint]]] = {}
    for check in checks:
        for way, hint in {way: hint for hint in check.hints if (way := _way(hint)) is not None}.items():
            hinted.setdefault(way, []).append((check, hint))
    of_paper = [one for one in every if one.id.partition("/")[0] == asked.id.partition("/")[0]]
    lost = {way: _count_lost(found, of_paper) for way, found in hinted.items()}

    def worth(way: str) -> tuple[int, int]:
        _, hint = hinted[way][0]
        return len(hinted[way]) - lost[way], -len(_undeclared(hint))

    way = max(hinted, key=worth, default="")
    shared = len(hinted.get(way, ())) > 1
    own = [hint for hint in asked.hints[:1] if not shared or isinstance(hint, ModelHint) or _way(hint) != way]
    if not shared:
        return tuple(f"hint: {hint}" for hint in own)
    loss = f"; {lost[way]} that {'follows' if lost[way] == 1 else 'follow'} now would not" if lost[way] else ""
    _, hint = hinted[way][0]
    common = f"{len(hinted[way])} of these {len(checks)} {way}{loss}{_where(_undeclared(hint), asked)}"
    return tuple(f"hint: {hint}" for hint in (common, *own))


def _way(hint: AnyHint) -> str | None:
    """Return what a hint says without the numbers and the model of its row; None for one that no two rows share."""
    match hint:
        case OptionHint():
            return hint.way
        case ModelHint():
            return _RELATIVES
        case str() | CauseHint():
            return None
        case _:
            assert_never(hint)


def _undeclared(hint: AnyHint) -> dict[str, str]:
    return hint.undeclared if isinstance(hint, OptionHint) else {}


def _where(missing: Mapping[str, str], check: Check) -> str:
    """Write how a spec declares a convention or rounding rule that it does not declare yet."""
    keys, convention = list[str](), missing.get("convention")
    if convention is not None and isinstance(check, CountedCheck) and check.convention is not None:
        key = _KEYS.get(convention) or _KEYS.get(check.convention, "flops")
        keys.append(f"{key}: [{convention}]")
    if "rounding" in missing:
        keys.append(f"rounding: [{missing['rounding']}]")
    return f"; if that is the paper's, declare it: `about: {{{', '.join(keys)}}}`" if keys else ""


_KEYS = dict.fromkeys(("all", "with_buffers", "trainable", "layers"), "parameters") | {"mib": "memory", "mb": "memory"}
"""The keys of `about` by conventions that FLOPs do not have; parameters and FLOPs both have `no_head`."""


def _count_lost(hinted: Sequence[tuple[Check, AnyHint]], every: Sequence[Check]) -> int:
    """Return how many numbers that follow now would not: in the columns of hints that say so, or by a rounding rule."""
    columns = {_column(check): hint.lost for check, hint in hinted if isinstance(hint, OptionHint) and hint.lost}
    rule = _undeclared(hinted[0][1]).get("rounding")
    others = [check for check in every if _column(check) not in columns] if rule is not None else []
    return sum(columns.values()) + sum(_loses(check, Rounding(rule)) for check in others if rule is not None)


def _column(check: Check) -> tuple[str, ...]:
    parts = check.id.split("/")
    return *parts[:2], *parts[3:]


def _loses(check: Check, rule: Rounding) -> bool:
    """Return whether the measured value of a cell that passes would not be printed so under another rule."""
    if not isinstance(check, CellCheck) or check.verdict not in PASSES or check.measured is None:
        return False
    printed = _read_printed(check)
    return printed is not None and Fraction(check.measured) not in printed.interval(rule)


def _read_printed(check: CellCheck) -> Printed | None:
    """Read a check's printed number by the decimal mark that gives its interval; None where neither does."""
    for mark in _MARKS:
        try:
            printed = parse_printed(check.printed or "", NumberForm(check.unit or "", mark))
            interval = printed.interval(Rounding(check.rounding or ""))
        except ValueError:
            continue
        if (decimal_text(interval.low, EXACT), decimal_text(interval.high, EXACT)) == check.interval:
            return printed
    return None
