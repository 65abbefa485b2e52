"""What runs of a checkpoint or on hardware measured, in words: one list of lines for a terminal and for markdown."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import assert_never

from imlp_audit.numbers.interval import readable
from imlp_audit.records.check import Check
from imlp_audit.records.evidence import Accuracy, Evidence, PairedAccuracy, Throughput
from imlp_audit.records.result import AuditResult

SAMPLING = "Under `sampling` a number is not equal as printed, but the 95 % interval of what was measured meets it."
_SHORT = 12  # hexadecimal digits of a SHA-256 that tell files apart for people


def with_evidence(result: AuditResult) -> list[Check]:
    """Return the checks that rest on runs."""
    return [check for check in result.checks if check.evidence]


def told(evidence: Evidence) -> str:
    """Say what a run measured, of what, and how."""
    match evidence:
        case Accuracy():
            parts = _accuracy(evidence)
        case PairedAccuracy():
            parts = _paired(evidence)
        case Throughput():
            parts = _throughput(evidence)
        case _:
            assert_never(evidence)
    return "; ".join(parts)


def _accuracy(found: Accuracy) -> Iterator[str]:
    yield f"checkpoint {found.checkpoint[:_SHORT]}"
    yield f"{readable(found.correct)} of {readable(found.images)} images, 95 % interval [{found.low}, {found.high}]"
    yield f"images {found.data[:_SHORT]}"
    yield from _settings(found.settings)


def _paired(found: PairedAccuracy) -> Iterator[str]:
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


def spent(found: Throughput) -> Iterator[tuple[str, ...]]:
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
