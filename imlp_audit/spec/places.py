"""Where in a paper the text stands that a check is about, in the words a reader would look for."""

from __future__ import annotations

import re
from typing import assert_never

from imlp_audit.equations.catalogue import BrokenClaim, ClaimText
from imlp_audit.models.change import write_value
from imlp_audit.spec.plan import CellPlan, ClaimPlan, ColumnsPlan, DeltaPlan, EquationPlan, MarkPlan, Plan, RepeatPlan
from imlp_audit.spec.references import CellRef, RowRef

_APPENDIX = re.compile(r"[A-Z](\.\d+)*")


def place_of(plan: Plan) -> str | None:
    """Return the place of a check; None for a claim about functions that cannot be read."""
    match plan:
        case CellPlan():
            return place_of_cell(plan.cell)
        case DeltaPlan():
            return f"{place_of_cell(plan.cell)}, change"
        case RepeatPlan():
            return f"{place_of_cell(plan.cell)}{', change' if plan.delta else ''}"
        case MarkPlan():
            return f"{place_of_row(plan.row)}, footnote mark"
        case ColumnsPlan():
            return f"{plan.table.value.called}, headings"
        case ClaimPlan():
            return name_section(plan.claim.value.source.section)
        case EquationPlan():
            return _place_of_claim(plan)
        case _:
            assert_never(plan)


def place_of_cell(cell: CellRef) -> str:
    """Name the place of a printed number: its table, row and column."""
    return f"{place_of_row(cell.row)}, {cell.column.heading}"


def place_of_row(row: RowRef) -> str:
    """Name the place of a row: its table and its label, and what tells it from other rows of that label."""
    return f"{row.table.value.called}, {row.full_label}{row.row.mark}{_tell_apart(row)}"


_FEW = 20  # rows; if more have one label, ids tell them apart


def _tell_apart(row: RowRef) -> str:
    """Return the size of a row's images or else its id, where its table has other rows of its label."""
    alike = row.paper.rows_by_label[row.table.value.table, row.full_label, row.row.mark]
    if len(alike) == 1:
        return ""
    sizes = [one.row.model.image for one in alike[:_FEW] if one.row.model is not None]
    if row.row.model is not None and row.row.model.image is not None and len(set(sizes)) == len(alike):
        return f" (image {write_value(row.row.model.image)})"
    return f" (row {row.row.id})"


def name_section(section: str) -> str:
    """Name a section as papers do: 5.1 is Sec. 5.1, A.2 is Appendix A.2, and any other is called by its heading."""
    if section[:1].isdecimal():
        return f"Sec. {section}"
    return f"Appendix {section}" if _APPENDIX.fullmatch(section) else section


def _place_of_claim(plan: EquationPlan) -> str | None:
    match plan.claim:
        case ClaimText(place=place):
            return place
        case BrokenClaim():
            return None
        case _:
            assert_never(plan.claim)
