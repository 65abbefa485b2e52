"""The section of evidence: what runs of a checkpoint or on hardware measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import assert_never

from imlp_audit.numbers.interval import readable
from imlp_audit.records.check import FAILS, Check, Verdict
from imlp_audit.records.evidence import Accuracy, Evidence, PairedAccuracy, Throughput
from imlp_audit.records.result import AuditResult
from imlp_audit.report.document import (
    Block,
    Heading,
    Item,
    List,
    Paragraph,
    Table,
    code,
    number_columns,
    parse_code,
)
from imlp_audit.report.verdicts import write_verdict

SAMPLING = (
    "Under `sampling`, a part was measured for the whole: the 95 % interval of the measured number contains a value "
    "that rounds to the printed one."
)
_SHORT = 12  # hexadecimal digits of a SHA-256 that tell files apart for people


def with_evidence(result: AuditResult) -> list[Check]:
    """Return the checks that rest on runs."""
    return [check for check in result.checks if check.evidence]


def evidence(checks: Sequence[Check]) -> Iterator[Block]:
    """Yield what the numbers that needed a run rest on."""
    if not checks:
        return
    yield Heading("Evidence")
    if any("sampling" in check.under for check in checks):
        yield Paragraph(parse_code(SAMPLING))
    yield List(tuple(map(_run, checks)))


def _run(check: Check) -> Item:
    printed = f" printed {check.printed}"
    reason = "" if check.verdict in (*FAILS, Verdict.ERROR) else f": {check.reason}"  # these are among the findings
    return Item((write_verdict(check), " ", code(check.id), printed, reason), tuple(map(describe_run, check.evidence)))


def where_time_goes(checks: Sequence[Check]) -> Iterator[Block]:
    """Yield a table for each timed pair of models: what modules of each kind do and take for one image."""
    for check in checks:
        for timed in check.evidence:
            if isinstance(timed, Throughput) and timed.spent:
                compiled = timed.settings.get("compiled") == "yes"
                eager = ", timed module by module and therefore not compiled" if compiled else ""
                batch = f", one image of a batch of {timed.batch}{eager}:"
                yield Paragraph(("Where the time goes, ", code(check.id), batch))
                yield Table(SPENT, tuple(_time_spent(timed)), number_columns(SPENT))


def describe_run(run: Evidence) -> str:
    """Say what a run measured, of what, and how."""
    match run:
        case Accuracy():
            parts = _accuracy(run)
        case PairedAccuracy():
            parts = _paired_accuracy(run)
        case Throughput():
            parts = _throughput(run)
        case _:
            assert_never(run)
    return "; ".join(parts)


def _accuracy(found: Accuracy) -> Iterator[str]:
    yield f"checkpoint {found.checkpoint[:_SHORT]}"
    yield f"{readable(found.correct)} of {readable(found.images)} images, 95 % interval [{found.low}, {found.high}]"
    yield f"images {found.data[:_SHORT]}"
    yield from _settings(found.settings)


def _paired_accuracy(found: PairedAccuracy) -> Iterator[str]:
    yield f"checkpoints {found.first[:_SHORT]} and {found.second[:_SHORT]}"
    neither = found.images - found.both - found.first_only - found.second_only
    yield (
        f"{readable(found.images)} images: {readable(found.both)} right in both, {readable(found.first_only)} in the "
        f"first alone, {readable(found.second_only)} in the second alone, {readable(neither)} in neither"
    )
    yield f"difference {found.difference} points, 95 % interval [{found.low}, {found.high}]; p = {found.p}"


def _throughput(found: Throughput) -> Iterator[str]:
    yield f"{found.baseline} and {found.variant} images a second, ratio {found.ratio}"
    yield f"95 % interval [{found.low}, {found.high}], batch {found.batch}, {found.pairs} pairs"
    yield f"on {found.hardware}; the paper: {found.stated}"
    yield from _settings(found.settings)


def _settings(settings: dict[str, str]) -> Iterator[str]:
    if settings:
        yield ", ".join(f"{name} {value}" for name, value in sorted(settings.items()))


SPENT = ("modules", "baseline: M MACs", "ms", "G MACs/s", "variant: M MACs", "ms", "G MACs/s")


def _time_spent(found: Throughput) -> Iterator[tuple[str, ...]]:
    """Yield by kind of module what both models do and take for one image, as `SPENT` heads it."""
    for one in found.spent:
        yield (
            one.modules,
            *_rate(one.baseline_macs, Fraction(one.baseline_seconds)),
            *_rate(one.variant_macs, Fraction(one.variant_seconds)),
        )


def _rate(macs: int, seconds: Fraction) -> tuple[str, str, str]:
    rate = readable(macs / seconds / 10**9, 2) if macs and seconds else ""
    return readable(Fraction(macs, 10**6), 2), readable(1000 * seconds, 3), rate
