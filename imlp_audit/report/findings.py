"""Findings: their order, short names and common hints; in a line each for a terminal, and in full for a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import NO_MODEL, Check, CheckKind, CountedCheck, OptionHint, Verdict, printed_form
from imlp_audit.records.finding import Finding, FindingKind, Quote, StaleFinding
from imlp_audit.records.result import AuditResult
from imlp_audit.report import document as doc
from imlp_audit.report.verdicts import code_of, name_place, place_in_specs, style_of, write_check, write_measured

_KINDS = tuple(FindingKind)


def worst_first(result: AuditResult) -> list[Finding]:
    """Return the findings of a result: first those that fail the run, then by kind, as `findings.yaml` orders them.

    Of those that nothing explains printed changes come last, since a wrong cell makes its change wrong too; before that
    the ones of more checks come first, then contradictions.
    """
    checks = {check.id: check for check in result.checks}

    def rank(finding: Finding) -> tuple[bool, bool, int, bool, int, bool]:
        kind = _KINDS.index(finding.kind)
        if finding.explained:
            return finding.acknowledged, True, kind, False, 0, False
        own = [checks[name] for name in finding.checks]  # all of one kind
        contradicts = any(check.verdict is Verdict.INCONSISTENT for check in own)
        return finding.acknowledged, False, kind, own[0].kind is CheckKind.DELTA, -len(own), not contradicts

    return sorted((*result.unexplained(), *result.findings), key=rank)


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
    def link(self) -> doc.Span:
        """Its short name, leading to its heading."""
        return doc.Span(self.name, link=f"#{self.anchor}")

    @property
    def title(self) -> doc.Inline:
        """Its name and title, and whether it fails the run."""
        state = "" if self.finding.acknowledged else "fails the run"
        why = ", ".join(part for part in ("" if self.finding.explained else "unexplained", state) if part)
        return (f"{self.name} {self.finding.title}", *([doc.Span(f" ({why})", doc.Style.BAD)] if why else []))


def number_findings(result: AuditResult) -> tuple[NumberedFinding, ...]:
    """Return the findings, the worst first, with their short names."""
    return tuple(NumberedFinding(f"F{at}", found) for at, found in enumerate(worst_first(result), 1))


def say_that_none_fails(result: AuditResult) -> str:
    """Return the sentence for an audit without findings; checks that were not completed may still fail."""
    broken, open_ = result.counts()[Verdict.ERROR], result.counts()[Verdict.UNVERIFIABLE]
    if open_ and open_ == len(result.checks):
        missing = sum(check.reason == NO_MODEL for check in result.checks)
        why = f"; for {readable(missing)}, {NO_MODEL}" if missing else ""
        return f"Nothing was checked, and nothing is confirmed: {count_of(open_, 'check')} cannot be decided{why}."
    if not broken:
        return "No check fails."
    return "No check was completed." if broken == len(result.checks) else "No check that was completed fails."


def _errors(result: AuditResult) -> Iterator[doc.Item]:
    for one in result.checks:
        if one.verdict is Verdict.ERROR:
            hints = (f"hint: {hint}" for hint in one.hint_texts)
            yield doc.Item(write_check(one), (*hints, doc.faint(place_in_specs(one))))


def stale_findings(stale: Sequence[StaleFinding]) -> Iterator[doc.Block]:
    """Yield the findings that cover checks that do not fail."""
    items = (
        doc.Item((doc.code(one.id), f" ({one.title}): {one.reason}"), (doc.faint(place_in_specs(one)),))
        for one in stale
    )
    yield from doc.titled_list("Findings that cover checks that do not fail", items)


_HINTS = 2  # hints of a finding that a page shows without a click
_OPEN = 6  # checks of a finding that a page shows without a click


_HEADINGS = {FindingKind.ASK: "Ask the authors", FindingKind.MISPRINT: "Misprints", FindingKind.NOTE: "Notes"}


def finding_sections(result: AuditResult, findings: Sequence[NumberedFinding]) -> Iterator[doc.Block]:
    """Yield the findings by kind, then what could not be completed, and entries of the lock that no longer hold."""
    checks = {check.id: check for check in result.checks}
    if not findings:
        yield doc.Heading("Findings")
        yield doc.Paragraph(say_that_none_fails(result))
    for kind, heading in _HEADINGS.items():
        own = [one for one in findings if one.finding.kind is kind]
        if own:
            yield doc.Heading(heading)
        for one in own:
            yield from _finding(one, checks)
    yield from doc.titled_list("Not completed", _errors(result))
    stale = (
        doc.Item((doc.code(one.check), ": ", one.reason), (doc.faint(place_in_specs(one)),)) for one in result.stale
    )
    yield from doc.titled_list("Known before, different now", stale)
    if result.stale:
        yield doc.Paragraph(
            doc.parse_code("`imlp-audit acknowledge` writes the lock anew once you agree with what changed.")
        )
    yield from stale_findings(result.stale_findings)


def _finding(one: NumberedFinding, checks: Mapping[str, Check]) -> Iterator[doc.Block]:
    """Yield a finding in full: why, the words and checks that it rests on, and its failing checks with their hints."""
    finding = one.finding
    yield doc.Heading(one.title, 3, one.anchor)
    if finding.explained:
        yield doc.Paragraph((finding.why, " ", doc.faint("("), doc.code(finding.id), doc.faint(")")))
    quotes = [quote for quote in finding.evidence if isinstance(quote, Quote)]
    if quotes:
        yield doc.List(tuple(f"“{quote.quote}” ({quote.source})" for quote in quotes))
    own = [checks[name] for name in (*finding.checks, *finding.evident_checks) if name in checks]
    if own:
        yield _evidence(own)
    hints = tuple(dict.fromkeys(hint for check in own for hint in check.hint_texts))
    if hints:
        listed = doc.List(tuple(f"hint: {hint}" for hint in hints))
        yield listed if len(hints) <= _HINTS else doc.Fold(count_of(len(hints), "hint"), (listed,), kept=True)


def _evidence(checks: Sequence[Check]) -> doc.Block:
    header = ("where", "printed", "measured", "gap", "what was found", "check")
    rows = [_row(check) for check in checks]
    kept = [at for at in range(len(header)) if any(row[at] for row in rows)]
    table = doc.Table(tuple(header[at] for at in kept), tuple(tuple(row[at] for at in kept) for row in rows))
    return table if len(rows) <= _OPEN else doc.Fold(f"All {len(rows)} checks", (table,), kept=True)


def _row(check: Check) -> tuple[doc.Inline, ...]:
    """Return the evidence of a failing check; the reason of a claim or a repeat names the values that it compares."""
    counted = check if isinstance(check, CountedCheck) else None
    return (
        name_place(check),
        printed_form(check) or "",
        write_measured(counted.measured) if counted is not None else "",
        (counted.gap if counted is not None else None) or "",
        (doc.Span(check.verdict.value, style_of(check)), f": {check.reason}"),
        code_of(check),
    )


def choose_hints(asked: Check, checks: Sequence[Check]) -> tuple[str, ...]:
    """Return the first hint of a check, and before it the option that most of its column's checks are hinted.

    A convention holds for a column, and a hint says how many of its numbers would no longer follow.
    """
    options = [hint for check in checks for hint in check.hints if isinstance(hint, OptionHint)]
    hinted, lost = Counter(hint.way for hint in options), {hint.way: hint.lost for hint in options}
    best = max(hinted, key=lambda way: hinted[way] - lost[way], default="")
    if hinted[best] < 2:
        return tuple(f"hint: {hint}" for hint in asked.hint_texts[:1])
    loss = f"; {lost[best]} that {'follows' if lost[best] == 1 else 'follow'} now would not" if lost[best] else ""
    own = [hint for hint in asked.hints[:1] if not (isinstance(hint, OptionHint) and hint.way == best)]
    return tuple(f"hint: {hint}" for hint in (f"{hinted[best]} of these {len(checks)} {best}{loss}", *own))
