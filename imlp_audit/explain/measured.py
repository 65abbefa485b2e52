"""The measurements that a check has on record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from imlp_audit.records.check import Check, Measurement


def every_measurement(check: Check) -> Sequence[Measurement]:
    """Return the measurement that decides a check, and all others; none of a check that measured nothing."""
    if check.measured is None:
        return ()
    deciding = Measurement(
        reading=check.reading, convention=check.convention, measured=check.measured, verdict=check.verdict
    )
    return deciding, *check.also


def by_convention(check: Check) -> Mapping[tuple[str | None, str | None], Fraction]:
    """Return the measured numbers by reading and convention."""
    return {(one.reading, one.convention): Fraction(one.measured) for one in every_measurement(check)}
