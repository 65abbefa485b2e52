"""Sentences about the paper's own numbers: in which meaning, on which numbers, and row by row with what outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from imlp_audit.checks.context import Context
from imlp_audit.explain.claim_rows import by_row
from imlp_audit.explain.head import head, stands_at
from imlp_audit.explain.layout import Lines
from imlp_audit.explain.pointers import pointers
from imlp_audit.records.check import Check
from imlp_audit.spec.claims import ClaimEntry
from imlp_audit.spec.conditions import Conditions, OrderEntry
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.plan import ClaimPlan
from imlp_audit.spec.quantities import QuantityEntry, describe


def claim(plan: ClaimPlan, check: Check, papers: Sequence[Paper]) -> Iterator[Lines]:
    """Yield the sentence, its meaning, what was judged, and the numbers."""
    value = plan.claim.value
    lines = by_row(plan.statement, check, Context(papers, {}))
    told_by_row = isinstance(plan.statement, Conditions) and lines
    reason = check.reason.partition("; ")[0] if told_by_row else check.reason
    yield head(
        check.model_copy(update={"reason": reason}),
        ("printed", f"“{value.text}”"),
        ("source", f"{_place(value)}; {stands_at(check.source)}"),
        ("meaning", value.meaning or ""),
        ("compared", _compared(value)),
        ("judged by", plan.statement.judged_by),
    )
    yield lines
    yield pointers(plan.statement.cells, {})


def _place(value: ClaimEntry) -> str:
    return ", ".join(f"{name} {text}" for name, text in value.source.model_dump(exclude_none=True).items())


def _compared(value: ClaimEntry) -> str:
    """Say what its quantities are, and which columns they are taken from."""
    match value.form:
        case tuple() as conditions:
            quantities: tuple[QuantityEntry, ...] = conditions
        case OrderEntry() as order:
            quantities = (order,)
        case _:
            quantities = ()
    columns: dict[str, list[str]] = {}
    for quantity in quantities:
        columns.setdefault(describe(quantity), []).append(quantity.column)
    return "; ".join(f"{meaning}, of {', '.join(dict.fromkeys(names))}" for meaning, names in columns.items())
