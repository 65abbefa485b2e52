"""A row whose size of images is not known: its parameters can be checked where they are the same for all sizes."""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.columns import TableColumns
from imlp_audit.transcribe.models import ModelGuess
from imlp_audit.transcribe.rows import RowNumbers


def keep_parameters(model: ModelGuess, numbers: RowNumbers, columns: TableColumns) -> tuple[ModelGuess, RowNumbers]:
    """Return an open row's first candidate as its model, and its numbers without FLOPs.

    Both are as they were where a row has a model, prints no parameters, or may be of another model.
    """
    measures = {columns.slugs[at]: guess.measure for at, guess in columns.numbers}
    counted = any(measures[slug] is Measure.PARAMETERS for slug in numbers.printed)
    if model.recipe is not None or not model.sizeless or not counted:
        return model, numbers
    waiting = {slug: text for slug, text in numbers.printed.items() if measures[slug] is Measure.FLOPS}
    first, *others = model.candidates
    kept = replace(
        numbers,
        printed={slug: text for slug, text in numbers.printed.items() if slug not in waiting},
        changes={slug: text for slug, text in numbers.changes.items() if slug not in waiting},
        waiting=waiting,
    )
    return replace(model, recipe=first, library=model.sizeless, candidates=tuple(others)), kept
