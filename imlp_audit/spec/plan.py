"""The checks of a paper, planned from its specs alone: their ids, kinds and places, in the order of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from imlp_audit.equations.catalogue import AnyClaim, ClaimText
from imlp_audit.errors import SpecError
from imlp_audit.numbers.printed import Printed
from imlp_audit.records.check import CheckKind, Source
from imlp_audit.spec.claim_entries import ClaimEntry
from imlp_audit.spec.claims import Meanings, ParsedClaim, parse_claims
from imlp_audit.spec.counted import counted_part
from imlp_audit.spec.equations import claims_of
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.references import CellRef, RowRef, find_rows, repeated_row, rows_of, rows_of_table
from imlp_audit.spec.repeats import find_alike, find_twins
from imlp_audit.spec.tables import Footnote, PrintedTable
from imlp_audit.spec.tree import Located


@dataclass(frozen=True)
class CellPlan:
    """Does the printed number follow from the model?"""

    id: str
    source: Source
    cell: CellRef
    kind: CheckKind = CheckKind.CELL


@dataclass(frozen=True)
class DeltaPlan:
    """Does the printed change follow from the printed cells, or (`measured`) from the measured values?"""

    id: str
    source: Source
    cell: CellRef
    base: CellRef
    change: Printed
    measured: bool
    kind: CheckKind = CheckKind.DELTA


@dataclass(frozen=True)
class MarkPlan:
    """Does the row need the change of its recipe that its footnote mark, or the lack of one, stands for?

    `cell` is the number that decides.
    """

    id: str
    source: Source
    row: RowRef
    footnote: Footnote
    cell: CellRef
    kind: CheckKind = CheckKind.MARK


@dataclass(frozen=True)
class RepeatPlan:
    """Do two places print the same number (or, with `delta`, the same change)?

    `said` is whether the row says that it repeats the other; else they are of one model.
    """

    id: str
    source: Source
    cell: CellRef
    other: CellRef
    numbers: tuple[Printed, Printed]
    delta: bool
    matched_by: str
    said: bool = True
    kind: CheckKind = CheckKind.REPEAT


@dataclass(frozen=True)
class ColumnsPlan:
    """Does every counted cell of a table stand under its own heading?"""

    id: str
    source: Source
    paper: Paper
    table: Located[PrintedTable]
    kind: CheckKind = CheckKind.COLUMN


@dataclass(frozen=True)
class ClaimPlan:
    """Is a sentence about the numbers true of them, as printed or (`measured`) as counted?

    `left_out` are the rows that it speaks of and that are not judged, each group with the reason.
    """

    id: str
    source: Source
    paper: Paper
    claim: Located[ClaimEntry]
    meanings: Meanings
    left_out: Sequence[tuple[Sequence[RowRef], str]] = ()
    measured: bool = False
    kind: CheckKind = CheckKind.CLAIM


@dataclass(frozen=True)
class EquationPlan:
    """Does a statement about functions hold where it is run? If not, `nearest` is the claim that does."""

    id: str
    source: Source
    claim: AnyClaim
    nearest: AnyClaim | None = None
    kind: CheckKind = CheckKind.EQUATION


Plan: TypeAlias = CellPlan | DeltaPlan | MarkPlan | RepeatPlan | ColumnsPlan | ClaimPlan | EquationPlan


@lru_cache(maxsize=32)  # every command asks at least twice: to look at the ids, and for the checks
def plan(paper: Paper, known: tuple[Paper, ...]) -> Sequence[Plan]:
    """Return the checks of a paper; `known` are the papers that rows and cells are looked up in. Raises SpecError."""
    plans: list[Plan] = []
    for table in paper.tables:
        for row in rows_of_table(paper, table):
            plans += _cells(row)
        plans += _marks(paper, table)
        plans += _columns(paper, table)
    plans += plan_repeats(paper, known)
    plans += _alike(paper, known)
    plans += [one for parsed in parse_claims(paper, known) for one in _claim(paper, parsed, known)]
    return [*plans, *_equations(paper, known)]


def check_ids(paper: Paper, known: tuple[Paper, ...]) -> list[str]:
    """Return the ids of a paper's checks in order."""
    return [check.id for check in plan(paper, known)]


def _equations(paper: Paper, known: Sequence[Paper]) -> Iterator[Plan]:
    claims = claims_of(paper, known)
    for claim in claims.values():
        nearest = claims.get(claim.nearest or "") if isinstance(claim, ClaimText) else None
        yield EquationPlan(claim.id, Source(file=claim.file, line=claim.line), claim, nearest)


def _at(row: RowRef, *below: str | int) -> Source:
    return row.table.source("rows", row.index, *below)


def _claim(paper: Paper, parsed: ParsedClaim, known: Sequence[Paper]) -> Iterator[ClaimPlan]:
    claim, meanings = parsed.claim, parsed.meanings
    if meanings is None:
        raise SpecError(parsed.problems)
    name, at = f"{paper.id}/claims/{claim.value.id}", claim.source("text")
    left_out = [
        (list({row.id: row for glob in left.rows for row in find_rows(known, glob)}.values()), left.because)
        for left in claim.value.left_out
    ]
    yield ClaimPlan(name, at, paper, claim, meanings, left_out)
    counted = counted_part(meanings)
    if counted is not None:
        yield ClaimPlan(f"{name}.measured", at, paper, claim, counted, left_out, measured=True)


def _cells(row: RowRef) -> Iterator[Plan]:
    for column in row.row.printed:
        cell = CellRef(row, column)
        yield CellPlan(cell.id, _at(row, "printed", column), cell)
        base = row.baseline.cell(column) if row.baseline else None
        change = cell.delta
        if change is not None and base is not None:
            at = _at(row, "delta", column)
            yield DeltaPlan(f"{cell.id}.delta", at, cell, base, change, measured=False)
            if cell.column.measure.totalled:
                yield DeltaPlan(f"{cell.id}.delta.measured", at, cell, base, change, measured=True)


def _marks(paper: Paper, table: Located[PrintedTable]) -> Iterator[Plan]:
    footnote = table.value.footnote
    if footnote is None:
        return
    for row in rows_of_table(paper, table):
        recipe, cell = row.row.model, row.cell(footnote.decided_by)
        if cell is None:
            continue
        if footnote.concerns(recipe) if recipe is not None else row.row.baseline:
            place = _at(row, "mark") if row.row.mark else _at(row)
            yield MarkPlan(f"{paper.id}/marks/{table.value.table}/{row.row.id}", place, row, footnote, cell)


def _columns(paper: Paper, table: Located[PrintedTable]) -> Iterator[Plan]:
    counted = [column for column in table.value.columns.values() if column.measure.totalled]
    if len(counted) > 1 and any(row.model is not None for row in table.value.rows):
        yield ColumnsPlan(f"{paper.id}/columns/{table.value.table}", table.source("columns"), paper, table)


def plan_repeats(paper: Paper, known: Sequence[Paper]) -> list[RepeatPlan]:
    """Return the checks of numbers that a paper prints again from papers that are known."""
    return [repeat for row in rows_of(paper) for repeat in _repeats(row, known)]


def _alike(paper: Paper, known: Sequence[Paper]) -> Iterator[RepeatPlan]:
    for twins in find_alike(paper, known):
        row, column = twins.cell.row, twins.cell.column_id
        name = f"{paper.id}/repeats/{row.table.value.table}/{row.row.id}/{column}"
        numbers, at = (twins.cell.printed, twins.other.printed), _at(row, "printed", column)
        how = twins.matched_by
        yield RepeatPlan(name, at, twins.cell, twins.other, numbers, delta=False, matched_by=how, said=False)


def _repeats(row: RowRef, known: Sequence[Paper]) -> Iterator[RepeatPlan]:
    other = repeated_row(row, known)
    if other is None:
        return
    stem = f"{row.paper.id}/repeats/{row.table.value.table}/{row.row.id}"
    for twins in find_twins(row, other):
        cell, twin, column = twins.cell, twins.other, twins.cell.column_id
        numbers, at = (cell.printed, twin.printed), _at(row, "printed", column)
        yield RepeatPlan(f"{stem}/{column}", at, cell, twin, numbers, delta=False, matched_by=twins.matched_by)
        ours, theirs, at = cell.delta, twin.delta, _at(row, "delta", column)
        if ours is not None and theirs is not None:
            name = f"{stem}/{column}.delta"
            yield RepeatPlan(name, at, cell, twin, (ours, theirs), delta=True, matched_by=twins.matched_by)
