"""Columns: what they hold, in which unit, and what their numbers may look like and depend on."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Self, TypeAlias, assert_never

from pydantic import model_validator

from imlp_audit.models.change import write_value
from imlp_audit.models.host import Count, Setting, Sides, Size
from imlp_audit.numbers.parsing import SCALES, DecimalMark, NumberForm, Square
from imlp_audit.records.base import Record
from imlp_audit.spec.fields import Sentence, Slug


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


CountedMeasure: TypeAlias = Literal[Measure.PARAMETERS, Measure.FLOPS, Measure.MEMORY]
"""What conventions count."""
TotalledMeasure: TypeAlias = Literal[Measure.PARAMETERS, Measure.FLOPS]
"""What is a total over a model."""


class Metric(StrEnum):
    """How a score counts an image as right."""

    TOP1 = "top1"  # the class of the highest score is accepted
    TOP5 = "top5"  # one of the five highest is

    @property
    def guesses(self) -> int:
        """How many classes are looked at."""
        return 1 if self is Metric.TOP1 else 5


SIZES = {"imagenet-1k": 50_000, "imagenet-real": 46_837, "imagenet-v2": 10_000}
"""How many images with a label the data sets have that are recognised by their images, not by their folder's name.

real.json (google-research/reassessed-imagenet) leaves 3163 of the 50 000 without a label.
"""


class ColumnEntry(Record):
    """A column: what it holds, in which unit, as headed, and what is needed to check what can't be counted.

    `of` is the hyper-parameter of a column of settings, `batch` the number of images of a column of memory or
    throughput, `hardware` what such a column or one of cost was measured on; `metric`
    and `data` say which share of which images a score is, for a checkpoint to be judged by, and `images` how many
    images with a label a data set has whose name is not a known one. `image` is the size of the images that models of a
    column of totals or memory are counted on, where it is not the rows' own.
    """

    measure: Measure
    unit: str
    heading: Sentence
    needs: str | None = None
    of: Setting | None = None
    batch: Count | None = None
    hardware: Slug | None = None
    metric: Metric | None = None
    data: Slug | None = None
    images: Count | None = None
    image: Sides | None = None

    @property
    def kind(self) -> type[Column]:
        """The kind of column that it is."""
        return AccuracyColumn if self.metric is not None else _KINDS[self.measure]

    @model_validator(mode="after")
    def _is_checkable_or_says_why(self) -> Self:
        if self.measure.totalled and self.unit not in ("", *SCALES):
            known = ", ".join(SCALES)
            raise ValueError(
                f'a column of {self.measure} needs a unit of {known}, or "" for all digits, not {self.unit!r}'
            )
        if not self.measure.counted and not self.needs:
            raise ValueError(
                f"a column of {self.measure} must say what a check of it needs, e.g. needs: trained weights and ..."
            )
        if self.measure is Measure.MEMORY and self.unit != "MB":
            raise ValueError(f"a column of memory needs the unit MB (about: memory: says which MB), not {self.unit!r}")
        if (self.of is not None) != (self.measure is Measure.SETTING):
            raise ValueError("columns of settings, and only they, need `of`: layers, width, ...")
        if self.batch is None and self.measure is Measure.MEMORY:
            raise ValueError("columns of memory need the number of images, e.g. batch: 32")
        if self.batch is not None and self.measure not in (Measure.MEMORY, Measure.THROUGHPUT):
            raise ValueError("only columns of memory or throughput have a batch")
        if self.image is not None and not (self.measure.totalled or self.measure is Measure.MEMORY):
            raise ValueError("only columns of parameters, flops or memory can have images of their own (image)")
        if self.hardware is not None and self.measure not in (Measure.MEMORY, Measure.THROUGHPUT, Measure.COST):
            raise ValueError("only columns of memory, throughput or cost have hardware")
        if (self.metric is None) != (self.data is None):
            raise ValueError("give both or neither: metric: top1 or top5, and data: imagenet-1k, ...")
        if self.metric is not None and (self.measure is not Measure.SCORE or self.unit != "%"):
            raise ValueError("only a column of score in % can have a metric on images")
        if self.images is not None and (self.data is None or SIZES.get(self.data, self.images) != self.images):
            known = (
                f"{self.data} has {SIZES[self.data]} images with a label; name a part of it otherwise"
                if self.data
                else ""
            )
            raise ValueError(known or "`images` is the size of the data set that `data` names; give both")
        return self


class _Column(Record):
    measure: Measure
    unit: str
    heading: str
    needs: str | None = None


class _CountedColumn(_Column):
    image: Size | None = None


class ParametersColumn(_CountedColumn):
    """A number of parameters."""


class FlopsColumn(_CountedColumn):
    """A number of operations."""


class SettingColumn(_Column):
    """A hyper-parameter: the one that `of` names."""

    of: Setting


class MemoryColumn(_CountedColumn):
    """The peak memory of a forward pass over a batch of images."""

    batch: int
    hardware: str | None = None


class AccuracyColumn(_Column):
    """The share of the images of a data set that a model gets right."""

    metric: Metric
    data: str
    images: int | None = None

    @property
    def size(self) -> int | None:
        """How many images with a label the data set has; None where nothing says so."""
        return SIZES.get(self.data, self.images)


class UncountedColumn(_Column):
    """Any other score, and what needs the hardware or the training."""

    batch: int | None = None
    hardware: str | None = None


Column: TypeAlias = ParametersColumn | FlopsColumn | SettingColumn | MemoryColumn | AccuracyColumn | UncountedColumn


_KINDS: dict[Measure, type[Column]] = {
    Measure.PARAMETERS: ParametersColumn,
    Measure.FLOPS: FlopsColumn,
    Measure.SETTING: SettingColumn,
    Measure.MEMORY: MemoryColumn,
    **dict.fromkeys((Measure.SCORE, Measure.THROUGHPUT, Measure.COST), UncountedColumn),
}


def image_of(column: Column) -> Size | None:
    """Return the size of the images that a column's numbers are of; None where it is the rows' own."""
    return column.image if isinstance(column, _CountedColumn) else None


def parse_column(written: object) -> Column:
    """Return a column of its kind. Raises ValidationError."""
    if isinstance(written, Column):
        return written
    entry = ColumnEntry.model_validate(written)
    return entry.kind.model_validate(entry.model_dump(exclude_none=True))


def details_of(column: Column) -> dict[str, str]:
    """Return what is known of what a column measures in addition to its measure, by name."""
    match column:
        case SettingColumn():
            return {"setting": column.of.value}
        case AccuracyColumn():
            return {"metric": column.metric.value, "data": column.data}
        case MemoryColumn() | UncountedColumn():
            known = {"hardware": column.hardware, "batch": column.batch}
            return {name: str(value) for name, value in known.items() if value is not None}
        case ParametersColumn() | FlopsColumn():
            return {"image": write_value(column.image)} if column.image is not None else {}
        case _:
            assert_never(column)


_NOUNS = {
    Measure.PARAMETERS: ("parameters", "params"),
    Measure.FLOPS: ("flops", "macs", "madds", "mult-adds", "multiply-adds"),
}
_SQUARES: dict[Setting, Square] = {Setting.IMAGE: "side", Setting.PATCH: "side", Setting.TOKENS: "area"}


def form_of(column: Column, decimal: DecimalMark) -> NumberForm:
    """Return what a column's numbers may look like in a paper with this decimal mark."""
    square = _SQUARES.get(column.of) if isinstance(column, SettingColumn) else None
    return NumberForm(column.unit, decimal, _NOUNS.get(column.measure, ()), square)


def is_specified(column: Column) -> bool:
    """Return whether it is known what exactly a column measures."""
    if isinstance(column, UncountedColumn):
        return column.hardware is not None and column.batch is not None
    return not isinstance(column, MemoryColumn) or column.hardware is not None


def hold_the_same(one: Column, other: Column) -> bool:
    """Return whether nothing that is known of two columns contradicts that they measure the same thing."""
    if one.measure is not other.measure or image_of(one) != image_of(other):
        return False
    ours, theirs = details_of(one), details_of(other)
    return all(ours[name] == theirs[name] for name in ours.keys() & theirs.keys())


def measure_the_same(one: Column, other: Column) -> bool:
    """Return whether two columns measure the same thing, by all that has to be known for that."""
    return is_specified(one) and is_specified(other) and hold_the_same(one, other)
