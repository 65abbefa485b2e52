"""The claims of the bundled papers, and the modules that hold them: the same files that the door loads, typed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module

from imlp_audit.claims.catalogue import ClaimText
from imlp_audit.claims.settings import Limits, Outcome
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.search import search
from imlp_audit.spec.library import select_equations
from imlp_audit.spec.plan import EquationPlan
from tests.bundled import bundled_selection


@cache
def all_claims() -> tuple[ClaimText, ...]:
    """Every claim of every bundled paper, in the order of `imlp-audit list`."""
    plans = select_equations(bundled_selection())
    claims = [plan.claim for plan in plans if isinstance(plan, EquationPlan)]
    return tuple(claim for claim in claims if isinstance(claim, ClaimText))


def runnable(text: ClaimText) -> Claim[object]:
    """Return the claim that a text is of."""
    module = import_module(f"specs.{text.code.folder.name}.equations.{text.code.module}")
    claim: Claim[object] = getattr(module, text.code.function)
    return claim


def run(text: ClaimText, limits: Limits, arithmetic: Arithmetic | None = None) -> Outcome:
    """Test a claim in this process."""
    return search(runnable(text), arithmetic or Arithmetic(), limits)


class _FalseError(BaseException):
    """Ends a search at its first counterexample. No Exception: hypothesis would look for smaller ones."""


def is_false(paper: str, name: str, examples: int = 30) -> bool:
    """Whether a counterexample is found; it is not made smaller."""
    (text,) = (claim for claim in all_claims() if (claim.paper, claim.name) == (paper, name))
    claim = runnable(text)

    def judge(case: object, arithmetic: Arithmetic) -> Trial:
        trial = claim.judge(case, arithmetic)
        if not trial.holds:
            raise _FalseError
        return trial

    try:
        outcome = search(replace(claim, judge=judge), Arithmetic(), Limits(examples))
    except _FalseError:
        return True
    assert outcome.problem is None
    return False


def proved_claims() -> list[ClaimText]:
    """Return the claims that are proved, without those of papers that make another's claim."""
    return [claim for claim in all_claims() if claim.paper == claim.code.folder.name and runnable(claim).proof]
