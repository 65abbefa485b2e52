"""The claims of the bundled papers."""

from __future__ import annotations

from functools import cache

from imlp_audit.claims.catalogue import ClaimText
from imlp_audit.spec.load import select_equations
from imlp_audit.spec.plan import EquationPlan
from tests.bundled import bundled_selection


@cache
def all_claims() -> tuple[ClaimText, ...]:
    """Return every claim of every bundled paper, in the order of `imlp-audit list`."""
    plans = select_equations(bundled_selection())
    claims = [plan.claim for plan in plans if isinstance(plan, EquationPlan)]
    return tuple(claim for claim in claims if isinstance(claim, ClaimText))
