"""Totals over a model: where they come from, their closed formula, and which readings give the printed number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from imlp_audit.checks.context import Conventions
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, Convention, ParameterConvention
from imlp_audit.errors import BuildError
from imlp_audit.explain import block_formula, text_formula
from imlp_audit.explain.body import KINDS, TIMES, Body, Portion
from imlp_audit.explain.nearest import search_readings
from imlp_audit.models.reading import AnyReading, Reading, TextReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.check import Check
from imlp_audit.records.explanation import Amount, BlockFormula, Breakdown, Noun, Section, TextFormula
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.paper import CellRef, RowRef

if TYPE_CHECKING:
    from imlp_audit.models.build import Builder

Key: TypeAlias = Callable[[Portion], str]
_COUNTED = {
    "all": "all parameters",
    "no_head": "parameters without the classifier head",
    "with_buffers": "parameters and buffers",
    "macs": "multiply-accumulates",
}
_LABEL = 14  # characters over a column
_LONGEST = 30  # characters of a row's name in a sentence


def explain_total(check: Check, cell: CellRef, read: Conventions) -> Iterator[Section]:
    """Yield what a measured total is made of, under the reading and convention that decide the check."""
    from imlp_audit.explain.dissect import dissect  # torch takes seconds to import
    from imlp_audit.models.build import Builder

    decided = DecidedTotal(cell, check, read)
    builder = Builder()
    body = dissect(decided.recipe, decided.reading, builder)
    yield _break_down(decided, body, builder)
    yield from find_formula(decided.recipe, decided.reading, body, decided.counting)
    yield from search_readings(cell, read)


@dataclass(frozen=True)
class DecidedTotal:
    """A total as it decides a check: its cell, and the reading and convention that it is counted under."""

    cell: CellRef
    check: Check
    read: Conventions

    @property
    def recipe(self) -> Recipe:
        """How the row's model is built."""
        return _recipe(self.cell)

    @property
    def reading(self) -> AnyReading | None:
        """What the reading says about the row's model."""
        return self.reading_of(self.recipe)

    def reading_of(self, recipe: Recipe) -> AnyReading | None:
        """Return what the deciding reading says about a model."""
        return recipe.part_of(self.read.readings[self.check.reading])

    @property
    def counting(self) -> ParameterConvention | Convention:
        """The convention."""
        name = str(self.check.convention)
        return ParameterConvention(name) if self.cell.column.measure is Measure.PARAMETERS else self.read.flops[name]


def _recipe(cell: CellRef) -> Recipe:
    if cell.recipe is None:
        raise ValueError(f"{cell.row.id} has no model")
    return cell.recipe


def _break_down(decided: DecidedTotal, body: Body, builder: Builder) -> Breakdown:
    """Return the number by part and by kind, with the baseline's where the row has one that can be counted."""
    row = decided.cell.row
    base = row.baseline if row.baseline is not None and row.baseline.row.model is not None else None
    theirs = _count_baseline(base, decided, builder) if base is not None else None
    items = theirs if isinstance(theirs, tuple) else None
    ours = body.items(decided.counting)
    convention = str(decided.check.convention)
    return Breakdown(
        counted=_COUNTED.get(convention, f"FLOPs by {convention}"),
        reading=decided.check.reading if decided.recipe.family else None,
        model=_column_name(row),
        baseline=_column_name(base) if base is not None and items is not None else None,
        baseline_name=_short_name(base) if base is not None and items is not None else None,
        failure=theirs if isinstance(theirs, str) else None,
        parts=break_down(ours, items, by_part),
        kinds_of="kind of parameter" if isinstance(decided.counting, ParameterConvention) else "class of work",
        kinds=break_down(ours, items, by_kind),
    )


def _count_baseline(row: RowRef, decided: DecidedTotal, builder: Builder) -> tuple[Portion, ...] | str:
    """Return what the baseline has, or why it could not be counted: an error of its own row, not of this one."""
    from imlp_audit.explain.dissect import dissect  # torch takes seconds to import

    recipe = _recipe(CellRef(row, decided.cell.column_id))
    try:
        return dissect(recipe, decided.reading_of(recipe), builder).items(decided.counting)
    except BuildError as error:
        return str(error)
    except Exception as error:  # whatever a host's code raises
        return f"{type(error).__name__}: {error}"


def _short_name(row: RowRef) -> str:
    """Return a row's label, or its id if that is too long."""
    label = row.full_label
    return label if len(label) <= _LONGEST else row.row.id


def _column_name(row: RowRef) -> str:
    """Return the name of a row's column: its label, or its id if that is too long."""
    return row.row.label if len(row.row.label) <= _LABEL else row.row.id


def find_formula(
    recipe: Recipe, reading: AnyReading | None, body: Body, convention: ParameterConvention | Convention
) -> Iterator[BlockFormula | TextFormula]:
    """Yield the formula of a model's parameters, or if a convention counts work, of its multiply-accumulates.

    There is none for a model with no open question about its parts, nor for buffers.
    """
    if convention is ParameterConvention.WITH_BUFFERS:
        return
    counting = convention if isinstance(convention, ParameterConvention) else FLOPS_CONVENTIONS["macs"]
    measured = body.total(counting)
    noun: Noun = "parameters" if isinstance(counting, ParameterConvention) else "multiply-accumulates"
    if isinstance(reading, Reading):
        yield block_formula.block_formula(block_formula.block_sum(recipe, reading, body, counting), noun, measured)
    elif isinstance(reading, TextReading):
        yield text_formula.text_formula(text_formula.text_sum(recipe, reading, counting), noun, measured)


def by_part(item: Portion) -> str:
    """Return the part of the model that an item is in."""
    return item.part


def by_kind(item: Portion) -> str:
    """Return the kind of parameter or class of work that an item is."""
    return item.kind


def break_down(ours: Sequence[Portion], base: Sequence[Portion] | None, key: Key) -> tuple[Amount, ...]:
    """Return the amounts of one model by a key, with those of its baseline if there is one."""
    mine = _sums(ours, key)
    if base is None:
        return tuple(Amount(name=name, amount=mine[name]) for name in _order(mine, mine, key))
    theirs = _sums(base, key)
    return tuple(Amount(name=name, amount=mine[name], baseline=theirs[name]) for name in _order(mine, theirs, key))


def _sums(items: Sequence[Portion], key: Key) -> Counter[str]:
    """Return the sums by a key, in the order of the model."""
    sums: Counter[str] = Counter()
    for item in items:
        sums[key(item)] += item.amount
    return sums


def _order(ours: Counter[str], base: Counter[str], key: Key) -> list[str]:
    """Return the names of both models: kinds in a fixed order, parts in ours with the baseline's own in their place."""
    if key is by_kind:
        return sorted({*ours, *base}, key=lambda kind: KINDS.index(kind.partition(TIMES)[0]))
    parts = list(ours)
    before = -1
    for part in base:
        if part not in parts:
            parts.insert(before + 1, part)
        before = parts.index(part)
    return parts
