"""`imlp-audit explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from imlp_audit.cli.exits import ExitCode
from imlp_audit.cli.options import NoProgress, Specs, TrustCode
from imlp_audit.cli.output import emit

if TYPE_CHECKING:
    from imlp_audit.cli.progress import Announce
    from imlp_audit.records.check import Check
    from imlp_audit.spec.library import Selection
    from imlp_audit.spec.plan import Plan


def explain(
    check_id: Annotated[
        str, typer.Argument(metavar="CHECK_ID", help="A check, as `imlp-audit list` prints it.", show_default=False)
    ],
    specs: Specs = None,
    trust_code: TrustCode = False,
    no_progress: NoProgress = False,
) -> int:
    """Explain one check in words and numbers."""
    from imlp_audit.cli.progress import show_progress
    from imlp_audit.explain.explain import explain as explained
    from imlp_audit.explain.find import find_plan
    from imlp_audit.records.check import Verdict
    from imlp_audit.spec.library import load

    selection = load(specs or [])
    plan = find_plan(selection, check_id)
    with show_progress(shown=not no_progress) as announce:
        checks = _checks(plan, selection, announce, trust_code=trust_code)
    emit(explained(plan, checks, selection.known))
    return ExitCode.INCOMPLETE if checks[plan.id].verdict is Verdict.ERROR else ExitCode.CLEAN


def _checks(plan: Plan, selection: Selection, announce: Announce, *, trust_code: bool) -> dict[str, Check]:
    """Make the check and those it rests on, as `verify` does; a claim that needs a solver as `properties` does."""
    from imlp_audit.audit import Options, audit, audit_equations
    from imlp_audit.equations.catalogue import ClaimText
    from imlp_audit.equations.settings import Settings
    from imlp_audit.explain.explain import rests_on
    from imlp_audit.spec.plan import EquationPlan

    if isinstance(plan, EquationPlan) and isinstance(plan.claim, ClaimText) and plan.claim.needs:
        result = audit_equations(selection, (plan.id,), Settings(trust_code=trust_code), announce)
    else:
        result = audit(selection, Options(only=(plan.id, *rests_on(plan)), trust_code=trust_code), announce)
    return {check.id: check for check in result.checks}
