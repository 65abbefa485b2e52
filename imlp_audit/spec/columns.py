"""Columns: what they hold, in which unit, and what their numbers may look like and depend on."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self, TypeAlias, assert_never

from pydantic import AfterValidator, model_validator

from imlp_audit.models.host import Count, Setting, Sides, Size
from imlp_audit.models.recipe_changes import write_value
from imlp_audit.numbers.parsing import SCALES, NumberForm, Square
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


class AnyColumn(Record):
    """A column: what it holds, in which unit, as headed, and what is needed to check what can't be counted."""

    measure: Measure
    unit: str
    heading: Sentence
    needs: str | None = None


def _check_scale(unit: str) -> str:
    if unit not in ("", *SCALES):
        raise ValueError(f'a total needs a unit of {", ".join(SCALES)}, or "" for all digits, not {unit!r}')
    return unit


class TotalColumn(AnyColumn):
    """A total over models, on images of the size `image` where that is not the rows' own."""

    unit: Annotated[str, AfterValidator(_check_scale)]
    image: Sides | None = None


class ParametersColumn(TotalColumn):
    """A number of parameters."""


class FlopsColumn(TotalColumn):
    """A number of operations."""


class SettingColumn(AnyColumn):
    """A hyper-parameter: the one that `of` names."""

    of: Setting


class UncountedColumn(AnyColumn):
    """What is known only with trained weights, data or hardware."""

    needs: Sentence


class MemoryColumn(AnyColumn):
    """The peak memory of a forward pass over a `batch` of images of the size `image`, in MB of `about: memory:`."""

    unit: Literal["MB"]
    needs: Sentence
    batch: Count
    hardware: Slug | None = None
    image: Sides | None = None


class HardwareColumn(UncountedColumn):
    """A speed, or the cost of training: on which hardware, and with how many images at a time."""

    batch: Count | None = None
    hardware: Slug | None = None


class AccuracyColumn(AnyColumn):
    """The share of the images of a data set that a model gets right, for a checkpoint to be judged by.

    `images` says how many images with a label a data set has whose name is not a known one.
    """

    unit: Literal["%"]
    needs: Sentence
    metric: Metric
    data: Slug
    images: Count | None = None

    @property
    def size(self) -> int | None:
        """How many images with a label the data set has; None where nothing says so."""
        return SIZES.get(self.data, self.images)

    @model_validator(mode="after")
    def _has_as_many_images(self) -> Self:
        if self.images not in (None, self.size):
            raise ValueError(f"{self.data} has {self.size} images with a label; name a part of it otherwise")
        return self


Column: TypeAlias = (
    ParametersColumn | FlopsColumn | SettingColumn | MemoryColumn | AccuracyColumn | HardwareColumn | UncountedColumn
)
_KINDS: dict[object, type[AnyColumn]] = {
    "parameters": ParametersColumn,
    "flops": FlopsColumn,
    "setting": SettingColumn,
    "memory": MemoryColumn,
    "score": UncountedColumn,
    "throughput": HardwareColumn,
    "cost": HardwareColumn,
}


def parse_column(written: object) -> AnyColumn:
    """Return a column of its kind. Raises ValidationError."""
    if isinstance(written, AnyColumn):
        return written
    values = written if isinstance(written, dict) else {}
    measure = values.get("measure")
    scored = measure == "score" and not values.keys().isdisjoint(("metric", "data", "images"))
    kind = AccuracyColumn if scored else _KINDS.get(measure if isinstance(measure, str) else None, AnyColumn)
    return kind.model_validate(written)


def image_of(column: Column) -> Size | None:
    """Return the size of the images that a column's numbers are of; None where it is the rows' own."""
    return column.image if isinstance(column, TotalColumn | MemoryColumn) else None


def details_of(column: Column) -> dict[str, str]:
    """Return what is known of what a column measures in addition to its measure, by name."""
    match column:
        case SettingColumn():
            return {"setting": column.of.value}
        case AccuracyColumn():
            return {"metric": column.metric.value, "data": column.data}
        case MemoryColumn() | HardwareColumn():
            known = {"hardware": column.hardware, "batch": column.batch}
            return {name: str(value) for name, value in known.items() if value is not None}
        case ParametersColumn() | FlopsColumn():
            return {"image": write_value(column.image)} if column.image is not None else {}
        case UncountedColumn():
            return {}
        case _:
            assert_never(column)


_NOUNS = {
    Measure.PARAMETERS: ("parameters", "params"),
    Measure.FLOPS: ("flops", "macs", "madds", "mult-adds", "multiply-adds"),
}
_SQUARES: dict[Setting, Square] = {Setting.IMAGE: "side", Setting.PATCH: "side", Setting.TOKENS: "area"}


def form_of(column: Column) -> NumberForm:
    """Return what a column's numbers may look like."""
    square = _SQUARES.get(column.of) if isinstance(column, SettingColumn) else None
    return NumberForm(column.unit, _NOUNS.get(column.measure, ()), square)


def is_specified(column: Column) -> bool:
    """Return whether it is known what exactly a column measures."""
    match column:
        case HardwareColumn():
            return column.hardware is not None and column.batch is not None
        case MemoryColumn():
            return column.hardware is not None
        case _:
            return not isinstance(column, UncountedColumn)


def hold_the_same(one: Column, other: Column) -> bool:
    """Return whether nothing that is known of two columns contradicts that they measure the same thing."""
    if one.measure is not other.measure or image_of(one) != image_of(other):
        return False
    ours, theirs = details_of(one), details_of(other)
    return all(ours[name] == theirs[name] for name in ours.keys() & theirs.keys())


def measure_the_same(one: Column, other: Column) -> bool:
    """Return whether two columns measure the same thing, by all that has to be known for that."""
    return is_specified(one) and is_specified(other) and hold_the_same(one, other)
