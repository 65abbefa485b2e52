"""The records of a spec: what a paper prints, as the YAML writes it. Frozen; unknown keys are refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, Self, TypeAlias, TypeVar

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, create_model, model_validator

from imlp_audit.count.conventions import MemoryConvention, ParameterConvention, parse_weight_key
from imlp_audit.models.host import Count, Name
from imlp_audit.models.readings import Axis, Family, OwnFamily, PaperReading, axes_of, axis_of, make_reading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.recipe_changes import Change, describe_fields
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.base import PaperId, Record
from imlp_audit.records.finding import FindingKind, Quote
from imlp_audit.spec.claim_entries import ClaimEntry
from imlp_audit.spec.columns import Column, CountedMeasure, TotalledMeasure, parse_column
from imlp_audit.spec.fields import (
    EQUATION_ID,
    ITEM,
    MAPPING,
    TABLE_ID,
    TEXT,
    Place,
    RowGlob,
    RowId,
    Sentence,
    Slug,
    exactly_one,
    text_or_mapping,
)

Answer = TypeVar("Answer")
NOT_STATED = "not stated: the default"


class Choice(Record, Generic[Answer]):
    """The value of one axis of a reading, and the place in the text that decides it."""

    value: Answer
    because: Sentence


class Choices(Record):
    """A reading with a reason for each axis that the text decides; the other axes of its families have defaults.

    A reading answers a family of axes if it states one of them. `blocks` are the axes of blocks of the paper's own, by
    the names of their classes.
    """

    blocks: dict[Name, Annotated[dict[Name, Choice[str]], Field(min_length=1)]] = Field(default_factory=dict)

    @property
    def stated(self) -> Mapping[str, Choice[Any]]:
        """The axes of bundled families that are given, in the order in which they are declared."""
        axes = (name for family in Family for name in axes_of(family))
        return {name: choice for name in axes if (choice := getattr(self, name)) is not None}

    @property
    def of_blocks(self) -> Mapping[str, Choice[Any]]:
        """The axes of the paper's own blocks that are given."""
        return {axis_of(block, name): one for block, axes in self.blocks.items() for name, one in axes.items()}

    def choices_with(self, own: Iterable[OwnFamily]) -> Mapping[str, Choice[Any]]:
        """Return the choices, and those about the blocks of a paper's own, which have defaults under any reading."""
        stated = self.of_blocks
        blocks = {
            axis: stated.get(axis, Choice(value=values[0], because=NOT_STATED))
            for family in own
            for axis, values in family.axes
        }
        return {**self.choices, **blocks}

    @property
    def choices(self) -> Mapping[str, Choice[Any]]:
        """Every axis of the families that are answered, in order; those that are not stated have their defaults."""
        stated = self.stated
        answered = [axes for axes in map(axes_of, Family) if axes.keys() & stated.keys()]
        return {
            name: stated.get(name, Choice(value=axis.default, because=NOT_STATED))
            for axes in answered
            for name, axis in axes.items()
        }

    def reading(self) -> PaperReading:
        """Return the reading without its reasons."""
        blocks = tuple((axis, str(choice.value)) for axis, choice in self.of_blocks.items())
        choices = self.choices
        answers: dict[str, Any] = {
            family: make_reading(family, {name: choices[name].value for name in axes_of(family)})
            for family in Family
            if axes_of(family).keys() <= choices.keys()
        }
        return PaperReading(**answers, blocks=blocks)

    @model_validator(mode="after")
    def _states_something(self) -> Self:
        if not self.stated and not self.blocks:
            raise ValueError("a reading must state something: give at least one axis of a family of models")
        return self


def _field(axis: Axis) -> tuple[Any, None]:
    """Return the type and the default of the field for an axis; a number of a reading is counted in digits."""
    kind = Count if isinstance(axis.default, int) else type(axis.default)
    return Choice[kind] | None, None  # type: ignore[valid-type]  # a type made from a declaration


if TYPE_CHECKING:

    class NamedReading(Choices):
        """A reading by the axes that are declared."""

else:
    NamedReading = create_model(
        "NamedReading",
        __base__=Choices,
        __doc__=Choices.__doc__,
        __module__=__name__,
        **{name: _field(axis) for family in Family for name, axis in axes_of(family).items()},
    )


class Footnote(Record):
    """A mark on rows that stands for a change of their recipes; `otherwise` is the change in rows without it.

    A change is a part of a recipe: `{mlp: {imlp: {kernel: 5}}}`. It concerns the rows whose recipes have that part and
    of which the two changes make two models. `decided_by` is the column whose numbers decide between them.
    """

    mark: Annotated[str, Field(min_length=1, max_length=3)]
    meaning: Sentence
    marked: Annotated[Change, Field(min_length=1)]
    otherwise: Annotated[Change, Field(min_length=1)]
    decided_by: Slug

    @model_validator(mode="after")
    def _changes_are_two(self) -> Self:
        if describe_fields(self.marked).keys() != describe_fields(self.otherwise).keys():
            raise ValueError("marked and otherwise must change the same fields of a recipe")
        if self.marked == self.otherwise:
            raise ValueError("marked and otherwise are the same change; they must differ")
        return self

    def change(self, mark: str) -> Change:
        """Return the change that a row with this mark, or with none, stands for."""
        return self.marked if self.mark in mark else self.otherwise

    def opposite(self, mark: str) -> Change:
        """Return the other change."""
        return self.otherwise if self.mark in mark else self.marked

    def concerns(self, recipe: Recipe) -> bool:
        """Say whether the changes make two models of a recipe. Raises ValidationError where one makes none."""
        if not recipe.takes(self.marked):
            return False
        return recipe.with_change(self.marked).essence() != recipe.with_change(self.otherwise).essence()


class CountedBy(Record):
    """The convention that a row's numbers were counted by, and a source that says so: not that it fits."""

    convention: Annotated[str, Field(min_length=1)]
    because: Sentence


class Row(Record):
    """A model as the table lists it. Without `model` it has no recipe.

    `candidates` are proposals in its place, the likeliest first: numbers may confirm one, and none may accuse a number
    before. `named` says that the label is the first one's name, and no other model's. `counted_by` is, by measure, the
    convention of its numbers where a source gives one that may not be its column's. `training` says how the model was
    trained, where not as the paper's models usually were; `variant` is what else sets it apart from other rows, so that
    a proposed model accuses its numbers only where others of that variant follow.
    """

    id: Slug
    label: Sentence
    baseline: Slug | None = None
    model: Recipe | None = None
    candidates: Annotated[tuple[Recipe, ...], Field(max_length=500)] = ()
    named: bool = False
    mark: str = ""
    repeats: RowId | None = None
    training: Sentence | None = None
    variant: Sentence | None = None
    counted_by: dict[CountedMeasure, CountedBy] = Field(default_factory=dict)
    printed: Annotated[dict[Slug, str], Field(min_length=1)]
    delta: dict[Slug, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_given_or_proposed(self) -> Self:
        if self.model is not None and self.candidates:
            raise ValueError("give `model` or `candidates`: a model that is given needs no proposals")
        if self.named and not self.candidates:
            raise ValueError("named: it says what `candidates` begin with, and there are none")
        return self


RESERVED = frozenset({"repeats", "columns", "marks", "claims", "equations"})  # in ids, where a table's is


class PrintedTable(Record):
    """A table as printed. `repeats` names the table whose rows of the same ids it prints again.

    `images` are sides of images on which its candidates may have been counted, in addition to those of their libraries.
    `name` is what the paper calls it where that is not "Table" and its id: `Table D.1`, `Appendix A, Activation`.
    `uncertain` says that cells may stand in other rows or columns than in print: no number of it is found wrong.
    """

    table: Slug
    name: Sentence | None = None
    title: Sentence
    source: Place
    columns: Annotated[dict[Slug, Annotated[Column, BeforeValidator(parse_column)]], Field(min_length=1)]
    rows: Annotated[tuple[Row, ...], Field(min_length=1)]
    images: tuple[Count, ...] = ()
    uncertain: Sentence | None = None
    footnote: Footnote | None = None
    repeats: Annotated[str, Field(pattern=TABLE_ID)] | None = None

    @property
    def called(self) -> str:
        """What the paper calls it."""
        return self.name or f"Table {self.table}"

    @model_validator(mode="after")
    def _is_not_reserved(self) -> Self:
        if self.table in RESERVED:
            raise ValueError(f"a table cannot be called {self.table!r}: ids of checks use that word")
        return self


class TableFile(PrintedTable):
    """A file that is one table."""

    paper: Slug


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

    @model_validator(mode="after")
    def _explains_no_more_than_there_are(self) -> Self:
        if max(self.explained, self.by_chance) > self.of:
            raise ValueError(f"explained and by_chance cannot be more than of: {self.of}")
        return self


class About(Record):
    """Which paper it is, and how its numbers are read: the first of each list is the default, the rest are declared.

    Without `flops` every counter that is known is proposed, and their numbers choose among them.
    `rounding_of` are the rounding rules of measures that have their own. `conventions` are counting conventions written
    out: integer weights over classes of work. `fitted` says of those that a search found what they were fitted on.
    `lacks` says what the text at hand lacks, and what that means for the audit. A paper `on_request` is left out
    where none is named.
    """

    title: Sentence
    authors: Sentence
    version: Sentence
    url: str | None = None
    lacks: Sentence | None = None
    rounding: Annotated[tuple[Rounding, ...], Field(min_length=1)] = (Rounding.HALF_UP,)
    rounding_of: dict[TotalledMeasure, Annotated[tuple[Rounding, ...], Field(min_length=1)]] = Field(
        default_factory=dict
    )
    parameters: Annotated[tuple[ParameterConvention, ...], Field(min_length=1)] = (ParameterConvention.ALL,)
    flops: Annotated[tuple[str, ...], Field(min_length=1)] = ()
    memory: Annotated[tuple[MemoryConvention, ...], Field(min_length=1)] = (MemoryConvention.MIB,)
    conventions: dict[Slug, dict[WeightName, Annotated[int, Field(ge=0)]]] = Field(default_factory=dict)
    fitted: dict[Slug, ConventionFit] = Field(default_factory=dict)
    readings: dict[Slug, NamedReading] = Field(default_factory=dict)
    on_request: bool = False


class _Accounted(Record):
    """What the checks account for that it names (ids or globs), or the reason why none does."""

    checks: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    out_of_scope: Sentence | None = None

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        exactly_one(self, ("checks", "out_of_scope"))
        return self


class CoverageEntry(_Accounted):
    """A part of the document: the checks it is covered by (ids or globs), or why it is not."""

    item: Annotated[str, Field(pattern=ITEM)]


class NumbersEntry(_Accounted):
    """Numbers that stand outside tables and claims: the checks that read them (ids or globs), or why none does.

    Each text in `near` quotes the document, where it stands once. `numbers` are those of the quotes that are meant.
    """

    near: Annotated[tuple[Sentence, ...], Field(min_length=1)]
    numbers: Annotated[tuple[str, ...], Field(min_length=1)] | None = None


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


class EquationEntry(Record):
    """A statement about functions that another paper makes too: in this paper's words, tested as that one's claim."""

    id: Slug
    same_as: Annotated[str, Field(pattern=EQUATION_ID)]
    text: Sentence
    place: Sentence
    printed: Sentence | None = None
    corrected: Sentence | None = None
    nearest: Slug | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        exactly_one(self, ("printed", "corrected"))
        return self


EvidenceEntry: TypeAlias = Annotated[
    Annotated[Sentence, Tag(TEXT)] | Annotated[Quote, Tag(MAPPING)], Discriminator(text_or_mapping)
]
"""The id of a check, of any verdict, or what a source prints."""


class FindingEntry(Record):
    """What is wrong or unclear in a paper: the failing checks that it covers (ids or globs), and what it rests on."""

    id: Slug
    title: Sentence
    kind: FindingKind
    why: Sentence
    checks: Annotated[tuple[str, ...], Field(min_length=1)] = ()
    evidence: Annotated[tuple[EvidenceEntry, ...], Field(min_length=1)] = ()

    @model_validator(mode="after")
    def _rests_on_something(self) -> Self:
        if not (self.checks or self.evidence):
            raise ValueError("name the failing checks that it covers (`checks`), or the `evidence` that it rests on")
        return self


Interpolation: TypeAlias = Literal["bicubic", "bilinear", "box", "hamming", "lanczos", "nearest"]
"""How images are resized."""

Divisor = Annotated[float, Field(gt=0)]


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
    mean: tuple[float, float, float] | None = None
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
