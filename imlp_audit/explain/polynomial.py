"""Closed formulas: polynomials in a model's dimensions with exact coefficients, and sums of named parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TypeAlias

Monomial: TypeAlias = tuple[str, ...]
"""Symbols in order, with a squared one listed twice; empty for a constant."""

Number: TypeAlias = int | Fraction

_ORDER = ("L", "N", "n", "V", "P", "K", "C", "C'", "D_C", "d")  # the order of symbols in a product
_EXPONENTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Polynomial:
    """A sum of products of symbols, each with a coefficient other than 0."""

    terms: Mapping[Monomial, Fraction]

    @classmethod
    def of(cls, value: Polynomial | Number) -> Polynomial:
        """Return a number as a polynomial; a polynomial is returned unchanged."""
        return value if isinstance(value, Polynomial) else _without_zeros({(): Fraction(value)})

    def __add__(self, other: Polynomial | Number) -> Polynomial:
        sums = dict(self.terms)
        for monomial, coefficient in Polynomial.of(other).terms.items():
            sums[monomial] = sums.get(monomial, Fraction(0)) + coefficient
        return _without_zeros(sums)

    __radd__ = __add__

    def __mul__(self, other: Polynomial | Number) -> Polynomial:
        products = Polynomial({})
        for mine, a in self.terms.items():
            for theirs, b in Polynomial.of(other).terms.items():
                products = products + Polynomial({tuple(sorted((*mine, *theirs), key=_ORDER.index)): a * b})
        return products

    __rmul__ = __mul__

    def at(self, values: Mapping[str, int]) -> int:
        """Return the value for given numbers. Raises ValueError if it is not a whole number."""
        value = sum(c * prod(values[symbol] for symbol in monomial) for monomial, c in self.terms.items())
        if Fraction(value).denominator != 1:
            raise ValueError(f"{self} is not a whole number for {values}")
        return int(value)

    def __str__(self) -> str:
        """Write the terms, highest degree first: n² C' + 3/2 C C' + 3 C."""
        terms = sorted(self.terms.items(), key=lambda term: (-len(term[0]), [_ORDER.index(s) for s in term[0]]))
        written = " + ".join(_term(monomial, coefficient) for monomial, coefficient in terms)
        return written.replace("+ -", "- ") or "0"


def symbol(name: str) -> Polynomial:
    """Return a dimension by its name. Raises ValueError if formulas have no such dimension."""
    _ORDER.index(name)
    return Polynomial({(name,): Fraction(1)})


def _without_zeros(terms: Mapping[Monomial, Number]) -> Polynomial:
    return Polynomial({monomial: Fraction(c) for monomial, c in terms.items() if c})


def _term(monomial: Monomial, coefficient: Fraction) -> str:
    powers = [_power(name, count) for name, count in Counter(monomial).items()]
    return " ".join([*([str(coefficient)] if coefficient != 1 or not powers else []), *powers])


def _power(name: str, count: int) -> str:
    return name if count == 1 else name + str(count).translate(_EXPONENTS)


@dataclass(frozen=True)
class Term:
    """A part of a model and its formula."""

    part: str
    formula: Polynomial


def total(terms: Iterable[Term]) -> Polynomial:
    """Return the sum of the parts."""
    return sum((term.formula for term in terms), Polynomial({}))


def keep_present(*terms: Term) -> tuple[Term, ...]:
    """Return the parts whose formula is not 0."""
    return tuple(term for term in terms if term.formula.terms)


def include_if(there: object, formula: Polynomial) -> Polynomial:
    """Return a part's formula if the part exists, else 0."""
    return formula if there else Polynomial({})
