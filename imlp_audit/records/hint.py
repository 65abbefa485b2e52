"""Hints: what would make a failing number follow. Each is data; its text is made here."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from imlp_audit.numbers.interval import readable
from imlp_audit.records.base import Record
from imlp_audit.records.values import Count, Number


class OptionHint(Record):
    """Another reading, convention or rounding rule whose `value` prints as the number does.

    Those that a number was judged under are left out; `missing` are the kinds that the spec does not declare. `support`
    says how many of the paper's numbers follow under a declared one, and `lost` how many numbers of the column, which
    follow now, would not. A convention from `elsewhere` is one that the spec has, for other numbers.
    """

    kind: Literal["option"] = "option"
    value: Number
    reading: str | None = None
    convention: str | None = None
    rounding: str | None = None
    missing: tuple[str, ...] = ()
    elsewhere: bool = False
    support: str = ""
    lost: Count = 0

    @property
    def options(self) -> dict[str, str]:
        """What departs, by its kind."""
        kinds = {"reading": self.reading, "convention": self.convention, "rounding": self.rounding}
        return {kind: name for kind, name in kinds.items() if name is not None}

    @property
    def undeclared(self) -> dict[str, str]:
        """What departs and is not declared, by its kind."""
        return {kind: name for kind, name in self.options.items() if kind in self.missing}

    @property
    def way(self) -> str:
        """The text without the number of one row, and without the price in one column."""
        fits = f"would fit under {_name(self.options)}" if self.options else "would fit"
        if not self.missing:
            return f"{fits}; {self.support}" if self.support else f"{fits}, which it was not judged under"
        if self.elsewhere and set(self.missing) == {"convention"}:
            return f"{fits}; the spec has convention {self.convention} for other numbers"
        if self.undeclared == self.options:
            return f"{fits}, which the spec does not declare"
        return f"{fits}; the spec does not declare {_name(self.undeclared)}"

    def __str__(self) -> str:
        follow = "follows now" if self.lost == 1 else "follow now"
        lost = f"; {self.lost} of the column's numbers that {follow} would not" if self.lost else ""
        return f"{readable(Fraction(self.value))} {self.way}{lost}"


class ModelHint(Record):
    """Another form or size of a row's model: it has the printed number, or is nearer by a `gap` in percent."""

    kind: Literal["model"] = "model"
    model: str
    gap: Number | None = None

    def __str__(self) -> str:
        if self.gap is None:
            return f"as printed with `model: {{{self.model}}}`: give the row that model, if it is the one that is meant"
        return f"with `model: {{{self.model}}}` the gap is {self.gap} %: is that model meant?"


class AnotherModel(Record):
    """A number so far off that the row may mean another model; which one is not known."""

    kind: Literal["another_model"] = "another_model"
    why: str

    def __str__(self) -> str:
        return f"{self.why} than `model` gives"


AnyHint: TypeAlias = Annotated[OptionHint | ModelHint | AnotherModel, Field(discriminator="kind")] | str
"""A hint, or a note for the reader that nothing is made from."""


def _name(options: dict[str, str]) -> str:
    return ", ".join(f"{kind} {name}" for kind, name in options.items())
