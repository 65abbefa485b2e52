"""Finding the check that an id names."""

from __future__ import annotations

from imlp_audit.errors import UsageError, did_you_mean
from imlp_audit.numbers.words import list_some
from imlp_audit.spec.library import Selection, select_checks
from imlp_audit.spec.plan import DeltaPlan, MarkPlan, Plan

_LISTED = 8


def find_plan(selection: Selection, check_id: str) -> Plan:
    """Return the planned check of an id; the id of a waiver stands for the check that is waived.

    Raises UsageError, naming checks that may have been meant.
    """
    paper, _, rest = check_id.partition("/")
    wanted = f"{paper}/{rest.removeprefix('waivers/')}"
    plans = {plan.id: plan for plan in select_checks(selection, solving=True)}
    if wanted in plans:
        return plans[wanted]
    below = [name for name in plans if name.startswith(f"{check_id.rstrip('/')}/")]
    if below:
        raise UsageError(f"{check_id} is not a check; checks below it: {list_some(below, _LISTED)}")
    raise UsageError(
        f"no check has the id {check_id!r}; {did_you_mean(wanted, plans, '`imlp-audit list` prints them')}"
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
