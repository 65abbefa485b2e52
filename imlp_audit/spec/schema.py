"""The records of a spec: what a paper prints, as the YAML writes it. Frozen; unknown keys are refused."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from imlp_audit.count.conventions import MemoryConvention, ParameterConvention, parse_weight_key
from imlp_audit.models.host import Count
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.forms import DecimalMark
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.base import Record
from imlp_audit.records.values import PaperId
from imlp_audit.spec.claim_entries import ClaimEntry
from imlp_audit.spec.columns import TotalledMeasure
from imlp_audit.spec.equations import EquationEntry
from imlp_audit.spec.fields import ITEM, Place, RowGlob, Sentence, Slug, exactly_one
from imlp_audit.spec.findings import FindingEntry
from imlp_audit.spec.interpolation import Interpolation
from imlp_audit.spec.readings import NamedReading
from imlp_audit.spec.tables import PrintedTable


def _weight_key(text: str) -> str:
    parse_weight_key(text)
    return text


WeightName = Annotated[str, AfterValidator(_weight_key)]


class ConventionFit(Record):
    """What a convention was fitted on: the cells (ids or globs), and those that the best solutions disagree about.

    The search that found it explained `explained` of `of` numbers, and explains at most `by_chance` of as many with
    shifted digits.
    """

    cells: Annotated[tuple[str, ...], Field(min_length=1)]
    undecided: tuple[str, ...] = ()
    explained: Annotated[int, Field(ge=0)]
    of: Annotated[int, Field(ge=1)]
    by_chance: Annotated[int, Field(ge=0)]


class About(Record):
    """Which paper it is, and how its numbers are read: the first of each list is the default, the rest are declared.

    `rounding_of` are the rounding rules of measures that have their own. `conventions` are counting conventions written
    out: integer weights over classes of work. `fitted` says of those that a search found what they were fitted on.
    `lacks` says what the text at hand lacks, and what that means for the audit. `decimal` is the mark before the
    decimal places. A paper `on_request` is left out where none is named.
    """

    title: Sentence
    authors: Sentence
    version: Sentence
    url: str | None = None
    lacks: Sentence | None = None
    decimal: DecimalMark = "."
    rounding: Annotated[tuple[Rounding, ...], Field(min_length=1)] = (Rounding.HALF_UP,)
    rounding_of: dict[TotalledMeasure, Annotated[tuple[Rounding, ...], Field(min_length=1)]] = Field(
        default_factory=dict
    )
    parameters: Annotated[tuple[ParameterConvention, ...], Field(min_length=1)] = (ParameterConvention.ALL,)
    flops: Annotated[tuple[str, ...], Field(min_length=1)] = ("fvcore",)
    memory: Annotated[tuple[MemoryConvention, ...], Field(min_length=1)] = (MemoryConvention.MIB,)
    conventions: dict[Slug, dict[WeightName, Annotated[int, Field(ge=0)]]] = Field(default_factory=dict)
    fitted: dict[Slug, ConventionFit] = Field(default_factory=dict)
    readings: dict[Slug, NamedReading] = Field(default_factory=dict)
    on_request: bool = False


class CoverageEntry(Record):
    """A part of the document: the checks it is covered by (ids or globs), or why it is not."""

    item: Annotated[str, Field(pattern=ITEM)]
    checks: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    out_of_scope: Sentence | None = None

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        exactly_one(self, ("checks", "out_of_scope"))
        return self


class NumbersEntry(Record):
    """Numbers that stand outside tables and claims: the checks that read them (ids or globs), or why none does.

    Each text in `near` quotes the document, where it stands once. `numbers` are those of the quotes that are meant.
    """

    near: Annotated[tuple[Sentence, ...], Field(min_length=1)]
    numbers: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    checks: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    out_of_scope: Sentence | None = None

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        exactly_one(self, ("checks", "out_of_scope"))
        return self


class Coverage(Record):
    """Every part of the document, and how many numbered equations, tables and figures it has.

    `numbers` are those of its numbers that neither a table nor a claim holds; `imlp-audit coverage` lists what is left.
    """

    equations: Annotated[int, Field(ge=0, le=1000)]
    tables: Annotated[int, Field(ge=0, le=1000)]
    figures: Annotated[int, Field(ge=0, le=1000)]
    entries: tuple[CoverageEntry, ...]
    numbers: tuple[NumbersEntry, ...] = ()


class System(Record):
    """A model that the text describes outside its tables."""

    id: Slug
    label: Sentence
    model: Recipe
    source: Place


Channel = Annotated[float, Field(allow_inf_nan=False)]
Divisor = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Preprocessing(Record):
    """What a source says on how the images of some rows are prepared; what it leaves open is as the model has it.

    `size` is the side of the images, `crop_pct` the share of the resized image that is cropped. `mean` is subtracted
    from the channels, which are then divided by `std`.
    """

    rows: Annotated[tuple[RowGlob, ...], Field(min_length=1)]
    because: Sentence
    size: Count | None = None
    crop_pct: Annotated[float, Field(ge=0.1, le=1)] | None = None
    interpolation: Interpolation | None = None
    mean: tuple[Channel, Channel, Channel] | None = None
    std: tuple[Divisor, Divisor, Divisor] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set - {"rows", "because"}:
            raise ValueError("say how the images are prepared: size, crop_pct, interpolation, mean or std")
        return self


class PaperFile(Record):
    """A file of a paper's folder that is not a single table; a small paper is one such file with everything in it."""

    paper: PaperId
    about: About | None = None
    tables: tuple[PrintedTable, ...] = ()
    claims: tuple[ClaimEntry, ...] = ()
    systems: tuple[System, ...] = ()
    preprocessing: tuple[Preprocessing, ...] = ()
    findings: tuple[FindingEntry, ...] = ()
    coverage: Coverage | None = None
    equations: tuple[EquationEntry, ...] = ()
