"""The same check of a paper that prints another number in one cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from imlp_audit.numbers.forms import parse_printed
from imlp_audit.numbers.printed import Printed
from imlp_audit.spec.paper import CellRef, Paper, RowRef
from imlp_audit.spec.plan import CellPlan, ClaimPlan, DeltaPlan, RepeatPlan
from imlp_audit.spec.tree import Located

T = TypeVar("T")
NumberPlan = CellPlan | DeltaPlan | RepeatPlan | ClaimPlan


def shift_text(printed: Printed, digits: int) -> str | None:
    """Return a number so many last digits away, written alike; None if it would change its sign or reach 0."""
    value = printed.value + digits * printed.step
    if value == 0 or (value < 0) != (printed.value < 0):
        return None
    return printed.write(abs(value))


def with_number(plan: NumberPlan, cell: CellRef, text: str) -> NumberPlan:
    """Return the check as it would be if a cell were printed like this."""
    changed = _replace(plan, cell.id, _print(cell, text))
    if isinstance(changed, RepeatPlan) and not changed.delta:
        return replace(changed, numbers=(changed.cell.printed, changed.other.printed))
    return changed


def _print(cell: CellRef, text: str) -> CellRef:
    parse_printed(text, cell.form)
    table = cell.row.table.value
    row = cell.row.row.model_copy(update={"printed": {**cell.row.row.printed, cell.column_id: text}})
    rows = tuple(row if index == cell.row.index else other for index, other in enumerate(table.rows))
    located = replace(cell.row.table, value=table.model_copy(update={"rows": rows}))
    return CellRef(RowRef(cell.row.paper, located, cell.row.index), cell.column_id)


def _replace(value: T, name: str, new: CellRef) -> T:
    """Return a value of frozen records with one cell replaced wherever it occurs."""
    found: Any = value
    match found:
        case CellRef():
            return new if found.id == name else found  # type: ignore[return-value]
        case RowRef() | Paper() | Located() | Printed():
            return value
        case tuple() | list():
            return type(found)(_replace(one, name, new) for one in found)  # type: ignore[return-value]
        case Mapping():
            return {key: _replace(one, name, new) for key, one in found.items()}  # type: ignore[return-value]
    if not is_dataclass(found) or isinstance(found, type):
        return value
    changes = {one.name: _replace(getattr(found, one.name), name, new) for one in fields(found) if one.init}
    return replace(found, **changes)  # type: ignore[return-value]
