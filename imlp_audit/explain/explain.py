"""Finding a check by its id, and explaining it: what was compared, and why its verdict came out as it did."""

from __future__ import annotations

from difflib import get_close_matches
from typing import assert_never

from imlp_audit.checks.context import Conventions
from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.explain.cells import cell_facts, explain_cell
from imlp_audit.explain.changes import (
    change_facts,
    columns_facts,
    explain_change,
    explain_columns,
    explain_mark,
    mark_facts,
    repeat_facts,
)
from imlp_audit.explain.claims import claim_facts, equation_facts, explain_claim
from imlp_audit.explain.printed import rests_on
from imlp_audit.numbers.words import list_some
from imlp_audit.records.check import (
    CellCheck,
    ClaimCheck,
    ColumnCheck,
    DeltaCheck,
    EquationCheck,
    MarkCheck,
    RepeatCheck,
)
from imlp_audit.records.explanation import Explanation, Fact, Section
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.library import Selection, select_checks
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.plan import CellPlan, ClaimPlan, ColumnsPlan, DeltaPlan, EquationPlan, MarkPlan, Plan, RepeatPlan

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
            cell, read = cells[plan.id], _conventions(plan.cell.row.paper)
            return cell_facts(plan, cell, read, result), tuple(explain_cell(plan, cell, read))
        case DeltaPlan():
            change, read = result.find(plan.id, DeltaCheck), _conventions(plan.cell.row.paper)
            return change_facts(plan, change, read), tuple(explain_change(plan, change, cells, read))
        case RepeatPlan():
            repeat, read = result.find(plan.id, RepeatCheck), _conventions(plan.cell.row.paper)
            return repeat_facts(plan, repeat, read), tuple(rests_on((plan.cell, plan.other), {}))
        case MarkPlan():
            mark, read = result.find(plan.id, MarkCheck), _conventions(plan.row.paper)
            return mark_facts(plan, mark, read), tuple(explain_mark(plan, mark, cells, read))
        case ColumnsPlan():
            return columns_facts(plan, result.find(plan.id, ColumnCheck)), tuple(explain_columns(plan))
        case ClaimPlan():
            claim = result.find(plan.id, ClaimCheck)
            sections = tuple(explain_claim(plan, claim))
            return claim_facts(plan, claim, sections), sections
        case EquationPlan():
            return equation_facts(result.find(plan.id, EquationCheck)), ()
        case _:
            assert_never(plan)


def _conventions(paper: Paper) -> Conventions:
    return Conventions(paper.about.value)


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
