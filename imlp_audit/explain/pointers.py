"""The cells that a check of another kind rests on, to be explained in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from imlp_audit.explain.layout import INDENT, Lines, table, words
from imlp_audit.records.check import Check
from imlp_audit.spec.references import CellRef

_LISTED = 12


def pointers(cells: Sequence[CellRef], checks: Mapping[str, Check]) -> Lines:
    """List cells by the ids that explain them, with what they print and, where it is known, their verdict."""
    if not cells:
        return []
    if len(cells) > _LISTED:
        first = cells[0]
        table_ = first.id.rpartition("/")[0].rpartition("/")[0]
        told = f"It rests on {len(cells)} printed numbers; `imlp-audit list --only '{table_}/*'` lists their ids."
        return words(f"{told} One is explained by `imlp-audit explain {first.id}`.", first="", under=INDENT)
    rows = [(cell.id, cell.row.row.printed[cell.column_id], cell.column.unit, _verdict(cell, checks)) for cell in cells]
    return ["The numbers it rests on, each explained by its id", *table(rows, right=2)]


def _verdict(cell: CellRef, checks: Mapping[str, Check]) -> str:
    check = checks.get(cell.id)
    if check is None:
        return ""
    return " ".join([(check.finding or check.verdict).replace("_", " "), *check.under])
