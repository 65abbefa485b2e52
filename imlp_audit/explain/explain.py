"""Finding a check by its id, and explaining it: what was compared, and why its verdict came out as it did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TypeAlias, assert_never

from imlp_audit.checks.claims import name_meaning
from imlp_audit.checks.context import Conventions
from imlp_audit.checks.judged_under import totalled_cells
from imlp_audit.checks.quantities import count_rows
from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.explain.cells import (
    cell_facts,
    compare_value,
    every_measurement,
    explain_cell,
    judged_rounding,
    list_facts,
    rests_on,
    stands_for,
)
from imlp_audit.models.recipe_changes import describe
from imlp_audit.numbers.words import count_of, list_some
from imlp_audit.records.check import (
    CellCheck,
    ClaimCheck,
    ColumnCheck,
    DeltaCheck,
    EquationCheck,
    MarkCheck,
    RepeatCheck,
)
from imlp_audit.records.explanation import Explanation, Fact, Measurements, RowByRow, Section
from imlp_audit.records.result import AuditResult
from imlp_audit.report.verdicts import place_in_specs
from imlp_audit.spec.claim_entries import MeaningEntry, OrderEntry
from imlp_audit.spec.claims import Conditions, Statement
from imlp_audit.spec.load import Selection, select_checks
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
        sections=tuple(sections),
        finding=next((finding for finding in result.findings if plan.id in finding.checks), None),
    )


_Answer: TypeAlias = tuple[tuple[Fact, ...], Iterable[Section]]


def _explain_plan(plan: Plan, result: AuditResult) -> _Answer:
    cells = {check.id: check for check in result.of_kind(CellCheck)}
    match plan:
        case CellPlan():
            check, read = cells[plan.id], Conventions(plan.cell.row.paper.about.value)
            return cell_facts(plan, check, read, result), explain_cell(plan, check, read)
        case DeltaPlan():
            return _explain_change(plan, result.find(plan.id, DeltaCheck), cells)
        case RepeatPlan():
            return _explain_repeat(plan, result.find(plan.id, RepeatCheck))
        case MarkPlan():
            return _explain_mark(plan, result.find(plan.id, MarkCheck), cells)
        case ColumnsPlan():
            return _explain_columns(plan, result.find(plan.id, ColumnCheck))
        case ClaimPlan():
            return _explain_claim(plan, result.find(plan.id, ClaimCheck))
        case EquationPlan():
            return _explain_equation(result.find(plan.id, EquationCheck)), ()
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


def _explain_change(plan: DeltaPlan, check: DeltaCheck, cells: Mapping[str, CellCheck]) -> _Answer:
    """Say what a printed change was compared with: printed cells, or (`plan.measured`) counts of both models."""
    printed, read = plan.change, Conventions(plan.cell.row.paper.about.value)
    sides = f"from {plan.base.row.full_label} to {plan.cell.row.full_label}"
    facts = list_facts(
        check,
        ("printed", f"{printed.text} in {plan.cell.place}; {place_in_specs(check)}"),
        ("stands for", f"{stands_for(printed, judged_rounding(check, read.roundings))}, in percent"),
        ("compared", f"the change {sides}, {_BY_COUNTS if plan.measured else _BY_CELLS}"),
    )
    related = rests_on((plan.base, plan.cell), cells)
    if not plan.measured or check.measured is None:
        return facts, related
    measured = Measurements(
        names="reading",
        printed=printed.text,
        rounding=read.roundings[0],
        in_percent=True,
        values=tuple(
            compare_value(one.reading or "any", one.measured, printed, read.roundings, one.convention)
            for one in every_measurement(check)
        ),
    )
    return facts, (measured, *related)


def _explain_repeat(plan: RepeatPlan, check: RepeatCheck) -> _Answer:
    ours, other = plan.numbers
    rules = Conventions(plan.cell.row.paper.about.value).roundings_of(plan.cell.column)
    facts = list_facts(
        check,
        ("printed", f"{ours.text} in {plan.cell.place}; {place_in_specs(check)}"),
        ("stands for", stands_for(ours, judged_rounding(check, rules))),
        ("compared", f"{other.text} in {plan.other.row.paper.id}, {plan.other.place}"),
        ("judged by", "whether one number can be printed as both, each with its own digits"),
    )
    return facts, rests_on((plan.cell, plan.other), {})


def _explain_mark(plan: MarkPlan, check: MarkCheck, cells: Mapping[str, CellCheck]) -> _Answer:
    """Say what a mark stands for, and what the row's model has either way."""
    footnote, cell = plan.footnote, plan.cell
    rules = Conventions(plan.row.paper.about.value).roundings_of(cell.column)
    facts = list_facts(
        check,
        ("printed", f"{plan.row.place}, {check.printed}; {place_in_specs(check)}"),
        ("the mark", f"{footnote.mark} stands for: {footnote.meaning}; other rows have {describe(footnote.otherwise)}"),
        ("compared", f"{cell.column.heading}, {cell.printed.text}, with the row's model either way"),
        ("stands for", stands_for(cell.printed, rules[0])),
        ("judged by", "whether, under some reading, the intended model gives the number and the other one does not"),
    )
    values = tuple(
        compare_value(f"{one.change} {one.reading}", one.measured, cell.printed, rules) for one in check.counts
    )
    measured = Measurements(names="model", printed=cell.printed.text, rounding=rules[0], values=values)
    return facts, (*((measured,) if values else ()), *rests_on((cell,), cells))


def _explain_columns(plan: ColumnsPlan, check: ColumnCheck) -> _Answer:
    facts = list_facts(
        check,
        ("printed", f"{plan.table.value.called}, columns {check.printed}; {place_in_specs(check)}"),
        ("compared", "each counted number with what is measured for its own column and for the others"),
        ("judged by", "whether two numbers of a row follow under each other's heading, and neither under its own"),
    )
    rows = [row for row in plan.paper.rows if row.table.value.table == plan.table.value.table]
    return facts, rests_on([counted.cell for row in rows for counted in totalled_cells(row)], {})


COUNTED = "what the models have, each number under its own hypothesis; only counted columns are judged"


def _explain_claim(plan: ClaimPlan, check: ClaimCheck) -> _Answer:
    """Say what the sentence is and is taken to mean, its result in each row, and the numbers that it is about."""
    value, (statement, entry) = plan.claim.value, _judged_as(plan, check)
    rows = tuple((one.row, one.values, one.truth) for one in check.by_row)
    facts = list_facts(
        check,
        ("printed", f"“{value.text}”"),
        ("source", f"{name_section(value.source.section)}; {place_in_specs(check)}"),
        ("meaning", value.meaning or ""),
        ("compared", _list_quantities(entry)),
        ("judged by", COUNTED if plan.measured else statement.judged_by),
        reason=count_rows(check.by_row) if isinstance(statement, Conditions) and len(rows) > 1 else None,
    )
    by_row = (RowByRow(rows=rows),) if rows else ()
    return facts, (*by_row, *rests_on(statement.cells, {}))


def _judged_as(plan: ClaimPlan, check: ClaimCheck) -> tuple[Statement, MeaningEntry]:
    """Return what a claim states in the meaning that decided: the charitable one where it holds only in that."""
    value, meanings = plan.claim.value, plan.meanings
    other = value.charitable
    if meanings.charitable is not None and isinstance(other, MeaningEntry) and name_meaning(other) in check.under:
        return meanings.charitable, other
    return meanings.strict, value


def _list_quantities(value: MeaningEntry) -> str:
    """Say what the claim's quantities are, of which columns, and what each has to be."""
    match value.form:
        case tuple() as conditions:
            asked = [(one, f"{one.relation.replace('_', ' ')} {one.bound}") for one in conditions]
        case OrderEntry() as order:
            asked = [(order, order.direction)]
        case _:
            asked = []
    columns: dict[str, list[str]] = {}
    for quantity, bound in asked:
        columns.setdefault(quantity.describe(), []).append(f"{quantity.column} ({bound})")
    return "; ".join(f"{text}, of {', '.join(names)}" for text, names in columns.items())


def _explain_equation(check: EquationCheck) -> tuple[Fact, ...]:
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
