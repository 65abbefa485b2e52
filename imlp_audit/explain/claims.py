"""Sentences about the paper's own numbers: in which meaning, on which numbers, and row by row with what outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imlp_audit.checks.context import Context
from imlp_audit.explain.claim_rows import by_row
from imlp_audit.explain.head import head, stands_at
from imlp_audit.explain.layout import Lines
from imlp_audit.explain.pointers import pointers
from imlp_audit.records.check import Check
from imlp_audit.spec.claims import COMPARED, Claim, Quantity
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.plan import ClaimPlan
from imlp_audit.spec.references import CellRef, RowRef, cells_named, find_cell, find_row, rows_of_claim

_JUDGED = "each printed number is any number that prints so; the claim holds where it holds for all of them"


def claim(plan: ClaimPlan, check: Check, papers: Sequence[Paper]) -> Iterator[Lines]:
    """Yield the sentence, its meaning, what was judged, and the numbers."""
    value = plan.claim.value
    rows = rows_of_claim(value, papers)
    lines = by_row(value, check, Context(papers, {}), rows)
    told_by_row = value.conditions is not None and lines
    reason = check.reason.partition("; ")[0] if told_by_row else check.reason
    yield head(
        check.model_copy(update={"reason": reason}),
        ("printed", f"“{value.text}”"),
        ("source", f"{_place(value)}; {stands_at(check.source)}"),
        ("meaning", value.meaning or ""),
        ("compared", _compared(value)),
        ("judged by", _judged(value)),
    )
    yield lines
    yield pointers(_cells(value, rows, papers), {})


def _place(value: Claim) -> str:
    return ", ".join(f"{name} {text}" for name, text in value.source.model_dump(exclude_none=True).items())


def _judged(value: Claim) -> str:
    if value.reference is not None:
        return "whether the cells stand in the table that the text points to"
    if value.input is not None:
        size = value.input.size
        return f"whether the printed FLOPs follow from images of {size} pixels a side, or from another size alone"
    needed = "" if value.holds_for == "all" else f"; it has to hold for {value.holds_for} of the rows"
    return _JUDGED + needed


def _compared(value: Claim) -> str:
    """Say what its quantities are, of the columns that they are taken of."""
    columns: dict[str, list[str]] = {}
    for quantity in value.quantities:
        columns.setdefault(_told(quantity), []).append(quantity.column)
    return "; ".join(f"{told}, of {', '.join(dict.fromkeys(names))}" for told, names in columns.items())


def _told(quantity: Quantity) -> str:
    reference = quantity.against or "the row's baseline"
    match quantity.kind:
        case "value":
            return "the printed number"
        case "step":
            return "step: the number less that of the row before"
        case "change":
            return f"change: from {reference}, in percent"
        case "difference":
            return f"difference: the number less that of {reference}"
        case "ratio":
            return f"ratio: the number divided by that of {reference}"
        case "position":
            return f"position: how far it is, in percent, on the way from {' to '.join(quantity.references)}"
        case _:
            return "share: what the MLPs have of the model's measured number, in percent"


def _cells(value: Claim, rows: list[RowRef], papers: Sequence[Paper]) -> list[CellRef]:
    """Return the numbers that a claim is about: the cells it names, or those of its columns in its rows."""
    named = [cell for name in cells_named(value) if (cell := find_cell(papers, name)) is not None]
    columns = dict.fromkeys(quantity.column for quantity in value.quantities)
    others = [row for q in value.quantities for name in q.references if (row := find_row(papers, name)) is not None]
    compared_with_it = any(quantity.kind in COMPARED and quantity.against is None for quantity in value.quantities)
    bases = [row.baseline for row in rows if row.baseline is not None and compared_with_it]
    found = [cell for row in (*rows, *bases, *others) for name in columns if (cell := row.cell(name)) is not None]
    return list({cell.id: cell for cell in (*named, *found)}.values())
