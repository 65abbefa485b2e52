"""Tables of a comparison's operations: where saved work saves time, and where it does not. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.check import Check
from imlp_audit.records.evidence import Spent, Throughput
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import Block, Document, Heading, Paragraph, Table, number_columns

LEAST = Fraction(1, 100)  # of a model's time or work; kinds of modules with less are added up
HEADS = (
    "modules",
    "baseline: M MACs",
    "baseline: ms",
    "baseline: G MACs/s",
    "variant: M MACs",
    "variant: ms",
    "variant: G MACs/s",
)


def operations_document(result: AuditResult) -> Document:
    """Return a table for each comparison in a result: what modules of each kind do and take for one image."""
    return tuple(
        block
        for check in result.checks
        for evidence in check.evidence
        if isinstance(evidence, Throughput) and evidence.spent
        for block in _describe_comparison(check, evidence)
    )


def _describe_comparison(check: Check, evidence: Throughput) -> Iterator[Block]:
    compiled = evidence.settings["compiled"] == "yes"
    eager = ", timed module by module and therefore not compiled" if compiled else ""
    total = _add_up("all", evidence.spent)
    large = [one for one in evidence.spent if _matters(one, total)]
    small = [one for one in evidence.spent if one not in large]
    rows = [*map(_row, large), *([_row(_add_up("others", small))] if small else []), _row(total)]
    yield Heading(f"{check.id} and {evidence.settings['against']}", 2)
    yield Paragraph(f"For one image of a batch of {evidence.batch}{eager}:")
    yield Table(HEADS, tuple(rows), number_columns(HEADS))
    yield Paragraph(_describe_savings(total, evidence))


def _add_up(name: str, spent: Sequence[Spent]) -> Spent:
    return Spent(
        modules=name,
        baseline_macs=sum(one.baseline_macs for one in spent),
        variant_macs=sum(one.variant_macs for one in spent),
        baseline_seconds=decimal_text(sum((Fraction(one.baseline_seconds) for one in spent), Fraction(0)), 12),
        variant_seconds=decimal_text(sum((Fraction(one.variant_seconds) for one in spent), Fraction(0)), 12),
    )


def _matters(one: Spent, whole: Spent) -> bool:
    shares = (
        (Fraction(one.baseline_macs), Fraction(whole.baseline_macs)),
        (Fraction(one.variant_macs), Fraction(whole.variant_macs)),
        (Fraction(one.baseline_seconds), Fraction(whole.baseline_seconds)),
        (Fraction(one.variant_seconds), Fraction(whole.variant_seconds)),
    )
    return any(part > 0 and part >= LEAST * total for part, total in shares)


def _row(one: Spent) -> tuple[str, ...]:
    return (
        one.modules,
        *_cells(one.baseline_macs, Fraction(one.baseline_seconds)),
        *_cells(one.variant_macs, Fraction(one.variant_seconds)),
    )


def _cells(macs: int, seconds: Fraction) -> tuple[str, str, str]:
    """Return millions of multiply-accumulates, milliseconds, and billions of them per second; empty for zero."""
    rate = f"{float(macs / seconds / 10**9):.2f}" if macs and seconds else ""
    return (f"{macs / 10**6:.2f}" if macs else "", f"{float(seconds * 1000):.3f}" if seconds else "", rate)


def _describe_savings(whole: Spent, evidence: Throughput) -> str:
    """Say how much less or more work and time the variant takes, and whether the interval of the time shows either."""
    work = f"{_change(Fraction(whole.variant_macs, whole.baseline_macs))} work and " if whole.baseline_macs else ""
    time, least, most = (1 / Fraction(x) for x in (evidence.ratio, evidence.high, evidence.low))
    open_ = ", which shows neither" if least <= 1 <= most else ""
    return f"The variant takes {work}{_change(time)} time (95 % interval: {_change(least)} to {_change(most)}{open_})."


def _change(share: Fraction) -> str:
    return f"{float(100 * abs(1 - share)):.2f} % {'less' if share <= 1 else 'more'}"
