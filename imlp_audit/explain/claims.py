"""Claims: sentences about the paper's own numbers, row by row, and statements about functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from imlp_audit.checks.claims import judge_condition, name_meaning
from imlp_audit.checks.context import Context
from imlp_audit.checks.measured_claims import describe_bound
from imlp_audit.checks.quantities import all_of, count_rows, format_values, printed_values
from imlp_audit.explain.printed import list_facts, rests_on
from imlp_audit.numbers.words import count_of
from imlp_audit.records.check import ClaimCheck, EquationCheck, Truth
from imlp_audit.records.explanation import Fact, RowByRow, Section
from imlp_audit.report.verdicts import place_in_specs
from imlp_audit.spec.claim_entries import MeaningEntry, OrderEntry, QuantityEntry
from imlp_audit.spec.claims import Condition, Conditions, Input, Order, Statement
from imlp_audit.spec.paper import RowRef
from imlp_audit.spec.plan import ClaimPlan, name_section
from imlp_audit.spec.quantities import MlpShare, Quantity

COUNTED = "what the models have, each number under its own hypothesis; only counted columns are judged"
_ABREAST = 3  # conditions that have columns of their own


def claim_facts(plan: ClaimPlan, check: ClaimCheck, sections: Sequence[Section]) -> tuple[Fact, ...]:
    """Say what the sentence is, what it is taken to mean, and how it was judged.

    The reason is shortened to the number of rows if `sections` show each row.
    """
    value, (statement, entry) = plan.claim.value, _judged_as(plan, check)
    by_row = isinstance(statement, Conditions) and any(isinstance(section, RowByRow) for section in sections)
    return list_facts(
        check,
        ("printed", f"“{value.text}”"),
        ("source", f"{name_section(value.source.section)}; {place_in_specs(check)}"),
        ("meaning", value.meaning or ""),
        ("compared", _list_quantities(entry)),
        ("judged by", COUNTED if plan.measured else statement.judged_by),
        reason=count_rows(check.by_row) if by_row and len(check.by_row) > 1 else None,
    )


def explain_claim(plan: ClaimPlan, check: ClaimCheck) -> Iterator[Section]:
    """Yield the result of the sentence in each row, and the numbers that it is about."""
    statement, _ = _judged_as(plan, check)
    if not plan.measured:
        yield from _row_by_row(statement, check, Context({}))
    else:
        yield from _measured_rows(check)
    yield from rests_on(statement.cells, {})


def _judged_as(plan: ClaimPlan, check: ClaimCheck) -> tuple[Statement, MeaningEntry]:
    """Return what a claim states in the meaning that decided: the charitable one where it holds only in that."""
    value, meanings = plan.claim.value, plan.meanings
    other = value.charitable
    if meanings.charitable is not None and isinstance(other, MeaningEntry) and name_meaning(other) in check.under:
        return meanings.charitable, other
    return meanings.strict, value


def equation_facts(check: EquationCheck) -> tuple[Fact, ...]:
    """Say what a statement about functions is and how it was tested."""
    examples = f" on {count_of(check.examples, 'example')}" if check.examples else ""
    return list_facts(
        check,
        ("claim", check.statement or ""),
        ("printed", check.printed or ""),
        ("corrected", check.corrected or ""),
        ("source", f"{check.place}; {place_in_specs(check)}"),
        ("compared", f"both sides of the statement, by running them{examples}; rounding may make them differ"),
        ("tolerance", check.tolerance or ""),
        reason="" if check.counterexample else None,
    )


def _list_quantities(value: MeaningEntry) -> str:
    """Say what the claim's quantities are, and which columns they belong to."""
    match value.form:
        case tuple() as conditions:
            quantities: tuple[QuantityEntry, ...] = conditions
        case OrderEntry() as order:
            quantities = (order,)
        case _:
            quantities = ()
    columns: dict[str, list[str]] = {}
    for quantity in quantities:
        columns.setdefault(quantity.describe(), []).append(quantity.column)
    return "; ".join(f"{text}, of {', '.join(dict.fromkeys(names))}" for text, names in columns.items())


def _row_by_row(statement: Statement, check: ClaimCheck, context: Context) -> Iterator[RowByRow]:
    """Yield the result of each row: computed again from printed numbers, or as the check measured it."""
    match statement:
        case Conditions() if not _is_measured([q for c in statement.conditions for q in c.by_row.values()]):
            yield _judge_rows(statement, context)
        case Order() if not _is_measured([quantity for _, quantity in statement.along]):
            values = tuple((row.row.id, format_values(q, printed_values(q, context))) for row, q in statement.along)
            yield RowByRow(direction=statement.direction, header=("row", statement.name), rows=values)
        case Conditions() | Input():
            yield from _measured_rows(check)


def _measured_rows(check: ClaimCheck) -> Iterator[RowByRow]:
    if check.by_row:
        rows = tuple((one.row, one.values, one.truth) for one in check.by_row)
        yield RowByRow(header=("row", "values", "outcome"), rows=rows)


def _is_measured(quantities: Sequence[Quantity]) -> bool:
    return any(isinstance(quantity, MlpShare) for quantity in quantities)


def _judge_rows(statement: Conditions, context: Context) -> RowByRow:
    """Return a line for each row; with many conditions, or conditions on other rows, a line for each condition."""
    conditions, rows = statement.conditions, statement.rows
    judged = [[_judge(row, condition, context) for condition in conditions] for row in rows]
    if len(conditions) > _ABREAST or any(condition.rows_named for condition in conditions):
        lines = tuple(
            (row.row.id, _name_quantity(c), one.value, describe_bound(c), one.truth)
            for row, ones in zip(rows, judged, strict=True)
            for c, one in zip(conditions, ones, strict=True)
            if one
        )
        return RowByRow(header=("row", "quantity", "value", "has to be", "outcome"), rows=lines)
    header = ("row", *(f"{_name_quantity(c)} ({describe_bound(c)})" for c in conditions), "outcome")
    body = tuple(
        (row.row.id, *(one.value if one else "" for one in ones), _judge_together(ones))
        for row, ones in zip(rows, judged, strict=True)
    )
    return RowByRow(header=header, rows=body)


@dataclass(frozen=True)
class JudgedCondition:
    """A condition's quantity in a row, and whether the condition holds there."""

    value: str
    truth: Truth


def _judge(row: RowRef, condition: Condition, context: Context) -> JudgedCondition | None:
    """Judge a condition in a row; the first row has no step."""
    if row.id not in condition.by_row:
        return None
    truth, value = judge_condition(condition, row, context)
    return JudgedCondition(value, truth)


def _judge_together(ones: Sequence[JudgedCondition | None]) -> str:
    truths = [one.truth for one in ones if one is not None]
    return all_of(truths) if truths else ""


def _name_quantity(condition: Condition) -> str:
    rows = [name.rpartition("/")[2] for name in condition.rows_named]
    against = f" against {' and '.join(rows)}" if rows else ""
    return f"{condition.name}{against}"
