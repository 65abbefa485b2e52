"""The checks of a paper, planned from its specs alone: their ids, kinds and places, in the order of the report."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, TypeAlias

from imlp_audit.claims.catalogue import AnyClaim, BrokenClaim, ClaimText
from imlp_audit.errors import SpecError
from imlp_audit.numbers.printed import Printed
from imlp_audit.records.check import CheckKind, Source
from imlp_audit.spec.claim_entries import ClaimEntry
from imlp_audit.spec.claims import Meanings, ParsedClaim, parse_claims
from imlp_audit.spec.columns import Column, details_of, hold_the_same, is_specified, measure_the_same
from imlp_audit.spec.paper import CellRef, Paper, RowRef, find_rows, repeated_row, rows_of_table
from imlp_audit.spec.schema import EquationEntry, Footnote, PrintedTable
from imlp_audit.spec.tree import Located

_APPENDIX = re.compile(r"[A-Z](\.\d+)*")


def name_section(section: str) -> str:
    """Name a section as papers do: 5.1 is Sec. 5.1, A.2 is Appendix A.2, and any other is called by its heading."""
    if section[:1].isdecimal():
        return f"Sec. {section}"
    return f"Appendix {section}" if _APPENDIX.fullmatch(section) else section


@dataclass(frozen=True)
class _Plan:
    """A check: its id, and where in the files what it judges stands."""

    id: str
    source: Source


@dataclass(frozen=True)
class CellPlan(_Plan):
    """Does the printed number follow from the model?"""

    cell: CellRef
    kind: ClassVar[CheckKind] = CheckKind.CELL


@dataclass(frozen=True)
class DeltaPlan(_Plan):
    """Does the printed change follow from the printed cells, or (`measured`) from the measured values?"""

    cell: CellRef
    base: CellRef
    change: Printed
    measured: bool
    kind: ClassVar[CheckKind] = CheckKind.DELTA


@dataclass(frozen=True)
class MarkPlan(_Plan):
    """Does the row need the change of its recipe that its footnote mark, or the lack of one, stands for?

    `cell` is the number that decides.
    """

    row: RowRef
    footnote: Footnote
    cell: CellRef
    kind: ClassVar[CheckKind] = CheckKind.MARK


@dataclass(frozen=True)
class RepeatPlan(_Plan):
    """Do two places print the same number (or, with `delta`, the same change)?

    `said` is whether the row says that it repeats the other; else they are of one model.
    """

    cell: CellRef
    other: CellRef
    numbers: tuple[Printed, Printed]
    delta: bool
    matched_by: str
    said: bool = True
    kind: ClassVar[CheckKind] = CheckKind.REPEAT


@dataclass(frozen=True)
class ColumnsPlan(_Plan):
    """Does every counted cell of a table stand under its own heading?"""

    paper: Paper
    table: Located[PrintedTable]
    kind: ClassVar[CheckKind] = CheckKind.COLUMN


@dataclass(frozen=True)
class ClaimPlan(_Plan):
    """Is a sentence about the numbers true of them, as printed or (`measured`) as counted?

    `left_out` are the rows that it speaks of and that are not judged, each group with the reason.
    """

    paper: Paper
    claim: Located[ClaimEntry]
    meanings: Meanings
    left_out: Sequence[tuple[Sequence[RowRef], str]] = ()
    measured: bool = False
    kind: ClassVar[CheckKind] = CheckKind.CLAIM


@dataclass(frozen=True)
class EquationPlan(_Plan):
    """Does a statement about functions hold where it is run? If not, `nearest` is the claim that does."""

    claim: AnyClaim
    nearest: AnyClaim | None = None
    kind: ClassVar[CheckKind] = CheckKind.EQUATION


Plan: TypeAlias = CellPlan | DeltaPlan | MarkPlan | RepeatPlan | ColumnsPlan | ClaimPlan | EquationPlan


def place_of(plan: Plan) -> str | None:
    """Return where in the paper a reader would look for what a check judges; None for a claim that cannot be read."""
    match plan:
        case DeltaPlan(cell=cell) | RepeatPlan(cell=cell, delta=True):
            return f"{cell.place}, change"
        case CellPlan(cell=cell) | RepeatPlan(cell=cell):
            return cell.place
        case MarkPlan():
            return f"{plan.row.place}, footnote mark"
        case ColumnsPlan():
            return f"{plan.table.value.called}, headings"
        case ClaimPlan():
            return name_section(plan.claim.value.source.section)
        case EquationPlan():
            return plan.claim.place if isinstance(plan.claim, ClaimText) else None


@lru_cache(maxsize=32)  # every command asks at least twice: to look at the ids, and for the checks
def plan(paper: Paper, known: tuple[Paper, ...]) -> Sequence[Plan]:
    """Return the checks of a paper; `known` are the papers that rows and cells are looked up in. Raises SpecError."""
    plans: list[Plan] = []
    for table in paper.tables:
        rows = rows_of_table(paper, table)
        for row in rows:
            plans += _cells(row)
        plans += _marks(paper, table, rows)
        plans += _columns(paper, table)
    plans += plan_repeats(paper, known)
    plans += _alike(paper, known)
    plans += [one for parsed in parse_claims(paper, known) for one in _claim(paper, parsed, known)]
    return [*plans, *_equations(paper, known)]


def check_ids(paper: Paper, known: tuple[Paper, ...]) -> list[str]:
    """Return the ids of a paper's checks in order."""
    return [check.id for check in plan(paper, known)]


def _cells(row: RowRef) -> Iterator[Plan]:
    for cell in row.cells:
        column = cell.column_id
        yield CellPlan(cell.id, row.source("printed", column), cell)
        base = row.baseline.cell(column) if row.baseline else None
        change = cell.delta
        if change is not None and base is not None:
            at = row.source("delta", column)
            yield DeltaPlan(f"{cell.id}.delta", at, cell, base, change, measured=False)
            if cell.column.measure.totalled:
                yield DeltaPlan(f"{cell.id}.delta.measured", at, cell, base, change, measured=True)


def _marks(paper: Paper, table: Located[PrintedTable], rows: Sequence[RowRef]) -> Iterator[Plan]:
    footnote = table.value.footnote
    if footnote is None:
        return
    for row in rows:
        recipe, cell = row.row.model, row.cell(footnote.decided_by)
        if cell is None:
            continue
        if footnote.concerns(recipe) if recipe is not None else row.row.baseline:
            at = row.source("mark") if row.row.mark else row.source()
            yield MarkPlan(f"{paper.id}/marks/{table.value.table}/{row.row.id}", at, row, footnote, cell)


def _columns(paper: Paper, table: Located[PrintedTable]) -> Iterator[Plan]:
    counted = [column for column in table.value.columns.values() if column.measure.totalled]
    if len(counted) > 1 and any(row.model is not None for row in table.value.rows):
        yield ColumnsPlan(f"{paper.id}/columns/{table.value.table}", table.source("columns"), paper, table)


def plan_repeats(paper: Paper, known: Sequence[Paper]) -> list[RepeatPlan]:
    """Return the checks of numbers that a paper prints again from papers that are known."""
    return [repeat for row in paper.rows for repeat in _repeats(row, known)]


def _repeats(row: RowRef, known: Sequence[Paper]) -> Iterator[RepeatPlan]:
    other = repeated_row(row, known)
    for cell, twin in _find_twins(row, other) if other is not None else ():
        how = f"both are called {cell.column_id}"
        if measure_the_same(cell.column, twin.column):
            how = _describe(cell.column)
        yield _repeat(cell, twin, how)
        ours, theirs = cell.delta, twin.delta
        if ours is not None and theirs is not None:
            at, name = row.source("delta", cell.column_id), f"{_repeat_id(cell)}.delta"
            yield RepeatPlan(name, at, cell, twin, (ours, theirs), delta=True, matched_by=how)


def _repeat(cell: CellRef, twin: CellRef, how: str, *, said: bool = True) -> RepeatPlan:
    numbers, at = (cell.printed, twin.printed), cell.row.source("printed", cell.column_id)
    return RepeatPlan(_repeat_id(cell), at, cell, twin, numbers, delta=False, matched_by=how, said=said)


def _repeat_id(cell: CellRef) -> str:
    row = cell.row
    return f"{row.paper.id}/repeats/{row.table.value.table}/{row.row.id}/{cell.column_id}"


def _find_twins(row: RowRef, other: RowRef) -> Iterator[tuple[CellRef, CellRef]]:
    """Yield the cells of a row that another row prints too, each with its twin: by its id, else by its measure."""
    for cell in row.cells:
        named = other.cell(cell.column_id)
        others = [named] if named is not None else other.cells
        are_twins = hold_the_same if named is not None else measure_the_same
        twin = next((one for one in others if are_twins(cell.column, one.column)), None)
        if twin is not None:
            yield cell, twin


def _alike(paper: Paper, known: Sequence[Paper]) -> Iterator[RepeatPlan]:
    """Yield each score or cost that the paper prints again for the same recipe, trained alike, with its first row."""
    trained_alike: defaultdict[object, list[tuple[RowRef, str | None]]] = defaultdict(list)
    for row in paper.rows:
        if row.row.model is None or row.row.candidates:  # a model that is only proposed makes no twin
            continue
        earlier = trained_alike[row.row.model, row.row.training]
        repeated = repeated_row(row, known)
        said = {cell.column_id for cell, _ in _find_twins(row, repeated)} if repeated else set()
        for cell in row.cells:
            if cell.column.measure.counted or not is_specified(cell.column):
                continue  # sizes and settings follow from the model itself
            others = (one for one, repeats in earlier if repeats != row.id)
            alike = (c for one in others for c in one.cells if measure_the_same(cell.column, c.column))
            twin = next(alike, None)
            if twin is not None and cell.column_id not in said:
                how = f"they are of one model, no row says it was trained differently, and {_describe(cell.column)}"
                yield _repeat(cell, twin, how, said=False)
        earlier.append((row, repeated.id if repeated is not None else None))


def _describe(column: Column) -> str:
    details = ", ".join(f"{key} {value}" for key, value in details_of(column).items())
    return f"both are {column.measure}{f' ({details})' if details else ''}"


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
    if (counted := meanings.counted) is not None:
        yield ClaimPlan(f"{name}.measured", at, paper, claim, counted, left_out, measured=True)


def _equations(paper: Paper, known: Sequence[Paper]) -> Iterator[Plan]:
    claims = claims_of(paper, known)
    for claim in claims.values():
        nearest = claims.get(claim.nearest or "") if isinstance(claim, ClaimText) else None
        yield EquationPlan(claim.id, Source(file=claim.file, line=claim.line), claim, nearest)


def claims_of(paper: Paper, known: Sequence[Paper]) -> dict[str, AnyClaim]:
    """Return a paper's claims about functions by name; `known` are the papers that it may share them with."""
    own = {claim.name: claim for claim in paper.equations}
    shared = {entry.value.id: _shared_claim(paper, entry, known) for entry in paper.shared}
    return dict(sorted({**own, **shared}.items()))


def find_equation(equation_id: str, papers: Sequence[Paper]) -> AnyClaim | None:
    """Return the claim about functions of a full id."""
    return next((claim for paper in papers for claim in paper.equations if claim.id == equation_id), None)


def _shared_claim(paper: Paper, entry: Located[EquationEntry], known: Sequence[Paper]) -> AnyClaim:
    """Return another paper's claim in this paper's words."""
    words, place = entry.value, entry.source()
    other = find_equation(words.same_as, known)
    if not isinstance(other, ClaimText):
        return BrokenClaim(paper.id, words.id, place.file, place.line, f"{words.same_as} cannot be read")
    return replace(
        other,
        paper=paper.id,
        name=words.id,
        statement=words.text,
        place=words.place,
        form=words.printed or words.corrected or "",
        literal=words.printed is not None,
        nearest=words.nearest,
        file=place.file,
        line=place.line,
    )
