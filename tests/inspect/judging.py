"""Weights judged by the sentences of the bundled papers."""

from __future__ import annotations

from functools import cache

from torch import Tensor

from imlp_audit.inspect.papers import PaperFolder, judge_papers
from imlp_audit.inspect.parts import State, find_parts
from imlp_audit.inspect.weights import measure_parts
from imlp_audit.processes.installed import bundled_folder
from imlp_audit.records.inspection import Inspection


@cache
def bundled() -> tuple[PaperFolder, ...]:
    """The papers that come with the package and have sentences."""
    files = sorted(bundled_folder().glob("*/sentences.py"))
    return tuple(PaperFolder(file.parent.name, file.parent, f"specs/{file.parent.name}") for file in files)


def inspect_weights(state: State) -> Inspection:
    """What a state's weights show; whether they look untrained is left to its own tests."""
    return measure_parts(find_parts(state), state)


def inspect_and_judge(state: dict[str, Tensor]) -> Inspection:
    """What a state's weights show, with the verdicts on the bundled papers' sentences."""
    inspection = inspect_weights(state)
    return inspection.model_copy(update={"statements": tuple(judge_papers(bundled(), inspection))})
