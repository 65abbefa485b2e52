"""What a sentence about the paper's numbers comes to, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from imlp_audit.checks.context import Context
from imlp_audit.checks.quantities import bound_of, format_value, value_of
from imlp_audit.checks.truth import Truth, all_of, judge_relation
from imlp_audit.explain.layout import INDENT, Lines, table, words
from imlp_audit.records.check import Check
from imlp_audit.spec.claims import Claim, Condition
from imlp_audit.spec.references import RowRef

_ABREAST = 3  # conditions that have columns of their own
_SHORT = {Truth.YES: "holds", Truth.NO: "does not hold", Truth.OPEN: "open"}


def by_row(value: Claim, check: Check, context: Context, rows: list[RowRef]) -> Lines:
    """Return a table of what each row comes to; what was measured stands as the check has it."""
    printed = all(quantity.kind != "mlp_share" for quantity in value.quantities)
    if value.conditions and printed:
        return _conditions(value.conditions, context, rows)
    if value.order and printed:
        order = value.order
        pairs = [
            (row.row.id, format_value(row, order, value_of(row, order, context, rows)))
            for row in rows[order.kind == "step" :]
        ]
        return [f"Row by row, to be {order.direction}", *table(pairs)]
    if check.measured is None or value.order or not rows:
        return []
    return ["Row by row", *(line for told in check.measured.split("; ") for line in words(told, under=2 * INDENT))]


def _conditions(conditions: Sequence[Condition], context: Context, rows: list[RowRef]) -> Lines:
    """Return a line for each row; of many conditions, or of different things, a line for each of a row."""
    judged = [[_judge(row, condition, context, rows) for condition in conditions] for row in rows]
    if len(conditions) > _ABREAST or any(condition.references for condition in conditions):
        lines = [
            (row.row.id, *_line(c, one))
            for row, ones in zip(rows, judged, strict=True)
            for c, one in zip(conditions, ones, strict=True)
            if one
        ]
        return ["Row by row", *table([("row", "", "", "has to be", ""), *lines], left=2, right=3)]
    head = [("row", *(f"{c.kind} of {c.column}" for c in conditions), "")]
    head.append(("", *(_bound(c) for c in conditions), ""))
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


def _judge(row: RowRef, condition: Condition, context: Context, rows: list[RowRef]) -> Judged | None:
    """Judge a condition in a row; the first row has no step."""
    if condition.kind == "step" and row is rows[0]:
        return None
    value = value_of(row, condition, context, rows)
    truth = (
        Truth.OPEN if value is None else judge_relation(value, condition.relation, bound_of(row, condition, context))
    )
    return Judged(format_value(row, condition, value), truth)


def _together(ones: Sequence[Judged | None]) -> str:
    truths = [one.truth for one in ones if one is not None]
    return _SHORT[all_of(truths)] if truths else ""


def _line(condition: Condition, judged: Judged) -> tuple[str, str, str, str]:
    rows = [name.rpartition("/")[2] for name in condition.references]
    against = f" against {' and '.join(rows)}" if rows else ""
    return f"{condition.kind} of {condition.column}{against}", judged.value, _bound(condition), _SHORT[judged.truth]


def _bound(condition: Condition) -> str:
    return f"{condition.relation.replace('_', ' ')} {condition.bound}"
