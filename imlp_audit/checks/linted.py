"""What `lint` can say of verdicts: those that follow from printed numbers alone, without any model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from imlp_audit.checks.acknowledge import idle_checks
from imlp_audit.checks.context import Context
from imlp_audit.checks.run import needs_models, run_check
from imlp_audit.errors import Problem
from imlp_audit.records.check import FAILS, PASSES, Check
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.plan import ClaimPlan, DeltaPlan, RepeatPlan, check_ids, plan


def broken_by_verdicts(paper: Paper, known: tuple[Paper, ...]) -> Iterator[Problem]:
    """Yield findings that cover checks that do not fail, and claims that are called charitable and do not hold."""
    made = _decided(paper, known)
    for entry, index, names in idle_checks(paper, check_ids(paper, known), made):
        message = (
            f"{names[0]} does not fail: {made[names[0]].reason}; take it out of `checks`, or move it to `evidence`"
        )
        yield entry.problem(message, "checks", index)
    for claim in paper.claims:
        check = made.get(f"{paper.id}/claims/{claim.value.id}")
        if isinstance(claim.value.charitable, str) and check is not None and check.verdict in FAILS:
            yield claim.problem(
                f"`charitable` is for a claim that holds, and this one does not: {check.reason}", "charitable"
            )


def _decided(paper: Paper, known: tuple[Paper, ...]) -> Mapping[str, Check]:
    """Return the checks that pass or fail by printed numbers alone."""
    context = Context({})
    plans = [one for one in plan(paper, known) if isinstance(one, ClaimPlan | DeltaPlan | RepeatPlan)]
    checks = (run_check(one, context) for one in plans if not needs_models(one, context))
    return {check.id: check for check in checks if check.verdict in (*PASSES, *FAILS)}
