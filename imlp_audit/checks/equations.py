"""Checks of the paper's statements about functions: equations, lemmas, what a module does."""

from __future__ import annotations

from imlp_audit.equations.catalogue import ClaimText, claims_of
from imlp_audit.equations.outcome import Outcome
from imlp_audit.records.check import Check, Verdict
from imlp_audit.spec.plan import EquationPlan


def check_equation(plan: EquationPlan, outcome: Outcome) -> Check:
    """Judge a claim by what testing it gave."""
    claim = plan.claim
    verdict, reason = _judged(outcome)
    return Check(
        id=plan.id, kind=plan.kind, verdict=verdict, reason=reason, source=plan.source,
        printed=claim.form if claim.literal else None, corrected=None if claim.literal else claim.form,
        statement=claim.statement, place=claim.place, bound=claim.bound,
        examples=outcome.examples, counterexample=outcome.counterexample,
        figure=outcome.figure,
        hints=_nearest(claim) if verdict is Verdict.DIFFERS else (),
    )  # fmt: skip


def _judged(outcome: Outcome) -> tuple[Verdict, str]:
    if outcome.problem is not None:
        return Verdict.ERROR, outcome.problem
    if outcome.counterexample:
        return Verdict.DIFFERS, f"false for {'; '.join(outcome.counterexample)}"
    noun = "example" if outcome.examples == 1 else "examples"
    return Verdict.REPRODUCED, f"holds on {outcome.examples} {noun}"


def _nearest(claim: ClaimText) -> tuple[str, ...]:
    """Name the claim that holds in place of a false one."""
    found = [other for other in claims_of(claim.paper) if other.name == claim.nearest]
    return tuple(f"what holds is {other.id}: {other.form}" for other in found)
