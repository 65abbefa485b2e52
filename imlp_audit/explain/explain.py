"""Finding a check by its id, and explaining it: what was compared, and why its verdict came out as it did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from typing import assert_never

from imlp_audit.checks.changes import readings_of_change
from imlp_audit.checks.claims import judge_condition, name_meaning
from imlp_audit.checks.context import Context, Conventions
from imlp_audit.checks.measured_claims import describe_bound
from imlp_audit.checks.quantities import all_of, count_rows, format_values, printed_values
from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.explain.cells import cell_facts, explain_cell
from imlp_audit.explain.printed import (
    compare_value,
    every_measurement,
    judged_rounding,
    list_facts,
    rests_on,
    stands_for,
)
from imlp_audit.models.change import describe
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.printed import Printed
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.check import (
    CellCheck,
    Check,
    ClaimCheck,
    ColumnCheck,
    DeltaCheck,
    EquationCheck,
    MarkCheck,
    RepeatCheck,
    Truth,
)
from imlp_audit.records.explanation import (
    Explanation,
    Fact,
    MeasuredValue,
    Measurements,
    RowByRow,
    Section,
    TableNumbers,
)
from imlp_audit.records.result import AuditResult
from imlp_audit.report.verdicts import place_in_specs
from imlp_audit.spec.claim_entries import MeaningEntry, OrderEntry, QuantityEntry
from imlp_audit.spec.claim_quantities import MlpShare, Quantity
from imlp_audit.spec.claims import Condition, Conditions, Input, Order, Statement
from imlp_audit.spec.load import Selection, select_checks
from imlp_audit.spec.paper import CellRef, RowRef
from imlp_audit.spec.plan import (
    CellPlan,
    ClaimPlan,
    ColumnsPlan,
    DeltaPlan,
    EquationPlan,
    MarkPlan,
    Plan,
    RepeatPlan,
    name_section,
)

_LISTED = 8  # checks below an id that a message names


def explain(plan: Plan, result: AuditResult) -> Explanation:
    """Explain the check of a plan. `result` has that check and the cells that it needs (`cells_needed`)."""
    facts, sections = _explain_plan(plan, result)
    checks = {check.id: check for check in result.checks}
    return Explanation(
        versions=result.versions,
        check=checks[plan.id],
        facts=facts,
        sections=sections,
        finding=next((finding for finding in result.findings if plan.id in finding.checks), None),
    )


def _explain_plan(plan: Plan, result: AuditResult) -> tuple[tuple[Fact, ...], tuple[Section, ...]]:
    cells = {check.id: check for check in result.of_kind(CellCheck)}
    match plan:
        case CellPlan():
            cell, read = cells[plan.id], Conventions(plan.cell.row.paper.about.value)
            return cell_facts(plan, cell, read, result), tuple(explain_cell(plan, cell, read))
        case DeltaPlan():
            change, read = result.find(plan.id, DeltaCheck), Conventions(plan.cell.row.paper.about.value)
            return change_facts(plan, change, read), tuple(explain_change(plan, change, cells, read))
        case RepeatPlan():
            repeat, read = result.find(plan.id, RepeatCheck), Conventions(plan.cell.row.paper.about.value)
            return repeat_facts(plan, repeat, read), tuple(rests_on((plan.cell, plan.other), {}))
        case MarkPlan():
            mark, read = result.find(plan.id, MarkCheck), Conventions(plan.row.paper.about.value)
            return mark_facts(plan, mark, read), tuple(explain_mark(plan, mark, cells, read))
        case ColumnsPlan():
            numbers = TableNumbers(glob=f"{plan.paper.id}/{plan.table.value.table}/*")
            return columns_facts(plan, result.find(plan.id, ColumnCheck)), (numbers,)
        case ClaimPlan():
            claim = result.find(plan.id, ClaimCheck)
            sections = tuple(explain_claim(plan, claim))
            return claim_facts(plan, claim, sections), sections
        case EquationPlan():
            return equation_facts(result.find(plan.id, EquationCheck)), ()
        case _:
            assert_never(plan)


def find_plan(selection: Selection, check_id: str) -> Plan:
    """Return the planned check of an id. Raises UsageError, naming checks that may have been meant."""
    plans = {plan.id: plan for plan in select_checks(selection, solving=True)}
    if check_id in plans:
        return plans[check_id]
    below = [name for name in plans if name.startswith(f"{check_id.rstrip('/')}/")]
    if below:
        raise UsageError(f"{check_id} is not a check; checks below it: {list_some(below, _LISTED)}")
    paper, below_it, _ = check_id.partition("/")
    if below_it and not get_close_matches(paper, [one.id for one in selection.known], n=1):
        looked = ", ".join(one.id for one in selection.papers)
        raise UsageError(
            f"{check_id}: the paper {paper!r} is not among those looked at ({looked}); add its file or folder: "
            f"imlp-audit explain {check_id} SPEC"
        )
    raise UsageError(
        f"no check has the id {check_id!r}; {did_you_mean(check_id, plans, '`imlp-audit list` prints them')}"
    )


def cells_needed(plan: Plan) -> tuple[str, ...]:
    """Return the ids of the cells whose checks an explanation needs in addition to the plan's own."""
    match plan:
        case DeltaPlan(measured=True):
            return plan.base.id, plan.cell.id
        case MarkPlan():
            return (plan.cell.id,)
        case _:
            return ()


_BY_CELLS = "computed from the two printed numbers, each of which can be any number that prints so"
_BY_COUNTS = "computed from the two models' counts by one convention, each under the reading of its family"


def change_facts(plan: DeltaPlan, check: DeltaCheck, read: Conventions) -> tuple[Fact, ...]:
    """Say what a printed change was compared with: printed cells, or (`plan.measured`) counts of both models."""
    printed = plan.change
    sides = f"from {plan.base.row.full_label} to {plan.cell.row.full_label}"
    return list_facts(
        check,
        ("printed", f"{printed.text} in {plan.cell.place}; {place_in_specs(check)}"),
        ("stands for", f"{stands_for(printed, judged_rounding(check, read.roundings))}, in percent"),
        ("compared", f"the change {sides}, {_BY_COUNTS if plan.measured else _BY_CELLS}"),
    )


def explain_change(
    plan: DeltaPlan, check: DeltaCheck, cells: Mapping[str, CellCheck], read: Conventions
) -> Iterator[Section]:
    """Yield the measured change under each reading and convention, and the two cells."""
    if plan.measured and check.measured is not None:
        printed = plan.change
        yield Measurements(
            names="reading",
            printed=printed.text,
            rounding=read.roundings[0],
            in_percent=True,
            counts=(plan.base.row.row.id, plan.cell.row.row.id),
            values=tuple(_changes(plan, printed, check, cells, read)),
        )
    yield from rests_on((plan.base, plan.cell), cells)


def _changes(
    plan: DeltaPlan, printed: Printed, check: DeltaCheck, cells: Mapping[str, CellCheck], read: Conventions
) -> Iterator[MeasuredValue]:
    def count(cell: CellRef, reading: str | None, convention: str | None) -> str:
        counter = read.counter_of(cell.column, convention)  # which the baseline's row may call otherwise
        every = (one for one in every_measurement(cells[cell.id]) if one.reading == reading)
        found = next(one for one in every if read.counter_of(cell.column, one.convention) == counter)
        return readable(Fraction(found.measured))

    for one in every_measurement(check):
        ours, theirs = readings_of_change(one.reading)
        counts = (count(plan.base, theirs, one.convention), count(plan.cell, ours, one.convention))
        yield compare_value(one.reading or "any", one.measured, printed, read.roundings, one.convention, counts)


def repeat_facts(plan: RepeatPlan, check: RepeatCheck, read: Conventions) -> tuple[Fact, ...]:
    """Say what the two places print."""
    ours, other = plan.numbers
    return list_facts(
        check,
        ("printed", f"{ours.text} in {plan.cell.place}; {place_in_specs(check)}"),
        ("stands for", stands_for(ours, judged_rounding(check, read.roundings_of(plan.cell.column)))),
        ("compared", f"{other.text} in {plan.other.row.paper.id}, {plan.other.place}"),
        ("judged by", "whether one number can be printed as both, each with its own digits"),
    )


def mark_facts(plan: MarkPlan, check: MarkCheck, read: Conventions) -> tuple[Fact, ...]:
    """Say what a mark stands for, and which number decides whether the row's model has it."""
    footnote, cell = plan.footnote, plan.cell
    return list_facts(
        check,
        ("printed", f"{plan.row.place}, {check.printed}; {place_in_specs(check)}"),
        ("the mark", f"{footnote.mark} stands for: {footnote.meaning}; other rows have {describe(footnote.otherwise)}"),
        ("compared", f"{cell.column.heading}, {cell.printed.text}, with the row's model either way"),
        ("stands for", stands_for(cell.printed, read.roundings_of(cell.column)[0])),
        ("judged by", "whether, under some reading, the intended model gives the number and the other one does not"),
    )


def explain_mark(
    plan: MarkPlan, check: MarkCheck, cells: Mapping[str, CellCheck], read: Conventions
) -> Iterator[Section]:
    """Yield what the row's model has either way, and the cell that decides."""
    cell, rules = plan.cell, read.roundings_of(plan.cell.column)
    if check.counts:
        yield Measurements(
            names="model",
            printed=cell.printed.text,
            rounding=rules[0],
            values=tuple(
                compare_value(f"{one.change} {one.reading}", one.measured, cell.printed, rules) for one in check.counts
            ),
        )
    yield from rests_on((cell,), cells)


def columns_facts(plan: ColumnsPlan, check: Check) -> tuple[Fact, ...]:
    """Say which columns were compared."""
    return list_facts(
        check,
        ("printed", f"{plan.table.value.called}, columns {check.printed}; {place_in_specs(check)}"),
        ("compared", "each counted number with what is measured for its own column and for the others"),
        ("judged by", "whether two numbers of a row follow under each other's heading, and neither under its own"),
    )


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
    yield from _measured_rows(check) if plan.measured else _row_by_row(statement, check, Context({}))
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
            (row.row.id, _name_quantity(c), one[1], describe_bound(c), one[0])
            for row, ones in zip(rows, judged, strict=True)
            for c, one in zip(conditions, ones, strict=True)
            if one
        )
        return RowByRow(header=("row", "quantity", "value", "has to be", "outcome"), rows=lines)
    header = ("row", *(f"{_name_quantity(c)} ({describe_bound(c)})" for c in conditions), "outcome")
    together = [[one[0] for one in ones if one is not None] for ones in judged]
    body = tuple(
        (row.row.id, *(one[1] if one else "" for one in ones), all_of(truths) if truths else "")
        for row, ones, truths in zip(rows, judged, together, strict=True)
    )
    return RowByRow(header=header, rows=body)


def _judge(row: RowRef, condition: Condition, context: Context) -> tuple[Truth, str] | None:
    """Return whether a condition holds in a row, and its quantity there; the first row has no step."""
    return judge_condition(condition, row, context) if row.id in condition.by_row else None


def _name_quantity(condition: Condition) -> str:
    rows = [name.rpartition("/")[2] for name in condition.rows_named]
    against = f" against {' and '.join(rows)}" if rows else ""
    return f"{condition.name}{against}"
