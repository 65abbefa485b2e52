"""What every check may look at: the facts measured, and how a paper's numbers are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TypeAlias, assert_never

from imlp_audit.checks.comparison import Measured
from imlp_audit.checks.hypothesis_clarity import JudgedPaper
from imlp_audit.checks.matches_by_chance import RowIdentity
from imlp_audit.claims.settings import AnyOutcome
from imlp_audit.count.conventions import (
    FLOPS_CONVENTIONS,
    Convention,
    MemoryConvention,
    ParameterConvention,
    WeightKey,
    parse_weight_key,
    total,
)
from imlp_audit.count.facts import Facts, Failure, ModelFacts, ModelKey
from imlp_audit.models.readings import PaperReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.printed import Printed, Rounding
from imlp_audit.spec.columns import (
    AccuracyColumn,
    Column,
    FlopsColumn,
    MemoryColumn,
    ParametersColumn,
    SettingColumn,
    UncountedColumn,
)
from imlp_audit.spec.paper import CellRef, Paper, RowRef
from imlp_audit.spec.schema import About, Row

Counter: TypeAlias = str | frozenset[tuple[WeightKey, int]] | None
"""What a convention counts, whatever a paper calls it: weights of work, or the name of a kind of parameters."""


def own_convention(row: Row, column: Column) -> str | None:
    """Return the convention that a source gives for a row's numbers of this kind, if one does."""
    return next((counted.convention for measure, counted in row.counted_by.items() if measure is column.measure), None)


@dataclass(frozen=True)
class Conventions:
    """How one paper's numbers are read: the first of each list is the default."""

    about: About
    chosen_reading: str | None = None

    @property
    def roundings(self) -> tuple[Rounding, ...]:
        """The rounding rules that are declared for the paper."""
        return self.about.rounding

    def roundings_of(self, column: Column) -> tuple[Rounding, ...]:
        """Return the rounding rules that are declared for the numbers of a column."""
        own = (rules for measure, rules in self.about.rounding_of.items() if measure is column.measure)
        return next(own, self.roundings)

    @cached_property
    def readings(self) -> Mapping[str | None, PaperReading]:
        """The declared readings by name; one without a name where the paper leaves nothing open."""
        declared = self.about.readings.items()
        named: dict[str | None, PaperReading] = {name: reading.reading() for name, reading in declared}
        if self.chosen_reading in named:
            return {self.chosen_reading: named[self.chosen_reading], **named}
        return named or {None: PaperReading()}

    def family_of(self, recipe: Recipe) -> str | None:
        """Return the family that a reading is chosen for; None where nothing is open, or no reading has a name.

        Then the axes of a block of the paper's own have their defaults.
        """
        return recipe.family_name if self.about.readings else None

    @cached_property
    def flops(self) -> Mapping[str, Convention]:
        """Every FLOPs convention that the paper could name; the declared ones come first."""
        own = {
            name: Convention(name, {parse_weight_key(key): weight for key, weight in weights.items()})
            for name, weights in self.about.conventions.items()
        }
        known = {**FLOPS_CONVENTIONS, **own}
        return {name: known[name] for name in (*self.about.flops, *known)}

    def counter_of(self, column: Column, convention: str | None) -> Counter:
        """Return what counts by a convention, to tell whether two numbers were counted alike."""
        if not isinstance(column, FlopsColumn):
            return convention
        weights = self.flops[str(convention)].weights.items()
        return frozenset((key, weight) for key, weight in weights if weight or key.site is not None)

    def declared_for(self, row: Row, column: Column) -> tuple[str | None, ...]:
        """Return the names of the conventions declared for a column in a row; a setting has none to choose from."""
        own = own_convention(row, column)
        return (own,) if own is not None else self.declared_for_column(column) or (None,)

    def named(self, column: Column) -> tuple[str, ...]:
        """Return the names of all conventions that the spec has for such a column, whichever rows they are for."""
        own = tuple(self.about.conventions) if isinstance(column, FlopsColumn) else ()
        return (*self.declared_for_column(column), *own)

    def declared_for_column(self, column: Column) -> tuple[str, ...]:
        """Return the names of the conventions declared for a column, whatever a row says of its own."""
        return self._names_for(column)[0]

    def known_for(self, row: Row, column: Column) -> tuple[str | None, ...]:
        """Return the names of all conventions for a column in a row, the declared ones first."""
        return tuple(dict.fromkeys((*self.declared_for(row, column), *self._names_for(column)[1])))

    def _names_for(self, column: Column) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names of the conventions for a column: the declared ones, and all."""
        match column:
            case ParametersColumn():
                return tuple(map(str, self.about.parameters)), tuple(map(str, ParameterConvention))
            case FlopsColumn():
                return self.about.flops or tuple(self.flops), tuple(self.flops)
            case MemoryColumn():
                return tuple(map(str, self.about.memory)), tuple(map(str, MemoryConvention))
            case SettingColumn() | AccuracyColumn() | UncountedColumn():
                return (), ()
            case _:
                assert_never(column)


@lru_cache(maxsize=64)
def _conventions_of(paper: Paper, reading: str | None) -> Conventions:
    return Conventions(paper.about.value, reading)


@dataclass(frozen=True, eq=False)
class Context:
    """Everything a check may look at.

    `outcomes` are those of claims about functions, by their ids; `judged` are the counted numbers of each paper, and
    `identities` what the numbers of rows with candidates say about these, by the rows' ids. Cells are `changed`, by
    their ids, to ask what a check would say of another number.
    """

    facts: Facts
    reading: str | None = None
    outcomes: Mapping[str, AnyOutcome] = field(default_factory=dict)
    judged: Mapping[str, JudgedPaper] = field(default_factory=dict)
    identities: Mapping[str, RowIdentity] = field(default_factory=dict)
    changed: Mapping[str, Printed] = field(default_factory=dict)

    def printed(self, cell: CellRef) -> Printed:
        """Return what a cell prints."""
        return self.changed.get(cell.id) or cell.printed

    def conventions(self, paper: Paper) -> Conventions:
        """Return how a paper's numbers are read in this audit."""
        return _conventions_of(paper, self.reading)

    def measurements(self, row: RowRef, recipe: Recipe, column: Column) -> tuple[list[Measured], list[Measured]]:
        """Return a model's measurements for a row under each reading: by the declared conventions, and by all others.

        Readings that failed are left out. Raises NotMeasuredError where the default one did, or the model
        has no such number.
        """
        read = self.conventions(row.paper)
        declared = read.declared_for(row.row, column)
        every = list(self._measure(row, recipe, column))
        ours = [m for m in every if m.convention in declared]
        if not ours:
            if isinstance(column, SettingColumn):
                lacking = f"equal blocks to read {column.of} off"
                raise NotMeasuredError(f"{recipe.name} has no {lacking}", unverifiable=True)
            raise NotMeasuredError(f"{recipe.name} has no head for {declared[0]}")
        return ours, [m for m in every if m.convention not in declared]

    def failures(self, paper: Paper, recipe: Recipe) -> list[str]:
        """Return why readings of a model could not be measured."""
        keys = dict.fromkeys(ModelKey.of(recipe, reading) for reading in self.conventions(paper).readings.values())
        return [fact.message for key in keys if isinstance(fact := self.facts[key], Failure)]

    def _measure(self, row: RowRef, recipe: Recipe, column: Column) -> Iterator[Measured]:
        read = self.conventions(row.paper)
        for position, (name, reading) in enumerate(read.readings.items()):
            if position and isinstance(self.facts[ModelKey.of(recipe, reading)], Failure):
                continue
            facts = self.model(recipe, reading)
            for convention in read.known_for(row.row, column):
                yield from _measure_column(facts, name, convention, read, column)

    def model(self, recipe: Recipe, reading: PaperReading) -> ModelFacts:
        """Return the facts of a model. Raises NotMeasuredError where there are none."""
        facts = self.facts[ModelKey.of(recipe, reading)]
        if isinstance(facts, Failure):
            raise NotMeasuredError(facts.message, unverifiable=facts.untrusted)
        return facts


class NotMeasuredError(Exception):
    """What a check needs of a model could not be had; the message says why.

    `unverifiable` if the model is not at fault: its code may not be run, or it has nothing that says the number.
    """

    def __init__(self, message: str, *, unverifiable: bool = False) -> None:
        super().__init__(message)
        self.unverifiable = unverifiable


def _measure_column(
    facts: ModelFacts, reading: str | None, convention: str | None, read: Conventions, column: Column
) -> Iterator[Measured]:
    """Yield what a model gives for a column under one convention; nothing where the model has no such thing."""
    match column:
        case ParametersColumn():
            parameters = facts.parameters.get(ParameterConvention(str(convention)))
            if parameters is not None:
                yield Measured(Fraction(parameters), reading, convention)
        case FlopsColumn():
            counter = read.flops[str(convention)]
            if facts.has_total(counter):
                yield _work(facts, reading, counter)
        case MemoryColumn():
            unit = MemoryConvention(str(convention)).size
            yield Measured(Fraction(facts.peaks[column.batch].live, unit), reading, convention)
        case SettingColumn():
            if column.of in facts.settings:
                yield Measured(Fraction(facts.settings[column.of]), reading)
        case AccuracyColumn() | UncountedColumn():
            return
        case _:
            assert_never(column)


def _work(facts: ModelFacts, reading: str | None, convention: Convention) -> Measured:
    if convention.name in facts.counted:
        return Measured(Fraction(facts.counted[convention.name]), reading, convention.name)
    if facts.ledger is None:
        raise NotMeasuredError("the work of the model was not counted")
    value = Fraction(total(facts.ledger, convention))
    return Measured(value, reading, convention.name, tuple(sorted(facts.ledger.unknown)))
