"""Solving: from a selection of printed numbers to the models and counters that explain them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial

from imlp_audit.cache.results import remember
from imlp_audit.cache.store import Store
from imlp_audit.count.conventions import FLOPS_CONVENTIONS
from imlp_audit.count.operations import Operation
from imlp_audit.errors import SolverError, UsageError
from imlp_audit.records.solution import Answered, Searched, Solved, SolvedRow
from imlp_audit.solve.answer import Solution
from imlp_audit.solve.controls import by_family, null_scores
from imlp_audit.solve.describe import describe_answer, describe_sizes
from imlp_audit.solve.heldout import held_out
from imlp_audit.solve.order import RULE
from imlp_audit.solve.problem import Cell, Kind, SearchProblem
from imlp_audit.solve.search import BUDGET, Rules, solve
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.digest import digest_selection
from imlp_audit.spec.library import Selection
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.references import RowRef, rows_of

_KINDS: tuple[Kind, ...] = ("parameters", "flops")
# Not weighed: what other classes count already, and what only fvcore counts.
_LEFT_OUT = (Operation.IN_LAYERS, Operation.IN_CLASSIFIER, Operation.FVCORE_EXCESS, Operation.UNKNOWN)


@dataclass(frozen=True)
class Search:
    """How to search: one rounding rule or one per column, one weight for all norms, stated widths left open or not."""

    rules: Rules = Rules.TOGETHER
    tied_norms: bool = False
    free_widths: bool = False
    budget: int = BUDGET


def solve_selection(
    selection: Selection,
    targets: Sequence[str],
    search: Search,
    progress: Callable[[str], None],
    store: Store | None = None,
) -> Solved:
    """Search for what explains the printed parameters and FLOPs of the targets: papers, tables, or globs of cells.

    FLOPs of rows that the spec says were counted by another counter are left out. Raises UsageError where nothing
    is selected, SolverError where nothing can be measured.
    """
    digest = digest_selection(selection, targets, search)
    return remember(
        store or Store(), digest, Solved, lambda: _solve(selection, targets, search, progress), lambda _: True
    )


def _solve(selection: Selection, targets: Sequence[str], search: Search, progress: Callable[[str], None]) -> Solved:
    from imlp_audit.solve.compose import compose  # torch takes seconds to import: not before the specs are read
    from imlp_audit.solve.own import own_changes

    globs = list(dict.fromkeys(glob for target in targets for glob in _globs(target)))
    rows = [row for paper in selection.papers for row in _rows(paper, globs)]
    if not rows:
        raise UsageError(
            f"no printed number matches {', '.join(targets)}; give a paper, paper/table or a glob of cells"
        )
    progress("measuring")
    composed = compose(rows, free_widths=search.free_widths)
    counters = {row.id: row.row.counted_by.get(Measure.FLOPS) for row in rows}
    own = {name: counted.convention for name, counted in counters.items() if counted is not None}
    problem = replace(
        composed.problem.where(lambda cell: _is_wanted(cell, globs, own)),
        allowed={**composed.problem.allowed, **{str(one): (0,) for one in _LEFT_OUT}},
    )
    if not problem.cells:
        why = "; ".join(f"{name}: {reason}" for name, reason in composed.refused.items())
        raise SolverError(f"nothing to solve: no printed parameters or FLOPs of a model that can be measured; {why}")
    problem = problem.tie_classes() if search.tied_norms else problem
    asked = [kind for kind in _KINDS if any(cell.kind == kind for cell in problem.cells)]
    parts: dict[Searched, SearchProblem] = {kind: problem.only(kind) for kind in asked} if len(asked) > 1 else {}
    parts["both" if len(asked) > 1 else asked[0]] = problem
    change_rows = partial(own_changes, recipes=composed.recipes, composer=composed.composer)
    answers = tuple(
        _answer(what, part, search, progress, change_rows if part is problem else None) for what, part in parts.items()
    )
    other = {f"{name}/flops": f"counted by {by}" for name, by in own.items()}
    left = {**{name: reason for name, reason in composed.refused.items() if "prints no" not in reason}, **other}
    return Solved(
        selection=tuple(targets),
        left_out=left,
        failed=composed.failed,
        answers=answers,
        order=RULE,
        sizes=describe_sizes(problem),
    )


def default_targets(paper: Paper) -> tuple[str, ...]:
    """Return the solution of a whole paper for its report, if the paper leaves something open about some model."""
    open_ = any(row.row.model is not None and row.row.model.family for row in rows_of(paper))
    return (paper.id,) if open_ else ()


def selected_targets(selection: Selection) -> list[str]:
    """Return the ids and globs of what was selected: papers, tables of files, or what was named."""
    targets: list[str] = []
    for paper in selection.papers:
        part = selection.part(paper.id)
        targets += [paper.id] if part.is_whole else sorted(part.ids)
        targets += [f"{paper.id}/{table.value.table}" for table in paper.tables if table.file.shown_as in part.files]
    return targets


def _globs(target: str) -> Iterator[str]:
    """Yield the globs of cells that a target stands for."""
    parts = target.count("/")
    yield target + ("/*" if parts < 3 else "")
    if parts == 1 and any(sign in target for sign in "*?["):
        yield target


def _rows(paper: Paper, globs: Sequence[str]) -> Iterator[RowRef]:
    for row in rows_of(paper):
        if any(fnmatchcase(f"{row.id}/{column}", glob) for glob in globs for column in row.row.printed):
            yield row


def _is_wanted(cell: Cell, globs: Sequence[str], own: Mapping[str, object]) -> bool:
    elsewhere = cell.kind == "flops" and cell.id.rpartition("/")[0] in own
    return not elsewhere and any(fnmatchcase(cell.id, glob) for glob in globs)


def _answer(
    what: Searched,
    problem: SearchProblem,
    search: Search,
    progress: Callable[[str], None],
    change_rows: Callable[[SearchProblem, Solution], Iterator[SolvedRow]] | None,
) -> Answered:
    """Search one problem; for the whole one, also find how certain the answer is and what rows would have to change."""
    progress(f"solving {what}")
    answer = solve(problem, search.rules, budget=search.budget)
    plain = describe_answer(what, problem, answer)
    if any(cell.kind == "flops" for cell in problem.cells):
        plain = plain.model_copy(update={"conventions": _score_conventions(problem, search)})
    if change_rows is None:
        return plain
    progress("changing single rows")
    rows = tuple(change_rows(problem, answer.solutions[0]))
    progress("solving tables with shifted digits")
    null = tuple((one.found, one.at_most) for one in null_scores(problem, search.rules))
    progress("solving with cells left out")
    held = tuple(held_out(problem, search.rules, budget=search.budget))
    progress("solving by families")
    families = tuple(one.families for one in by_family(problem, answer.score, search.rules, budget=search.budget))
    return plain.model_copy(update={"rows": rows, "null": null, "held": held, "families": families})


def _score_conventions(problem: SearchProblem, search: Search) -> dict[str, int]:
    """Return the best score under each named convention that all rows have a total for."""
    names = [n for n in problem.rows[0].totals if all(n in row.totals for row in problem.rows)]
    wanted = dict.fromkeys([*FLOPS_CONVENTIONS, *names])
    return {n: solve(problem.under(n), search.rules, budget=search.budget).score for n in wanted if n in names}
