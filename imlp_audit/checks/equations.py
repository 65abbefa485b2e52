"""Checks of the paper's statements about functions: equations, lemmas, what a module does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from imlp_audit.equations.catalogue import BrokenClaim, ClaimText
from imlp_audit.equations.outcome import AnyOutcome, NotRun, Outcome
from imlp_audit.records.check import EquationCheck, Verdict
from imlp_audit.spec.plan import EquationPlan


def check_equation(plan: EquationPlan, outcomes: Mapping[str, AnyOutcome]) -> EquationCheck:
    """Judge a claim by what testing it gave."""
    match plan.claim:
        case BrokenClaim(file=file, line=line, problem=problem):
            reason = f"{file}:{line}: {problem}"
            return EquationCheck(id=plan.id, verdict=Verdict.ERROR, reason=reason, source=plan.source)
        case ClaimText():
            return _check_claim(plan, plan.claim, outcomes[plan.id])
        case _:
            assert_never(plan.claim)


def _check_claim(plan: EquationPlan, claim: ClaimText, outcome: AnyOutcome) -> EquationCheck:
    verdict, reason = _judge(outcome)
    stated = EquationCheck(
        id=plan.id, verdict=verdict, reason=reason, source=plan.source,
        printed=claim.form if claim.literal else None, corrected=None if claim.literal else claim.form,
        statement=claim.statement, bound=claim.bound,
        hints=_hint(plan) if verdict is Verdict.DIFFERS else (),
    )  # fmt: skip
    match outcome:
        case NotRun():
            return stated
        case Outcome():
            tried = {"examples": outcome.examples, "counterexample": outcome.counterexample}
            tried |= {"proved": outcome.proved, "replay": _join(outcome.replay)}
            return stated.model_copy(update=tried)
        case _:
            assert_never(outcome)


def _join(choices: tuple[int, ...] | None) -> str | None:
    return None if choices is None else ",".join(map(str, choices))


def _judge(outcome: AnyOutcome) -> tuple[Verdict, str]:
    if isinstance(outcome, NotRun):
        return Verdict.UNVERIFIABLE, outcome.reason
    if outcome.problem is not None:
        return Verdict.ERROR, outcome.problem
    if outcome.counterexample:
        return Verdict.DIFFERS, f"false for {'; '.join(outcome.counterexample)}"
    noun = "example" if outcome.examples == 1 else "examples"
    proved = f"; proved for {outcome.proved}" if outcome.proved else ""
    return Verdict.REPRODUCED, f"holds on {outcome.examples} {noun}{proved}"


def _hint(plan: EquationPlan) -> tuple[str, ...]:
    """Name the claim that holds in place of a false one."""
    match plan.nearest:
        case ClaimText():
            return (f"what holds is {plan.nearest.id}: {plan.nearest.form}",)
        case BrokenClaim() | None:
            return ()
        case _:
            assert_never(plan.nearest)
