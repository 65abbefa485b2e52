"""Proofs of inequalities: the difference of both sides is a sum of products of what is not negative."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from imlp_audit.equations.claim import Trial, equal
from imlp_audit.equations.rounded import Rounded, total


@dataclass(frozen=True)
class NotNegative:
    """A number or an expression that is not negative; sums and products of two are not negative either."""

    value: Rounded

    def __add__(self, other: NotNegative) -> NotNegative:
        """Add."""
        return NotNegative(self.value + other.value)

    def __mul__(self, other: NotNegative) -> NotNegative:
        """Multiply."""
        return NotNegative(self.value * other.value)


def square(x: Rounded) -> NotNegative:
    """Return a square."""
    return NotNegative(x * x)


def suppose(x: Rounded) -> NotNegative:
    """Return what the statement supposes not to be negative."""
    return NotNegative(x)


def add_up(reasons: Iterable[NotNegative]) -> NotNegative:
    """Add up."""
    return NotNegative(total(reason.value for reason in reasons))


def at_most_by(left: Rounded, right: Rounded, reason: NotNegative, **inputs: object) -> Trial:
    """Judge whether the right side is the left side and something that is not negative."""
    return equal([right - left], [reason.value], **inputs)
