"""Expressions of symbols that are always multiplied out, so that equal ones have the same terms.

Two sums of products, with functions of which only the names are known, are equal for all numbers and all functions
exactly if their terms are. sympy, which also keeps expressions that are not multiplied out, takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache, cached_property
from itertools import count

Coefficient = int | Fraction
Term = tuple[str, ...]  # the symbols that are multiplied, in order
_NUMBERS = count(1)


class Applied(str):
    """A function of which only the name is known, of an argument: a symbol of its own, equal for equal arguments."""

    __slots__ = ("argument", "name")
    name: str
    argument: Expression


class Expression:
    """A sum of products of symbols, each with a coefficient other than 0."""

    __array_ufunc__ = None  # a number of numpy leaves arithmetic with it to this class

    def __init__(self, terms: Mapping[Term, Coefficient]) -> None:
        self.terms = terms

    @staticmethod
    def of(value: Number) -> Expression:
        """Return a expression as it is, or a number, which is taken for what it is in binary."""
        if isinstance(value, Expression):
            return value
        exact = Fraction(value)
        number = exact.numerator if exact.denominator == 1 else exact
        return Expression({(): number} if number else {})

    @staticmethod
    def symbol(name: str) -> Expression:
        """Return a symbol."""
        return Expression({(name,): 1})

    @staticmethod
    def total(expressions: Iterable[Expression]) -> Expression:
        """Add up."""
        terms: dict[Term, Coefficient] = {}
        for expression in expressions:
            for term, coefficient in expression.terms.items():
                terms[term] = terms.get(term, 0) + coefficient
        return Expression({term: coefficient for term, coefficient in terms.items() if coefficient})

    def apply(self, function: str) -> Expression:
        """Return a function of this of which only the name is known."""
        return Expression({(_applied(function, self),): 1})

    def __add__(self, other: Number) -> Expression:
        """Add."""
        return Expression.total((self, Expression.of(other))) if isinstance(other, Number) else NotImplemented

    __radd__ = __add__

    def __neg__(self) -> Expression:
        """Negate."""
        return Expression({term: -coefficient for term, coefficient in self.terms.items()})

    def __sub__(self, other: Number) -> Expression:
        """Subtract."""
        return self + -other if isinstance(other, Number) else NotImplemented

    def __rsub__(self, other: Number) -> Expression:
        """Subtract from a number."""
        return -self + other

    def __mul__(self, other: Number) -> Expression:
        """Multiply out."""
        if not isinstance(other, Number):
            return NotImplemented
        terms: dict[Term, Coefficient] = {}
        right = Expression.of(other).terms.items()
        for one, a in self.terms.items():
            for two, b in right:
                term = _cancel(sorted(one + two))
                terms[term] = terms.get(term, 0) + a * b
        return Expression({term: coefficient for term, coefficient in terms.items() if coefficient})

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Expression:
        """Divide by a number or a single term, which is not 0."""
        ((term, coefficient),) = Expression.of(other).terms.items()
        reciprocal = Expression({tuple(sorted(f"1/{symbol}" for symbol in term)): 1 / Fraction(coefficient)})
        return self * reciprocal

    def __eq__(self, other: object) -> bool:
        """Compare all terms."""
        return isinstance(other, Number) and self.terms == Expression.of(other).terms

    def __hash__(self) -> int:
        """Hash all terms."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __str__(self) -> str:
        """Write as it is written by hand, the functions with their arguments."""
        terms = (_write(term, coefficient) for term, coefficient in sorted(self.terms.items()))
        return " + ".join(terms).replace("+ -", "- ") or "0"


def _cancel(term: list[str]) -> Term:
    """Take out each reciprocal with its symbol; reciprocals come first in order."""
    for reciprocal in [symbol for symbol in term if symbol.startswith("1/")] if term and term[0][0] == "1" else ():
        if reciprocal[2:] in term:
            term.remove(reciprocal)
            term.remove(reciprocal[2:])
    return tuple(term)


Number = Expression | Fraction | int | float


def _write(term: Term, coefficient: Coefficient) -> str:
    factors = [f"{each.name}({each.argument})" if isinstance(each, Applied) else each for each in term]
    if coefficient == -1 and factors:
        return f"-{'*'.join(factors)}"
    return "*".join(factors if coefficient == 1 and factors else [str(coefficient), *factors])


@cache
def _applied(function: str, argument: Expression) -> Applied:
    symbol = Applied(f"{function}#{next(_NUMBERS)}")
    symbol.name, symbol.argument = function, argument
    return symbol
