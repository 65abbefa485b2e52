"""WeightsToJudge judged by the sentences of the bundled papers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

from torch import Tensor

from imlp_audit.inspect.papers import LayerImages, PaperFolder, WeightsToJudge, judge_papers
from imlp_audit.processes.code import bundled_folder
from imlp_audit.records.checkpoint import Inspection, Statement

State = Mapping[str, Tensor]


@cache
def bundled() -> tuple[PaperFolder, ...]:
    """The papers that come with the package and have sentences."""
    files = sorted(bundled_folder().glob("*/sentences.py"))
    return tuple(PaperFolder(file.parent.name, file.parent, f"specs/{file.parent.name}") for file in files)


def judge(state: State, draws: int = 0, untrained: str | None = None) -> dict[str, Statement]:
    """The verdicts on the bundled papers' sentences by their ids; without draws noise is not asked."""
    weights = WeightsToJudge(state, partial(dict, state), untrained, draws)
    return {one.id: one for one in judge_papers(bundled(), weights) if isinstance(one, Statement)}


def inspect_state(state: State) -> tuple[Inspection, list[LayerImages]]:
    """What a state shows, with the images that papers draw of it."""
    found = list(judge_papers(bundled(), WeightsToJudge(state, partial(dict, state), draws=0), draw=True))
    statements = tuple(one for one in found if isinstance(one, Statement))
    return Inspection(statements=statements), [one for one in found if isinstance(one, LayerImages)]
