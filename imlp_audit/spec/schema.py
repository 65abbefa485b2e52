"""The records of a spec: what a paper prints, as the YAML writes it. Frozen; unknown keys are refused."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Generic, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from imlp_audit.measure.conventions import ParameterConvention, parse_weight_key
from imlp_audit.models.reading import (
    AGeLUParameters,
    ClassToken,
    ConcatNorm,
    DepthwiseActivation,
    DepthwiseNorm,
    OutputNorm,
    Presence,
    Reading,
)
from imlp_audit.models.recipe import ARCHITECTURE, Recipe
from imlp_audit.printed import SCALES, Rounding
from imlp_audit.result import Verdict


class Record(BaseModel):
    """Base of the spec's records."""

    model_config = ConfigDict(frozen=True, extra="forbid")


_SLUG, _GLOB = r"[a-z0-9_\-]+", r"[a-z0-9_\-*?\[\]!]+"
SLUG = rf"^{_SLUG}$"
TABLE_ID = rf"^{_SLUG}/{_SLUG}$"
ROW_ID = rf"^{_SLUG}/{_SLUG}/{_SLUG}$"
CELL_ID = rf"^{_SLUG}/{_SLUG}/{_SLUG}/{_SLUG}$"
ROW_GLOB = rf"^{_SLUG}/{_GLOB}/{_GLOB}$"
HOLDS_FOR = r"^(all|at least (100|[1-9]?[0-9])%)$"
ITEM = r"^(Section|Equation|Table|Figure|Algorithm|Definition|Lemma|Theorem|Corollary|Sentence) .+$"
FORMS = {  # what each pattern asks for, in words
    SLUG: "a slug: lower-case letters, digits, '-' and '_'",
    TABLE_ID: "a table's id: paper/table",
    ROW_ID: "a row's id: paper/table/row",
    CELL_ID: "a cell's id: paper/table/row/column",
    ROW_GLOB: "a row's id or a glob of them: paper/table/row, with * in table or row",
    HOLDS_FOR: "'all' or 'at least N%'",
    ITEM: "a part of the document, such as 'Table 1', 'Equation 3' or 'Sentence 5.1: ...'",
    ARCHITECTURE: "an architecture of timm by its bare name, such as deit_tiny_patch16_224",
}
Slug = Annotated[str, Field(pattern=SLUG)]
RowId = Annotated[str, Field(pattern=ROW_ID)]
RowGlob = Annotated[str, Field(pattern=ROW_GLOB)]
CellId = Annotated[str, Field(pattern=CELL_ID)]
Sentence = Annotated[str, Field(min_length=1)]
Axis = TypeVar("Axis", bound=StrEnum)


def _weight_key(text: str) -> str:
    parse_weight_key(text)
    return text


WeightName = Annotated[str, AfterValidator(_weight_key)]


class Choice(Record, Generic[Axis]):
    """The value of one axis of a reading, and the place in the text that decides it."""

    value: Axis
    because: Sentence


class NamedReading(Record):
    """A reading with a reason for each of its axes."""

    agelu_parameters: Choice[AGeLUParameters]
    fc1_bias: Choice[Presence]
    fc2_bias: Choice[Presence]
    concat_norm: Choice[ConcatNorm]
    output_norm: Choice[OutputNorm]
    depthwise_bias: Choice[Presence]
    depthwise_norm: Choice[DepthwiseNorm]
    depthwise_activation: Choice[DepthwiseActivation]
    depthwise_skip: Choice[Presence]
    class_token: Choice[ClassToken]

    def reading(self) -> Reading:
        """Return the reading without its reasons."""
        return Reading(**{axis: getattr(self, axis).value for axis in type(self).model_fields})


class About(Record):
    """Which paper it is, and how its numbers are read: of each list the first is the default, the rest are declared.

    `conventions` are counting conventions written out: integer weights over classes of work.
    """

    title: Sentence
    authors: Sentence
    version: Sentence
    url: str | None = None
    rounding: Annotated[tuple[Rounding, ...], Field(min_length=1)] = (Rounding.HALF_UP,)
    parameters: Annotated[tuple[ParameterConvention, ...], Field(min_length=1)] = (ParameterConvention.ALL,)
    flops: Annotated[tuple[str, ...], Field(min_length=1)] = ("fvcore",)
    conventions: dict[Slug, dict[WeightName, Annotated[int, Field(ge=0)]]] = {}
    readings: dict[Slug, NamedReading] = {}


class Measure(StrEnum):
    """What a column holds."""

    PARAMETERS = "parameters"
    FLOPS = "flops"
    SCORE = "score"  # an accuracy, an AP, a BLEU: needs trained weights and data
    THROUGHPUT = "throughput"  # needs the hardware

    @property
    def counted(self) -> bool:
        """Whether the tool counts it from the model alone."""
        return self in (Measure.PARAMETERS, Measure.FLOPS)


class Column(Record):
    """A column: what it holds, in which unit, as headed, and what is needed to check what can't be counted."""

    measure: Measure
    unit: str
    heading: Sentence
    needs: str | None = None

    @model_validator(mode="after")
    def _is_checkable_or_says_why(self) -> Self:
        if self.measure.counted and self.unit not in SCALES:
            raise ValueError(f"a column of {self.measure} is in one of {', '.join(SCALES)}, not {self.unit!r}")
        if not self.measure.counted and not self.needs:
            raise ValueError(f"say what a check of a {self.measure} column needs, e.g. needs: trained weights and ...")
        return self


class Footnote(Record):
    """A mark on rows that stands for a kernel size; `otherwise` is the kernel of rows without it."""

    mark: Annotated[str, Field(min_length=1, max_length=3)]
    meaning: Sentence
    kernel: Annotated[int, Field(gt=0)]
    otherwise: Annotated[int, Field(gt=0)]
    decided_by: Slug


class Row(Record):
    """A model as the table lists it. Without `model` there is no recipe for it yet."""

    id: Slug
    label: Sentence
    baseline: Slug | None = None
    model: Recipe | None = None
    mark: str = ""
    repeats: RowId | None = None
    printed: Annotated[dict[Slug, str], Field(min_length=1)]
    delta: dict[Slug, str] = {}


class Place(Record):
    """Where in the paper it stands."""

    section: str
    file: str | None = None


RESERVED = frozenset({"repeats", "columns", "marks", "claims", "waivers", "equations"})  # in ids, where a table's is


class Table(Record):
    """A table as printed. `repeats` names the table whose rows of the same ids it prints again."""

    table: Slug
    title: Sentence
    source: Place
    columns: Annotated[dict[Slug, Column], Field(min_length=1)]
    rows: Annotated[tuple[Row, ...], Field(min_length=1)]
    footnote: Footnote | None = None
    repeats: Annotated[str, Field(pattern=TABLE_ID)] | None = None

    @model_validator(mode="after")
    def _is_not_reserved(self) -> Self:
        if self.table in RESERVED:
            raise ValueError(f"a table cannot be called {self.table!r}: check ids use that word")
        return self


class TableFile(Table):
    """A file that is one table."""

    paper: Slug


def exactly_one(record: BaseModel, names: tuple[str, ...]) -> str:
    """Return the one of the fields that is given; raise ValueError where none or several are."""
    given = [name for name in names if getattr(record, name) is not None]
    if len(given) != 1:
        raise ValueError(f"give exactly one of {', '.join(names)}; given: {', '.join(given) or 'none'}")
    return given[0]


QUANTITIES = ("value", "change", "difference", "step", "mlp_share")
RELATIONS = ("equals", "above", "at_least", "below", "at_most")


class Quantity(Record):
    """What a claim is about, of one row: a column's value, its change (percent) or difference from the row's
    baseline, its step from the row before, or the share (percent) of the column's measure that the MLPs have.
    """

    value: Slug | None = None
    change: Slug | None = None
    difference: Slug | None = None
    step: Slug | None = None
    mlp_share: Slug | None = None

    @property
    def kind(self) -> str:
        """The name of the quantity that is given."""
        return exactly_one(self, QUANTITIES)

    @property
    def column(self) -> str:
        """The column it is taken from."""
        column: str = getattr(self, self.kind)
        return column

    @model_validator(mode="after")
    def _one_quantity(self) -> Self:
        exactly_one(self, QUANTITIES)
        return self


class Condition(Quantity):
    """A quantity and the number the text compares it with, as printed there."""

    equals: str | None = None
    above: str | None = None
    at_least: str | None = None
    below: str | None = None
    at_most: str | None = None

    @property
    def relation(self) -> str:
        """The name of the relation that is given."""
        return exactly_one(self, RELATIONS)

    @property
    def bound(self) -> str:
        """The number it is compared with."""
        bound: str = getattr(self, self.relation)
        return bound

    @model_validator(mode="after")
    def _one_relation(self) -> Self:
        exactly_one(self, RELATIONS)
        return self


class Direction(StrEnum):
    """Which way a sequence goes, strictly."""

    INCREASING = "increasing"
    DECREASING = "decreasing"


class Order(Quantity):
    """A quantity that grows or shrinks along the rows."""

    direction: Direction


class Reference(Record):
    """A table that the text points to, and the cells it is said to hold."""

    table: Slug
    holds: Annotated[tuple[CellId, ...], Field(min_length=1)]


class Claim(Record):
    """A sentence of the paper about its own numbers, with the meaning that it is checked in."""

    id: Slug
    text: Sentence
    source: Place
    meaning: Sentence | None = None
    rows: tuple[RowGlob, ...] = ()
    conditions: Annotated[tuple[Condition, ...], Field(min_length=1)] | None = None
    holds_for: Annotated[str, Field(pattern=HOLDS_FOR)] = "all"
    order: Order | None = None
    reference: Reference | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        form = exactly_one(self, ("conditions", "order", "reference"))
        if form != "reference" and not self.rows:
            raise ValueError("name the rows the claim is about, e.g. rows: [imlp/1/deit_ti_imlp] or a glob of them")
        return self


class Expected(Record):
    """One check that is known to be a finding, exactly as it is: any change breaks the waiver.

    `measured` is the one measured value, or each by "reading/convention" where they differ.
    """

    id: str
    verdict: Verdict
    printed: str | None = None
    measured: str | dict[str, str] | None = None


class Waiver(Record):
    """Findings that are known and understood for one reason."""

    reason: Sentence
    checks: Annotated[tuple[Expected, ...], Field(min_length=1)]


class CoverageEntry(Record):
    """A part of the document: the checks it is covered by (ids or globs), or why it is not."""

    item: Annotated[str, Field(pattern=ITEM)]
    checks: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    out_of_scope: Sentence | None = None

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        exactly_one(self, ("checks", "out_of_scope"))
        return self


class Coverage(Record):
    """Every part of the document, and how many numbered equations, tables and figures it has."""

    equations: Annotated[int, Field(ge=0, le=1000)]
    tables: Annotated[int, Field(ge=0, le=1000)]
    figures: Annotated[int, Field(ge=0, le=1000)]
    entries: tuple[CoverageEntry, ...]


class PaperFile(Record):
    """A file of a paper's folder that is no single table; a small paper is one such file with everything in it."""

    paper: Slug
    about: About | None = None
    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    coverage: Coverage | None = None
