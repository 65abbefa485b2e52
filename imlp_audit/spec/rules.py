"""What the parts of a spec must agree on; every contradiction is a problem at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import assert_never

from pydantic import ValidationError

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, MemoryConvention, ParameterConvention
from imlp_audit.equations.catalogue import BrokenClaim
from imlp_audit.errors import Problem, did_you_mean
from imlp_audit.models.change import Change, describe
from imlp_audit.models.reading import OwnFamily, PaperReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.forms import NumberForm, parse_printed
from imlp_audit.records.wording import write_complaint
from imlp_audit.spec.accuracies import broken_accuracies
from imlp_audit.spec.claims import parse_claims
from imlp_audit.spec.columns import CountedMeasure, Measure
from imlp_audit.spec.covered import rows_not_covered
from imlp_audit.spec.covering import broken_coverage
from imlp_audit.spec.equations import broken_entries
from imlp_audit.spec.findings import broken_findings
from imlp_audit.spec.fitted import broken_fits
from imlp_audit.spec.globs import Names
from imlp_audit.spec.number_forms import form_of
from imlp_audit.spec.own_blocks import broken_blocks
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.plan import plan
from imlp_audit.spec.references import RowRef, repeated_row, rows_of
from imlp_audit.spec.repeats import hold_the_same
from imlp_audit.spec.schema import System
from imlp_audit.spec.tables import Footnote, PrintedTable
from imlp_audit.spec.tree import Located


def broken_rules(paper: Paper, known: tuple[Paper, ...]) -> list[Problem]:
    """Return every problem of a paper's own parts and of what they refer to."""
    own = paper.about.value.conventions
    readings = {name: named.reading() for name, named in paper.about.value.readings.items()}
    problems = [*_about(paper), *(p for table in paper.tables for p in _table(table, [*FLOPS_CONVENTIONS, *own]))]
    problems += [p for row in rows_of(paper) for p in _row(row, known, readings)]
    problems += [p for claim in parse_claims(paper, known) for p in claim.problems]
    problems += [*rows_not_covered(paper, known), *broken_accuracies(paper)]
    problems += [p for system in paper.systems for p in _system(system, readings)]
    problems += _twice([(system.value.id, system, "id") for system in paper.systems])
    problems += _twice([(table.value.table, table, "table") for table in paper.tables])
    problems += _twice([(claim.value.id, claim, "id") for claim in paper.claims])
    problems += _twice([(entry.value.id, entry, "id") for entry in paper.shared])
    problems += [*broken_entries(paper, known), *_broken_preprocessing(paper), *broken_blocks(paper)]
    return problems


def broken_check_ids(paper: Paper, known: tuple[Paper, ...]) -> list[Problem]:
    """Return every problem of what names checks by their ids; the known papers must break no other rule."""
    ids = [check.id for check in plan(paper, known)]
    if any(isinstance(claim, BrokenClaim) for claim in paper.equations):
        # a module that cannot be read hides the names of its claims; the check that says so stands for all of them
        ids += [name for name in _ids_referred_to(paper) if name.startswith(f"{paper.id}/equations/")]
    names = Names(ids)
    named = _twice([(entry.value.id, entry, "id") for entry in paper.findings])
    return [
        *named,
        *broken_findings(paper, names),
        *(p for cover in paper.coverage for p in broken_coverage(paper, cover, names)),
    ]


def _ids_referred_to(paper: Paper) -> Iterator[str]:
    yield from (glob for entry in paper.findings for glob in entry.value.checks)
    for cover in paper.coverage:
        yield from (glob for entry in cover.value.entries for glob in entry.checks or ())
        yield from (glob for numbers in cover.value.numbers for glob in numbers.checks or ())


def _broken_preprocessing(paper: Paper) -> Iterator[Problem]:
    for one in paper.preprocessing:
        for index, glob in enumerate(one.value.rows):
            if not paper.row_names.matching(glob):
                yield one.problem(f"no row {glob!r} in this paper", "rows", index)


def _twice(named: Sequence[tuple[str, Located[object], str]]) -> Iterator[Problem]:
    seen: dict[str, Located[object]] = {}
    for name, located, key in named:
        earlier = seen.setdefault(name, located)
        if earlier is located:
            continue
        message = f"the {key} {name!r} is taken already; give each its own"
        here, first = located.problem(message, key), earlier.problem(message, key)
        if first.file == here.file:
            yield here
            continue
        there = replace(first, message=f"{message} (it is in {here.file} too, line {here.line})")
        yield replace(here, message=f"{message} (it is in {first.file} too, line {first.line})", other=there)


def _about(paper: Paper) -> Iterator[Problem]:
    about = paper.about.value
    known = [*FLOPS_CONVENTIONS, *about.conventions]
    for name in FLOPS_CONVENTIONS.keys() & about.conventions.keys():
        yield paper.about.problem(f"{name!r} is a convention already; give yours another name", "conventions", name)
    yield from broken_fits(paper)
    for index, name in enumerate(about.flops):
        if name not in known:
            yield paper.about.problem(_no_convention(name, known), "flops", index)


def _no_convention(name: str, known: Sequence[str]) -> str:
    """Say that no convention has a name, which one may be meant, and which there are."""
    hint = did_you_mean(name, known)
    names = f" There are {', '.join(known)}" if hint.startswith("did you mean") else ""
    return f"no convention is called {name!r}; {hint}{names}"


def _table(located: Located[PrintedTable], conventions: Sequence[str]) -> Iterator[Problem]:
    table = located.value
    taken: dict[str, int] = {}
    for index, row in enumerate(table.rows):
        first = taken.setdefault(row.id, index)
        if first != index:
            line = located.source("rows", first, "id").line
            message = f"the row id {row.id!r} is taken already; give each its own (line {line} has it)"
            yield located.problem(message, "rows", index, "id")
    for index, row in enumerate(table.rows):
        for measure, by in row.counted_by.items():
            known = _conventions_of(measure, conventions)
            if by.convention not in known:
                message = _no_convention(by.convention, known)
                yield located.problem(message, "rows", index, "counted_by", measure, "convention")
    footnote = table.footnote
    if footnote is None:
        return
    column = table.columns.get(footnote.decided_by)
    if column is None or not column.measure.totalled:
        counted = [name for name, c in table.columns.items() if c.measure.totalled]
        message = f"a mark is decided by a counted column; {did_you_mean(footnote.decided_by, counted)}"
        yield located.problem(message, "footnote", "decided_by")
    yield from _marked_rows(located, footnote)


def _conventions_of(measure: CountedMeasure, flops: Sequence[str]) -> Sequence[str]:
    match measure:
        case Measure.PARAMETERS:
            return list(ParameterConvention)
        case Measure.FLOPS:
            return flops
        case Measure.MEMORY:
            return list(MemoryConvention)
        case _:
            assert_never(measure)


def _marked_rows(located: Located[PrintedTable], footnote: Footnote) -> Iterator[Problem]:
    """Check that the footnote's changes make models of the rows that they concern, and agree with their recipes."""
    rows = [(index, row, row.model) for index, row in enumerate(located.value.rows) if row.model is not None]
    fits = [(index, row, recipe) for index, row, recipe in rows if recipe.takes(footnote.marked)]
    unbuilt = any(row.model is None and row.baseline for row in located.value.rows)
    if rows and not fits and not unbuilt:
        yield located.problem("no row's recipe has the part that the mark changes", "footnote", "marked")
    for index, row, recipe in fits:
        for key, change in (("marked", footnote.marked), ("otherwise", footnote.otherwise)):
            complaint = _find_refusal(recipe, change)
            if complaint is not None:
                message = f"{describe(change)} does not fit the model of row {row.id!r}: {complaint}"
                yield located.problem(message, "footnote", key)
                return
        meant = footnote.change(row.mark)
        if footnote.concerns(recipe) and recipe.with_change(meant) != recipe:
            mark = f"the mark {footnote.mark!r}" if footnote.mark in row.mark else f"no mark {footnote.mark!r}"
            message = f"the row has {mark}, which stands for {describe(meant)}, but its recipe has"
            yield located.problem(f"{message} {recipe.describe(meant)}", "rows", index, "model")


def _find_refusal(recipe: Recipe, change: Change) -> str | None:
    """Return why a change does not fit a recipe, None where it does."""
    return _complaint(lambda: recipe.with_change(change))


def _complaint(make: Callable[[], object]) -> str | None:
    """Return why no recipe can be made, None where one can."""
    try:
        make()
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        return write_complaint(detail, str(detail["loc"][-1]) if detail["loc"] else "the change")
    return None


def _row(ref: RowRef, known: Sequence[Paper], readings: Mapping[str, PaperReading]) -> Iterator[Problem]:
    row, table = ref.row, ref.table.value

    def problem(message: str, *below: str) -> Problem:
        return ref.table.problem(message, "rows", ref.index, *below)

    if row.baseline is not None and (ref.baseline is None or row.baseline == row.id):
        others = [r.id for r in table.rows if r.id != row.id]
        if len(others) == len(table.rows) - 1:  # an id that two rows have is the problem
            nearest = did_you_mean(row.baseline, others)
            yield problem(f"no other row {row.baseline!r} in this table; {nearest}", "baseline")
    if row.mark and (table.footnote is None or row.mark != table.footnote.mark):
        yield problem(f"the table's footnote does not explain the mark {row.mark!r}", "mark")
    if row.model is not None and (lacking := _unread(row.model, readings)) is not None:
        yield problem(lacking, "model")
    if (row.repeats or table.repeats) and repeated_row(ref, known) is None:
        target = row.repeats or f"{table.repeats}/{row.id}"
        rows = [r.id for p in known for r in rows_of(p)]
        message = f"no row {target!r} for this one to repeat; {did_you_mean(target, rows)}"
        yield problem(message, *(("repeats",) if row.repeats else ()))
    for column in row.printed:
        cell = ref.cell(column)
        complaint = _complaint(partial(getattr, cell, "recipe")) if cell is not None else None
        if complaint is not None:
            yield problem(f"the column's images do not fit the row's model: {complaint}", "printed", column)
    for column in _changed_meanings(ref, repeated_row(ref, known)):
        yield problem(f"the row it repeats has another kind of number under {column!r}; rename one", "printed", column)
    for name, numbers in (("printed", row.printed), ("delta", row.delta)):
        for column, text in numbers.items():
            complaint = _number(ref, name, column, text)
            if complaint is not None:
                yield problem(complaint, name, column)


def _changed_meanings(ref: RowRef, other: RowRef | None) -> Iterator[str]:
    """Yield the columns that a row and the one it repeats both print, and that hold different kinds of numbers."""
    ours, theirs = ref.table.value.columns, other.table.value.columns if other else {}
    for column in ref.row.printed:
        if column in ours and column in theirs and not hold_the_same(ours[column], theirs[column]):
            yield column


def _system(located: Located[System], readings: Mapping[str, PaperReading]) -> Iterator[Problem]:
    lacking = _unread(located.value.model, readings)
    if lacking is not None:
        yield located.problem(lacking, "model")


def _unread(recipe: Recipe, readings: Mapping[str, PaperReading]) -> str | None:
    """Yield a problem where a model leaves something open that not every reading of the paper answers."""
    if recipe.family is None or isinstance(recipe.family, OwnFamily):  # whose axes have defaults under any reading
        return None
    if not readings:
        return f"{recipe.family.models} needs a reading: name at least one under about: readings:"
    silent = [name for name, reading in readings.items() if recipe.part_of(reading) is None]
    return f"{recipe.family.models} needs a reading, and {silent[0]!r} has none of its axes" if silent else None


def _number(ref: RowRef, name: str, column: str, text: str) -> str | None:
    """Say what is wrong with a printed number or change, if anything."""
    columns = ref.table.value.columns
    if column not in columns:
        return f"the table has no column {column!r}; {did_you_mean(column, list(columns))}"
    if name == "delta" and (complaint := _baseless(ref, column)) is not None:
        return complaint or None
    try:
        decimal = ref.paper.about.value.decimal
        form = NumberForm("%", decimal) if name == "delta" else form_of(columns[column], decimal)
        printed = parse_printed(text, form)
    except ValueError as error:
        return str(error)
    if printed.spread is not None and (name == "delta" or columns[column].measure.counted):
        return f"{text} has a spread, but a {'change' if name == 'delta' else 'count'} is one number; write that alone"
    if name == "printed" and printed.negative and not printed.value and columns[column].measure.counted:
        zero = printed.negated.text
        return f"{text} is a zero with a minus sign, which no count is; write {zero} if the sign is a slip of the spec"
    return None


def _baseless(ref: RowRef, column: str) -> str | None:
    """Say what a printed change lacks; nothing ("") where something else says it, None where it lacks nothing."""
    if column not in ref.row.printed:
        misspelt = any(name not in ref.table.value.columns for name in ref.row.printed)
        return "" if misspelt else f"a change of {column} is printed, but no value of it"
    if ref.row.baseline is None:
        return f"a change of {column} needs a row that it is from: give the row a baseline"
    if ref.baseline is None:
        return ""
    return (
        None if ref.baseline.cell(column) else f"a change of {column} needs one of the baseline {ref.baseline.row.id!r}"
    )
