"""Finding the check that an id names."""

from __future__ import annotations

from imlp_audit.errors import UsageError
from imlp_audit.near import did_you_mean
from imlp_audit.spec.library import Selection, select_checks
from imlp_audit.spec.plan import Plan

_TOLD = 8


def find_plan(selection: Selection, check_id: str) -> Plan:
    """Return the planned check of an id; that of a waiver stands for the check that is waived.

    Raises UsageError naming what may have been meant.
    """
    paper, _, rest = check_id.partition("/")
    wanted = f"{paper}/{rest.removeprefix('waivers/')}"
    plans = {plan.id: plan for plan in select_checks(selection, solving=True)}
    if wanted in plans:
        return plans[wanted]
    below = [name for name in plans if name.startswith(f"{check_id.rstrip('/')}/")]
    if below:
        more = f" and {len(below) - _TOLD} more" if len(below) > _TOLD else ""
        raise UsageError(f"{check_id} is no check, but there are {', '.join(below[:_TOLD])}{more}")
    raise UsageError(
        f"no check has the id {check_id!r}; {did_you_mean(wanted, plans, '`imlp-audit list` prints them')}"
    )
