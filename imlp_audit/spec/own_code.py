"""Names that a paper's own Python lacks, and arguments that it does not take or lacks, found without running it."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.errors import Problem
from imlp_audit.models.declared import find_missing_name, find_wrong_argument
from imlp_audit.models.own import OwnBlock
from imlp_audit.models.recipe import Recipe
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.references import rows_of

_SIZES = ("in_features", "hidden_features", "out_features", "use_conv")
"""What a block is given of the MLP that it replaces, where it takes it."""


def wrong_code(paper: Paper) -> Iterator[Problem]:
    """Yield a problem for each row and system whose class or function is missing, or takes other `arguments`."""
    for row in rows_of(paper):
        for message, path in _complaints(row.row.model):
            yield row.table.problem(message, "rows", row.index, "model", *path)
    for system in paper.systems:
        for message, path in _complaints(system.value.model):
            yield system.problem(message, "model", *path)


def _complaints(recipe: Recipe | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    for code in recipe.codes if recipe is not None else ():
        if code.beside is None or code.file is None or code.name is None:
            continue
        ours, path = ((*_SIZES, *code.axes), ("mlp", "python")) if isinstance(code, OwnBlock) else ((), ("python",))
        missing = find_missing_name(code.beside, code.file, code.name)
        if missing is not None:
            yield missing, path
            continue
        wrong = find_wrong_argument(code.beside, code.file, code.name, code.arguments, ours)
        if wrong is not None:
            yield wrong, (*path, *(("arguments",) if code.arguments else ()))
