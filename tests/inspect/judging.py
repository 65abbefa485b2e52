"""Weights judged by the claims of the bundled papers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

from torch import Tensor

from imlp_audit.claims.catalogue import WeightClaim, read_weight_claims
from imlp_audit.inspect.learned_weights import WeightsToJudge, judge_claims
from imlp_audit.processes.code import bundled_folder
from imlp_audit.records.checkpoint import Statement

State = Mapping[str, Tensor]


@cache
def bundled() -> tuple[WeightClaim, ...]:
    """The claims about learned weights of the papers that come with the package."""
    folders = sorted({file.parents[1] for file in bundled_folder().glob("*/claims/*.py")})
    return tuple(one for folder in folders for one in read_weight_claims(folder.name, folder, f"specs/{folder.name}"))


def judge(state: State, draws: int = 0, untrained: str | None = None) -> dict[str, Statement]:
    """The verdicts on the bundled papers' claims by their ids; without draws noise is not asked."""
    weights = WeightsToJudge(state, partial(dict, state), untrained, draws)
    return {one.id: one for one in judge_claims(bundled(), weights)}
