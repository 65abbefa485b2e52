"""Claims: sentences about the paper's own numbers, row by row, and statements about functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from imlp_audit.checks.context import Context
from imlp_audit.checks.quantities import bound_of, format_value, value_of
from imlp_audit.checks.truth import Truth, all_of, judge_relation
from imlp_audit.explain.printed import list_facts, place_in_specs, rests_on
from imlp_audit.numbers.interval import readable
from imlp_audit.records.check import Check
from imlp_audit.records.explanation import Fact, RowByRow, Section
from imlp_audit.spec.claims import COMPARED, Claim, Condition, Quantity
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.plan import ClaimPlan
from imlp_audit.spec.references import CellRef, RowRef, cells_named, find_cell, find_row, rows_of_claim

_JUDGED = "each printed number can be any number that prints so; the claim holds if it holds for all of them"
_ABREAST = 3  # conditions that have columns of their own
_SHORT = {Truth.YES: "holds", Truth.NO: "does not hold", Truth.OPEN: "open"}


def claim_facts(plan: ClaimPlan, check: Check, sections: Sequence[Section]) -> tuple[Fact, ...]:
    """Say what the sentence is, what it is taken to mean, and how it was judged.

    The reason is shortened to the number of rows if `sections` show each row.
    """
    value = plan.claim.value
    by_row = value.conditions is not None and any(isinstance(section, RowByRow) for section in sections)
    return list_facts(
        check,
        ("printed", f"“{value.text}”"),
        ("source", f"{_place(value)}; {place_in_specs(check.source)}"),
        ("meaning", value.meaning or ""),
        ("compared", _list_quantities(value)),
        ("judged by", _describe_judgement(value)),
        reason=check.reason.partition("; ")[0] if by_row else None,
    )


def explain_claim(plan: ClaimPlan, check: Check, papers: Sequence[Paper]) -> Iterator[Section]:
    """Yield what the sentence comes to in each row, and the numbers that it is about."""
    value = plan.claim.value
    rows = rows_of_claim(value, papers)
    yield from _row_by_row(value, check, Context(papers, {}), rows)
    yield from rests_on(_cells(value, rows, papers), {})


def equation_facts(check: Check) -> tuple[Fact, ...]:
    """Say what a statement about functions is and how it was tested."""
    examples = f" on {readable(check.examples)} example{'' if check.examples == 1 else 's'}" if check.examples else ""
    return list_facts(
        check,
        ("claim", check.statement or ""),
        ("printed", check.printed or ""),
        ("corrected", check.corrected or ""),
        ("source", f"{check.place}; {place_in_specs(check.source)}"),
        (
            "compared",
            f"the statement, symbol by symbol, by running it{examples}; differences that rounding explains are allowed",
        ),
        ("rounding", check.bound or ""),
        reason="" if check.counterexample else None,
    )


def _place(value: Claim) -> str:
    return ", ".join(f"{name} {text}" for name, text in value.source.model_dump(exclude_none=True).items())


def _describe_judgement(value: Claim) -> str:
    if value.reference is not None:
        return "whether the cells are in the table that the text points to"
    if value.input is not None:
        size = value.input.size
        return f"whether the printed FLOPs follow from images with sides of {size} pixels, or from another size alone"
    needed = "" if value.holds_for == "all" else f"; it has to hold for {value.holds_for} of the rows"
    return _JUDGED + needed


def _list_quantities(value: Claim) -> str:
    """Say what the claim's quantities are, and of which columns."""
    columns: dict[str, list[str]] = {}
    for quantity in value.quantities:
        columns.setdefault(_describe_quantity(quantity), []).append(quantity.column)
    return "; ".join(f"{text}, of {', '.join(dict.fromkeys(names))}" for text, names in columns.items())


def _describe_quantity(quantity: Quantity) -> str:
    reference = quantity.against or "the row's baseline"
    match quantity.kind:
        case "value":
            return "the printed number"
        case "step":
            return "step: the number minus that of the row before"
        case "change":
            return f"change: from {reference}, in percent"
        case "difference":
            return f"difference: the number minus that of {reference}"
        case "ratio":
            return f"ratio: the number divided by that of {reference}"
        case "position":
            return f"position: how far it is, in percent, on the way from {' to '.join(quantity.references)}"
        case "mlp_share":
            return "share: the MLPs' part of the model's measured number, in percent"
        case kind:
            raise ValueError(kind)


def _cells(value: Claim, rows: list[RowRef], papers: Sequence[Paper]) -> list[CellRef]:
    """Return the numbers that a claim is about: the cells it names, or those of its columns in its rows."""
    named = [cell for name in cells_named(value) if (cell := find_cell(papers, name)) is not None]
    columns = dict.fromkeys(quantity.column for quantity in value.quantities)
    others = [row for q in value.quantities for name in q.references if (row := find_row(papers, name)) is not None]
    uses_baseline = any(quantity.kind in COMPARED and quantity.against is None for quantity in value.quantities)
    bases = [row.baseline for row in rows if row.baseline is not None and uses_baseline]
    cells = [cell for row in (*rows, *bases, *others) for name in columns if (cell := row.cell(name)) is not None]
    return list({cell.id: cell for cell in (*named, *cells)}.values())


def _row_by_row(value: Claim, check: Check, context: Context, rows: list[RowRef]) -> Iterator[RowByRow]:
    """Yield what each row comes to: computed again from printed numbers, or as the check measured it."""
    printed = all(quantity.kind != "mlp_share" for quantity in value.quantities)
    if value.conditions and printed:
        yield _judge_rows(value.conditions, context, rows)
    elif value.order and printed:
        order = value.order
        values = tuple(
            (row.row.id, format_value(row, order, value_of(row, order, context, rows)))
            for row in rows[order.kind == "step" :]
        )
        yield RowByRow(direction=order.direction, header=("row", f"{order.kind} of {order.column}"), rows=values)
    elif check.measured is not None and not value.order and rows:
        yield RowByRow(lines=tuple(check.measured.split("; ")))


def _judge_rows(conditions: Sequence[Condition], context: Context, rows: list[RowRef]) -> RowByRow:
    """Return a line for each row; with many conditions, or conditions on other rows, a line for each condition."""
    judged = [[_judge(row, condition, context, rows) for condition in conditions] for row in rows]
    if len(conditions) > _ABREAST or any(condition.references for condition in conditions):
        lines = tuple(
            (row.row.id, _name_quantity(c), one.value, _bound(c), _SHORT[one.truth])
            for row, ones in zip(rows, judged, strict=True)
            for c, one in zip(conditions, ones, strict=True)
            if one
        )
        return RowByRow(header=("row", "quantity", "value", "has to be", "outcome"), rows=lines)
    header = ("row", *(f"{_name_quantity(c)} ({_bound(c)})" for c in conditions), "outcome")
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


def _judge(row: RowRef, condition: Condition, context: Context, rows: list[RowRef]) -> JudgedCondition | None:
    """Judge a condition in a row; the first row has no step."""
    if condition.kind == "step" and row is rows[0]:
        return None
    value = value_of(row, condition, context, rows)
    truth = (
        Truth.OPEN if value is None else judge_relation(value, condition.relation, bound_of(row, condition, context))
    )
    return JudgedCondition(format_value(row, condition, value), truth)


def _judge_together(ones: Sequence[JudgedCondition | None]) -> str:
    truths = [one.truth for one in ones if one is not None]
    return _SHORT[all_of(truths)] if truths else ""


def _name_quantity(condition: Condition) -> str:
    rows = [name.rpartition("/")[2] for name in condition.references]
    against = f" against {' and '.join(rows)}" if rows else ""
    return f"{condition.kind} of {condition.column}{against}"


def _bound(condition: Condition) -> str:
    return f"{condition.relation.replace('_', ' ')} {condition.bound}"
