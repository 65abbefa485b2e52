"""WeightsToJudge judged by the sentences of the bundled papers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

from torch import Tensor

from imlp_audit.inspect.papers import PaperFolder, WeightsToJudge, judge_papers
from imlp_audit.processes.code import bundled_folder
from imlp_audit.records.checkpoint import Statement

State = Mapping[str, Tensor]


@cache
def bundled() -> tuple[PaperFolder, ...]:
    """The papers that come with the package and have sentences."""
    files = sorted(bundled_folder().glob("*/sentences.py"))
    return tuple(PaperFolder(file.parent.name, file.parent, f"specs/{file.parent.name}") for file in files)


def judge(state: State, draws: int = 0, untrained: str | None = None) -> dict[str, Statement]:
    """The verdicts on the bundled papers' sentences by their ids; without draws noise is not asked."""
    weights = WeightsToJudge(state, partial(dict, state), untrained, draws)
    return {one.id: one for one in judge_papers(bundled(), weights)}
