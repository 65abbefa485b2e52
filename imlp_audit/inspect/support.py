"""Whether weights support a sentence: only if noise of the same shapes does not support it too."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from imlp_audit.inspect.noise import DRAWS, Kind, Noise
from imlp_audit.inspect.sentences import SentenceText
from imlp_audit.records.check import Verdict
from imlp_audit.records.inspection import Inspection, Statement

Ask: TypeAlias = Callable[[SentenceText, Inspection], Statement]


def judge_against_noise(ask: Ask, text: SentenceText, inspection: Inspection, noise: Noise | None) -> Statement:
    """Judge a sentence by the weights, and what is true of them by noise, until some noise supports it too.

    Weights that look untrained say nothing about a sentence on learned ones.
    """
    found = ask(text, inspection)
    if inspection.untrained is not None and found.verdict in (Verdict.REPRODUCED, Verdict.DIFFERS):
        reason = f"{inspection.untrained}; measured: {found.reason}"
        return found.model_copy(update={"verdict": Verdict.UNVERIFIABLE, "reason": reason})
    if noise is None or found.verdict is not Verdict.REPRODUCED:
        return found
    for kind in _kinds(ask, text, found, noise):
        for number, draw in enumerate(noise.draws(kind), 1):
            other = ask(text, draw)
            if other.verdict is not Verdict.DIFFERS:
                doubt = (
                    f"{kind} support this too (draw {number} of {DRAWS}), so it shows nothing"
                    if other.verdict is Verdict.REPRODUCED
                    else f"it could not be asked of {kind}, so nothing tells it from noise: {other.reason}"
                )
                reason = f"{found.reason}; but {doubt}"
                return found.model_copy(update={"verdict": Verdict.UNVERIFIABLE, "reason": reason})
    return found


def _kinds(ask: Ask, text: SentenceText, found: Statement, noise: Noise) -> tuple[Kind, ...]:
    """Return the noise that can tell: shuffles, or fresh numbers if shuffling changes nothing that is measured."""
    first = next(noise.draws(Kind.SHUFFLED))
    return (Kind.NORMAL, Kind.UNIFORM) if ask(text, first).values == found.values else (Kind.SHUFFLED,)
