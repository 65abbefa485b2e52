"""Proving a claim: it is judged on symbols in place of numbers, for every size that its examples have."""

from __future__ import annotations

from typing import TypeVar

from imlp_audit.equations.choices import count_through
from imlp_audit.equations.claim import Claim
from imlp_audit.equations.search import write_shown
from imlp_audit.equations.symbols import SymbolChoices, SymbolicArithmetic

Case = TypeVar("Case")
_MOST = 200


class RefutedError(Exception):
    """The two sides of a claim are not the same expression."""


def prove(claim: Claim[Case]) -> int:
    """Judge a claim on symbols, for all sizes and kinds that its examples have; return for how many it was judged.

    Raises RefutedError where the sides are not the same, and whatever a claim raises that cannot be judged on symbols.
    """
    cases, symbols = list[Case](), False

    def draw(choices: SymbolChoices) -> None:
        nonlocal symbols
        cases.append(claim.cases.draw(choices))
        symbols |= choices.symbols > 0

    for choices in count_through(draw, SymbolChoices):
        if choices is None or len(cases) > _MOST:
            raise ValueError(f"its examples have more than {_MOST} sizes and kinds, or not all are of numbers alone")
    if not symbols:
        raise ValueError("its examples hold no symbols")
    for case in cases:
        trial = claim.judge(case, SymbolicArithmetic())
        if not trial.holds:
            raise RefutedError("; ".join(write_shown(trial.shown)))
    return len(cases)
