"""A closed formula as a sum of named parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from imlp_audit.explain.polynomial import Polynomial


@dataclass(frozen=True)
class Term:
    """What a part has, in the dimensions of the model."""

    part: str
    formula: Polynomial


def total(terms: Iterable[Term]) -> Polynomial:
    """Return the sum."""
    return sum((term.formula for term in terms), Polynomial({}))


def present(*terms: Term) -> tuple[Term, ...]:
    """Return the parts that have something."""
    return tuple(term for term in terms if term.formula.terms)


def where(there: object, formula: Polynomial) -> Polynomial:
    """Return a part's formula where there is the part, else nothing."""
    return formula if there else Polynomial({})
