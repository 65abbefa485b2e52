"""The explanation of one check: the JSON of `imlp-audit explain`, and what its text is made from."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field

from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.base import JsonDocument, Number, Record
from imlp_audit.records.check import Check
from imlp_audit.records.counted import PrintedNumber
from imlp_audit.records.finding import Finding


class Fact(Record):
    """One labelled line about a check: `printed`, `stands for`, `compared`, `because`, ..."""

    label: str
    text: str


class MeasuredValue(Record):
    """A measured number beside the printed one.

    `name` says what it was measured under (readings, a kernel). `gap` is the distance from the printed number in units
    of its last digit. `prints_by` is the first declared rounding rule under which the value prints as the paper has it.
    """

    name: str
    convention: str | None = None
    measured: Number
    gap: str
    prints_by: Rounding | None = None


class Measurements(Record):
    """What was measured, under every declared reading and convention.

    `names` says what the values differ in. `rounding` is the paper's first rounding rule.
    """

    kind: Literal["measurements"] = "measurements"
    names: Literal["reading", "model"]
    printed: str
    rounding: Rounding
    in_percent: bool = False
    values: tuple[MeasuredValue, ...]


class Amount(Record):
    """How much of a model's number falls to a part of the model."""

    name: str
    amount: int
    baseline: int | None = None


class Breakdown(Record):
    """A model's number by part, with the baseline's where the row has one; the amounts add up exactly.

    `counted` says what is counted, `reading` under which reading if that matters. `failure` says why the baseline
    could not be counted.
    """

    kind: Literal["breakdown"] = "breakdown"
    counted: str
    reading: str | None
    model: str
    baseline: str | None = None
    failure: str | None = None
    parts: tuple[Amount, ...]


class RowByRow(Record):
    """The result of a claim in each row: the row, its values, and the outcome."""

    kind: Literal["rows"] = "rows"
    rows: tuple[tuple[str, str, str], ...]


class RelatedCell(Record):
    """A printed number that a check rests on; `verdict` where that was checked too."""

    id: str
    printed: str
    unit: str
    verdict: str | None = None


class RestsOn(Record):
    """The printed numbers that a check rests on; each can be explained by its id."""

    kind: Literal["rests_on"] = "rests_on"
    cells: tuple[RelatedCell, ...]


class Causes(Record):
    """What would give a printed number that does not follow."""

    kind: Literal["causes"] = "causes"
    number: PrintedNumber


Section: TypeAlias = Annotated[Measurements | Breakdown | Causes | RowByRow | RestsOn, Field(discriminator="kind")]


class Explanation(JsonDocument):
    """One check, what was compared, and why its verdict came out as it did.

    `finding` is what explains a failing check, in a person's words.
    """

    FORMAT: ClassVar = "imlp-audit/explain/3"
    WRITTEN_BY: ClassVar = "imlp-audit explain ID"

    versions: dict[str, str]
    check: Check
    facts: tuple[Fact, ...]
    sections: tuple[Section, ...] = ()
    finding: Finding | None = None
