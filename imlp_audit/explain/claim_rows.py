"""What a sentence about the paper's numbers comes to, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from imlp_audit.checks.claims import describe_bound, judge_condition
from imlp_audit.checks.context import Context
from imlp_audit.checks.quantities import format_values, possible_values
from imlp_audit.checks.truth import Truth, all_of
from imlp_audit.explain.layout import INDENT, Lines, table, words
from imlp_audit.records.check import Check
from imlp_audit.spec.claims import Input, Statement
from imlp_audit.spec.conditions import Condition, Conditions, Order
from imlp_audit.spec.quantities import MlpShare, Quantity
from imlp_audit.spec.references import RowRef

_ABREAST = 3  # conditions that have columns of their own
_SHORT = {Truth.YES: "holds", Truth.NO: "does not hold", Truth.OPEN: "open"}


def by_row(statement: Statement, check: Check, context: Context) -> Lines:
    """Return a table of what each row comes to; what was measured stands as the check has it."""
    match statement:
        case Conditions() if not _is_measured([q for c in statement.conditions for q in c.by_row.values()]):
            return _conditions(statement, context)
        case Order() if not _is_measured([quantity for _, quantity in statement.along]):
            pairs = [(row.row.id, format_values(q, possible_values(q, context))) for row, q in statement.along]
            return [f"Row by row, to be {statement.direction}", *table(pairs)]
        case Conditions() | Input() if check.measured is not None:
            measured = check.measured.split("; ")
            return ["Row by row", *(line for row in measured for line in words(row, under=2 * INDENT))]
        case _:
            return []


def _is_measured(quantities: Sequence[Quantity]) -> bool:
    return any(isinstance(quantity, MlpShare) for quantity in quantities)


def _conditions(statement: Conditions, context: Context) -> Lines:
    """Return a line for each row; of many conditions, or of different things, a line for each of a row."""
    conditions, rows = statement.conditions, statement.rows
    judged = [[_judge(row, condition, context) for condition in conditions] for row in rows]
    if len(conditions) > _ABREAST or any(condition.rows_named for condition in conditions):
        lines = [
            (row.row.id, *_line(c, one))
            for row, ones in zip(rows, judged, strict=True)
            for c, one in zip(conditions, ones, strict=True)
            if one
        ]
        return ["Row by row", *table([("row", "", "", "has to be", ""), *lines], left=2, right=3)]
    head = [("row", *(c.name for c in conditions), "")]
    head.append(("", *(describe_bound(c) for c in conditions), ""))
    body = [
        (row.row.id, *(one.value if one else "" for one in ones), _together(ones))
        for row, ones in zip(rows, judged, strict=True)
    ]
    return ["Row by row", *table([*head, *body], right=len(conditions) + 1)]


@dataclass(frozen=True)
class Judged:
    """What a condition's quantity is in a row, and whether the condition holds there."""

    value: str
    truth: Truth


def _judge(row: RowRef, condition: Condition, context: Context) -> Judged | None:
    """Judge a condition in a row; the first row has no step."""
    if row.id not in condition.by_row:
        return None
    truth, value = judge_condition(condition, row, context)
    return Judged(value, truth)


def _together(ones: Sequence[Judged | None]) -> str:
    truths = [one.truth for one in ones if one is not None]
    return _SHORT[all_of(truths)] if truths else ""


def _line(condition: Condition, judged: Judged) -> tuple[str, str, str, str]:
    rows = [name.rpartition("/")[2] for name in condition.rows_named]
    against = f" against {' and '.join(rows)}" if rows else ""
    return f"{condition.name}{against}", judged.value, describe_bound(condition), _SHORT[judged.truth]
