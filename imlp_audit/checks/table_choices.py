"""What a table with candidates leaves open for all its rows, chosen by its numbers together before any is judged.

The unit of a column whose heading gives none, and the channels of the images and the classes of all models. Each is
chosen only where the usual one explains few numbers: a number of a table that another choice explains is no error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

from imlp_audit.checks.candidate_counts import TableCounts, key_of, proposals
from imlp_audit.checks.context import Context
from imlp_audit.checks.matches_by_chance import BY_CHANCE, LEAST, are_settled, at_least, chance, matches
from imlp_audit.count.conventions import ParameterConvention
from imlp_audit.count.facts import ModelFacts, ModelKey, Need
from imlp_audit.models.names.data_sets import PUBLISHED_HEADS, SMALL_HEADS, USUAL_CLASSES
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.relatives import with_ends
from imlp_audit.numbers.parsing import headed_unit
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.schema import PrintedTable, Row

_UNITS = ("k", "M", "G", "")
_CHANNELS = (None, 1)  # of images: None is the model's own number, three
_HEADS = (USUAL_CLASSES, *SMALL_HEADS, *(one for one in PUBLISHED_HEADS if one > 10 * USUAL_CLASSES))  # of no widths


def with_units(paper: Paper, context: Context) -> Paper:
    """Return a paper whose columns are in the units that explain their numbers, where their headings give none."""
    return _with_tables(paper, [_with_units(TableCounts(paper, table, context)) for table in paper.tables])


def _with_tables(paper: Paper, tables: Sequence[PrintedTable]) -> Paper:
    known = tuple(replace(one, value=table) for one, table in zip(paper.tables, tables, strict=True))
    changed = any(new is not old.value for new, old in zip(tables, paper.tables, strict=True))
    return replace(paper, tables=known) if changed else paper


def _with_units(counts: TableCounts) -> PrintedTable:
    table = counts.table.value
    for name, column in table.columns.items() if counts.proposed else ():
        if not column.measure.totalled or column.needs or headed_unit(column.heading) is not None:
            continue
        own = _explained(counts, table, name)
        if 2 * own >= len(counts.rows):
            continue
        tables = [_in_unit(table, name, unit) for unit in _UNITS]
        best = max(tables, key=lambda one: _explained(counts, one, name))
        if _explained(counts, best, name) >= max(LEAST, 5 * own):
            table = best
    return table


def _in_unit(table: PrintedTable, column: str, unit: str) -> PrintedTable:
    columns = {**table.columns, column: table.columns[column].model_copy(update={"unit": unit})}
    return table.model_copy(update={"columns": columns})


def _explained(counts: TableCounts, table: PrintedTable, column: str) -> int:
    """Return how many rows of a table have a number of a column that one choice for all of them explains."""
    located = replace(counts.table, value=table)
    paper = replace(counts.paper, tables=(located,))
    found = TableCounts(paper, located, counts.context)
    if table.columns[column].measure is Measure.PARAMETERS:
        return max(map(len, found.scores.values()), default=0)
    chosen = found.chosen[column]
    return chosen.explained if chosen is not None else 0


def one_channel_needed(papers: Sequence[Paper], context: Context) -> Mapping[ModelKey, Need]:
    """Return what to count of tables whose rows are not as their labels say: the models for images of one channel."""
    return {
        key_of(paper, one, context): Need()
        for paper in papers
        if proposals(paper)
        for table in paper.tables
        if _is_odd(counts := TableCounts(paper, table, context))
        for _, model, _ in counts.said
        if (one := with_ends(model, 1, None)) is not None
    }


def _is_odd(counts: TableCounts) -> bool:
    """Return whether few rows of a table have all parameters of the models that their labels say."""
    rows, found = len(counts.said), counts.scores.get(str(ParameterConvention.ALL))
    if not counts.proposed or rows <= LEAST or found is None:
        return False
    return not are_settled(len(found), rows - len(found))


def with_heads(paper: Paper, context: Context) -> Paper:
    """Return a paper whose candidates have the channels and the classes that explain the parameters of a table."""
    tables = []
    for table in paper.tables:
        counts = TableCounts(paper, table, context)
        change = _find_change(counts) if _is_odd(counts) else None
        rows = tuple(_with_change(row, *change) for row in table.value.rows) if change is not None else ()
        tables.append(table.value.model_copy(update={"rows": rows}) if rows else table.value)
    return _with_tables(paper, tables)


def _find_change(counts: TableCounts) -> tuple[int | None, int] | None:
    """Return the channels and the classes that explain most rows, if more than any kind of parameters and no luck."""
    most, change = max(map(len, counts.scores.values())), None
    for channels, classes in product(_CHANNELS, _HEADS):
        hits, odds = 0, []
        for _, model, cells in counts.said:
            size = _size(counts, model, channels, classes)
            hits += size is not None and all(matches(cell.printed, size) for cell in cells)
            odds.append(prod(chance(cell.printed, {size}) for cell in cells) if size is not None else 0.0)
        lucky = len(_CHANNELS) * len(_HEADS) * at_least(hits, odds)
        if hits > most and are_settled(hits, len(odds) - hits) and lucky <= BY_CHANCE:
            most, change = hits, (channels, classes)
    return change


def _size(counts: TableCounts, model: Recipe, channels: int | None, classes: int) -> Fraction | None:
    """Return the parameters of a model with another number of classes: its head has as many for each."""
    changed = with_ends(model, channels, None)
    facts = counts.facts_of(changed) if changed is not None else None
    if not isinstance(facts, ModelFacts) or ParameterConvention.NO_HEAD not in facts.parameters:
        return None
    full, bare = (facts.parameters[kind] for kind in (ParameterConvention.ALL, ParameterConvention.NO_HEAD))
    return bare + Fraction((full - bare) * classes, model.classes or USUAL_CLASSES)


def _with_change(row: Row, channels: int | None, classes: int) -> Row:
    """Return a row whose candidates have other channels and classes, and the first one as it was."""
    made = [with_ends(one, channels, classes) for one in row.candidates]
    changed = [one for one in made if one is not None]
    candidates = tuple(dict.fromkeys((*changed, *row.candidates[:1]))) if changed else row.candidates
    return row.model_copy(update={"candidates": candidates})
