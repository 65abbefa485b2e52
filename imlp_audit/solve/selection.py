"""Solving what was selected: which printed numbers are meant, and an answer that is stored or searched for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from imlp_audit.cache.store import Store, remember
from imlp_audit.records.solution import Solved
from imlp_audit.solve import BUDGET
from imlp_audit.spec.load import Selection, digest_selection
from imlp_audit.spec.paper import Paper


def solve_selection(
    selection: Selection,
    targets: Sequence[str],
    progress: Callable[[str], None],
    store: Store | None = None,
    budget: int = BUDGET,
    jobs: int = 0,
) -> Solved:
    """Search for what explains the printed parameters and FLOPs of the targets: papers, tables, or globs of cells.

    FLOPs of rows that the spec says were counted by another counter are left out. A search looks at no more pairs of a
    box of weights and a reading than its `budget`; `jobs` other processes share the counting. Raises UsageError where
    nothing is selected, SolverError where nothing can be measured.
    """
    digest = digest_selection(selection, targets, budget)

    def make() -> Solved:
        from imlp_audit.solve.answer import answer_targets

        return answer_targets(selection, targets, budget, progress, jobs)

    return remember(store or Store(), digest, Solved, make, lambda _: True)


def default_targets(paper: Paper) -> tuple[str, ...]:
    """Return the solution of a whole paper for its report, if the paper leaves something open about some model."""
    open_ = any(row.row.model is not None and row.row.model.family for row in paper.rows)
    return (paper.id,) if open_ else ()


def selected_targets(selection: Selection) -> list[str]:
    """Return the ids and globs of what was selected: papers, tables of files, or what was named."""
    targets: list[str] = []
    for paper in selection.papers:
        part = selection.part(paper.id)
        targets += [paper.id] if part.is_whole else sorted(part.ids)
        targets += [f"{paper.id}/{table.value.table}" for table in paper.tables if table.file.shown_as in part.files]
    return targets
