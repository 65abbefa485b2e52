"""The records of a spec: what a paper prints, as the YAML writes it. Frozen; unknown keys are refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator

from imlp_audit.measure.conventions import MemoryConvention, ParameterConvention, parse_weight_key
from imlp_audit.models.hosts.host import Count
from imlp_audit.models.reading import (
    AGeLUParameters,
    ClassToken,
    ConcatNorm,
    DepthwiseActivation,
    DepthwiseNorm,
    OutputLayer,
    OutputNorm,
    PaperReading,
    Presence,
    Reading,
    ResMlpForm,
    ResMlpReading,
    SpatialMatrix,
    TextReading,
)
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.setting import Setting
from imlp_audit.numbers.printed import SCALES, Rounding
from imlp_audit.records.base import Record
from imlp_audit.records.check import Verdict
from imlp_audit.spec.forms import ITEM, TABLE_ID, Place, RowId, Sentence, Slug, exactly_one
from imlp_audit.spec.schema_claims import Claim

Axis = TypeVar("Axis")
Family = TypeVar("Family", Reading, ResMlpReading, TextReading)


def _weight_key(text: str) -> str:
    parse_weight_key(text)
    return text


WeightName = Annotated[str, AfterValidator(_weight_key)]


class Choice(Record, Generic[Axis]):
    """The value of one axis of a reading, and the place in the text that decides it."""

    value: Axis
    because: Sentence


class NamedReading(Record):
    """A reading with a reason for each of its axes: those of the IMLP block, of ResMLP, of models of language.

    A paper gives the axes of the families whose models it describes, of a family all.
    """

    agelu_parameters: Choice[AGeLUParameters] | None = None
    fc1_bias: Choice[Presence] | None = None
    fc2_bias: Choice[Presence] | None = None
    concat_norm: Choice[ConcatNorm] | None = None
    output_norm: Choice[OutputNorm] | None = None
    depthwise_bias: Choice[Presence] | None = None
    depthwise_norm: Choice[DepthwiseNorm] | None = None
    depthwise_activation: Choice[DepthwiseActivation] | None = None
    depthwise_skip: Choice[Presence] | None = None
    class_token: Choice[ClassToken] | None = None
    resmlp_form: Choice[ResMlpForm] | None = None
    vocabulary: Choice[Count] | None = None
    sequence_length: Choice[Count] | None = None
    ffn_width: Choice[Count] | None = None
    spatial_matrix: Choice[SpatialMatrix] | None = None
    gate_norm: Choice[Presence] | None = None
    output_layer: Choice[OutputLayer] | None = None
    pooler: Choice[Presence] | None = None

    @property
    def choices(self) -> Mapping[str, Choice[Any]]:
        """The axes that are given, in order."""
        return {name: choice for name in type(self).model_fields if (choice := getattr(self, name)) is not None}

    @model_validator(mode="after")
    def _families_are_whole(self) -> Self:
        given = self.choices
        if not given:
            raise ValueError("a reading says something: give the axes of a family of models")
        for family in (Reading, ResMlpReading, TextReading):
            axes = [field.name for field in fields(family)]
            lacking = [axis for axis in axes if axis not in given]
            if lacking and len(lacking) < len(axes):
                raise ValueError(f"{', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} missing")
        return self

    def reading(self) -> PaperReading:
        """Return the reading without its reasons."""
        return PaperReading(self._part(Reading), self._part(ResMlpReading), self._part(TextReading))

    def _part(self, family: type[Family]) -> Family | None:
        values = {f.name: self.choices[f.name].value for f in fields(family) if f.name in self.choices}
        return family(**values) if values else None


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
    memory: Annotated[tuple[MemoryConvention, ...], Field(min_length=1)] = (MemoryConvention.MIB,)
    conventions: dict[Slug, dict[WeightName, Annotated[int, Field(ge=0)]]] = Field(default_factory=dict)
    readings: dict[Slug, NamedReading] = Field(default_factory=dict)


class Measure(StrEnum):
    """What a column holds."""

    PARAMETERS = "parameters"
    FLOPS = "flops"
    SETTING = "setting"  # a hyper-parameter: layers, width, ...
    MEMORY = "memory"  # the peak of a forward pass: bounded from the model, known exactly only on the hardware
    SCORE = "score"  # an accuracy, an AP, a BLEU: needs trained weights and data
    THROUGHPUT = "throughput"  # needs the hardware
    COST = "cost"  # of training: needs the hardware and the data

    @property
    def totalled(self) -> bool:
        """Whether it is a total over the model, which a convention counts and a unit scales."""
        return self in (Measure.PARAMETERS, Measure.FLOPS)

    @property
    def counted(self) -> bool:
        """Whether the tool counts it from the model alone."""
        return self.totalled or self is Measure.SETTING


class Metric(StrEnum):
    """How a score counts an image as right."""

    TOP1 = "top1"  # the class of the highest score is accepted
    TOP5 = "top5"  # one of the five highest is

    @property
    def guesses(self) -> int:
        """How many classes are looked at."""
        return 1 if self is Metric.TOP1 else 5


class Column(Record):
    """A column: what it holds, in which unit, as headed, and what is needed to check what can't be counted.

    `of` is the hyper-parameter of a column of settings, `batch` the number of images of a column of memory; `metric`
    and `data` say which share of which images a score is, for a checkpoint to be held against.
    """

    measure: Measure
    unit: str
    heading: Sentence
    needs: str | None = None
    of: Setting | None = None
    batch: Count | None = None
    metric: Metric | None = None
    data: Slug | None = None

    def means_the_same(self, other: Column) -> bool:
        """Whether two columns hold the same kind of number, so that one can print again what the other does."""
        return (self.measure, self.of, self.batch) == (other.measure, other.of, other.batch)

    @model_validator(mode="after")
    def _is_checkable_or_says_why(self) -> Self:
        if self.measure.totalled and self.unit not in SCALES:
            raise ValueError(f"a column of {self.measure} is in one of {', '.join(SCALES)}, not {self.unit!r}")
        if not self.measure.counted and not self.needs:
            raise ValueError(f"say what a check of a {self.measure} column needs, e.g. needs: trained weights and ...")
        if self.measure is Measure.MEMORY and self.unit != "MB":
            raise ValueError(f"a column of memory is in MB (which of the two, about: memory: says), not {self.unit!r}")
        if (self.of is not None) != (self.measure is Measure.SETTING):
            raise ValueError("a column of a setting, and no other, says which: of: layers, width, ...")
        if (self.batch is not None) != (self.measure is Measure.MEMORY):
            raise ValueError("a column of memory, and no other, says for how many images: batch: 32")
        if (self.metric is None) != (self.data is None):
            raise ValueError("a share of right images has both: metric: top1 or top5, and data: imagenet-1k, ...")
        if self.metric is not None and (self.measure is not Measure.SCORE or self.unit != "%"):
            raise ValueError("a metric on images is of a column of score in %, and of no other")
        return self


class Footnote(Record):
    """A mark on rows that stands for a kernel size; `otherwise` is the kernel of rows without it."""

    mark: Annotated[str, Field(min_length=1, max_length=3)]
    meaning: Sentence
    kernel: Annotated[int, Field(gt=0)]
    otherwise: Annotated[int, Field(gt=0)]
    decided_by: Slug

    @model_validator(mode="after")
    def _kernels_are_odd(self) -> Self:
        if self.kernel % 2 == 0 or self.otherwise % 2 == 0:
            raise ValueError("the kernels of a footnote are odd: an even one cannot keep the size of the grid")
        return self


class Row(Record):
    """A model as the table lists it. Without `model` there is no recipe for it.

    `counted_by` are the conventions of its FLOPs where they are not the paper's, the default first.
    """

    id: Slug
    label: Sentence
    baseline: Slug | None = None
    model: Recipe | None = None
    mark: str = ""
    repeats: RowId | None = None
    counted_by: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    printed: Annotated[dict[Slug, str], Field(min_length=1)]
    delta: dict[Slug, str] = Field(default_factory=dict)


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


class Expected(Record):
    """One check that is known to be a finding, exactly as it is: any change breaks the waiver.

    `measured` is the one measured value, or each by "reading/convention" where they differ; `counterexample` that of
    an equation, "symbol = value; ...".
    """

    id: str
    verdict: Verdict
    printed: str | None = None
    measured: str | dict[str, str] | None = None
    counterexample: str | None = None


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


class System(Record):
    """A model that the text describes outside its tables."""

    id: Slug
    label: Sentence
    model: Recipe
    source: Place


class PaperFile(Record):
    """A file of a paper's folder that is no single table; a small paper is one such file with everything in it."""

    paper: Slug
    about: About | None = None
    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()
    systems: tuple[System, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    coverage: Coverage | None = None
