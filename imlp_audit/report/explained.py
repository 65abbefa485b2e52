"""What explains one verdict: what is printed and measured, why, and where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import PASSES, CellCheck, CountedCheck
from imlp_audit.report.cells import list_other_measurements, write_measured
from imlp_audit.report.commands import explain_command
from imlp_audit.report.document import Block, Inline, Item, List, Paragraph, Span, code, faint, strong
from imlp_audit.report.evidence import describe_run
from imlp_audit.report.numbered import NumberedFinding
from imlp_audit.report.verdicts import CAVEATS, style_of, word_of


def explain_check(check: CountedCheck, findings: Mapping[str, NumberedFinding], title: str = "") -> Iterator[Block]:
    """Yield an explanation of a number's verdict."""
    if title:
        yield Paragraph(strong(title))
    yield List(tuple(Item(text, label=label) for label, text in _facts(check, findings)))


def _facts(check: CountedCheck, findings: Mapping[str, NumberedFinding]) -> Iterator[tuple[str, Inline]]:
    yield "verdict", (Span(word_of(check.verdict), style_of(check)), *_qualify(check))
    unit = f" {check.unit}" if check.unit and check.printed and not check.printed.endswith(check.unit) else ""
    yield "printed", f"{check.printed or '?'}{unit}"
    if check.measured is not None:
        gap = f" (gap {check.gap} in the last printed digit)" if check.gap else ""
        yield "measured", f"{write_measured(check.measured)}{gap}"
    yield "why", check.reason
    if check.measured is not None and (check.reading or check.convention):
        yield "measured under", ", ".join(part for part in (check.reading, check.convention, check.rounding) if part)
    others = list_other_measurements(check)
    if others:
        yield "also measured", others
    for hint in check.hint_texts:
        yield "hint", hint
    for run in check.evidence:
        yield "evidence", describe_run(run)
    if isinstance(check, CellCheck) and check.power is not None and check.verdict in PASSES:
        one, ten = check.power.one, check.power.ten
        yield (
            "power",
            (
                f"{one.caught} of {count_of(one.tried, 'wrong number')} one last digit away would not have passed, "
                f"{ten.caught} of {ten.tried} within ten"
            ),
        )
    found = findings.get(check.id)
    if found is not None:
        yield "finding", (found.link, f": {found.finding.title}")
    yield "ask", (code(explain_command(check)), faint(f" ({check.source.file}:{check.source.line})"))


def _qualify(check: CountedCheck) -> Iterator[str]:
    if check.under:
        yield f" ({', '.join(check.under)})"
    if check.acknowledged:
        yield ", known"
    for caveat in check.caveats:
        yield f"; {caveat}: {CAVEATS[caveat].meaning}"
