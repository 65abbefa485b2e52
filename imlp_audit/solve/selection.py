"""Solving: from a selection of printed numbers to what they say that the models were and how they were counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial

import numpy as np

from imlp_audit.errors import SolverError, UsageError
from imlp_audit.measure.conventions import FLOPS_CONVENTIONS
from imlp_audit.measure.operations import Operation
from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.solution import (
    Answered,
    Solved,
    SolvedAxis,
    SolvedCell,
    SolvedChange,
    SolvedFirst,
    SolvedHeld,
    SolvedRow,
    SolvedSizes,
    SolvedWeights,
)
from imlp_audit.solve.answer import Answer, Own, Solution
from imlp_audit.solve.certainty import certainty
from imlp_audit.solve.controls import by_family, null_scores
from imlp_audit.solve.heldout import held_out
from imlp_audit.solve.order import RULE
from imlp_audit.solve.problem import Cell, Problem
from imlp_audit.solve.search import BUDGET, Rules, solve
from imlp_audit.solve.ties import readings_of
from imlp_audit.spec.library import Selection
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.references import RowRef, rows_of

# Not weighed: what is counted among other classes already, and what no counter but fvcore has.
_LEFT_OUT = (Operation.IN_LAYERS, Operation.FVCORE_EXCESS, Operation.UNKNOWN)


@dataclass(frozen=True)
class Search:
    """How to search: one rounding rule or one a column, norms with one weight, widths that a text fixes left open."""

    rules: Rules = Rules.TOGETHER
    tied_norms: bool = False
    free_widths: bool = False
    budget: int = BUDGET


def solve_selection(
    selection: Selection, targets: Sequence[str], search: Search, progress: Callable[[str], None]
) -> Solved:
    """Search for what explains the printed parameters and FLOPs of the targets: papers, tables, or globs of cells.

    FLOPs of rows that the spec says were counted by another counter are left out. Raises UsageError where nothing
    is selected, SolverError where nothing can be measured.
    """
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
    own = {row.id: row.row.counted_by for row in rows if row.row.counted_by}
    problem = replace(
        composed.problem.where(lambda cell: _is_wanted(cell, globs, own)),
        allowed={**composed.problem.allowed, **{str(one): (0,) for one in _LEFT_OUT}},
    )
    if not problem.cells:
        why = "; ".join(f"{name}: {reason}" for name, reason in composed.refused.items())
        raise SolverError(f"nothing to solve: no printed parameters or FLOPs of a model that can be measured; {why}")
    problem = problem.tied() if search.tied_norms else problem
    asked = [kind for kind in ("parameters", "flops") if any(cell.kind == kind for cell in problem.cells)]
    parts = {kind: problem.only(kind) for kind in asked} if len(asked) > 1 else {}  # type: ignore[arg-type]  # a Kind
    parts["both" if len(asked) > 1 else asked[0]] = problem
    changed = partial(own_changes, recipes=composed.recipes, composer=composed.composer)
    answers = tuple(
        _answered(what, part, search, progress, changed if part is problem else None) for what, part in parts.items()
    )
    other = {f"{name}/flops": f"counted by {', '.join(by)}" for name, by in own.items()}
    left = {**{name: reason for name, reason in composed.refused.items() if "prints no" not in reason}, **other}
    return Solved(selection=tuple(targets), left_out=left, answers=answers, order=RULE, sizes=_sizes(problem))


def default_targets(paper: Paper) -> tuple[str, ...]:
    """Return what is solved of a paper for its report: all of it, where it leaves something open about some model."""
    open_ = any(row.row.model is not None and row.row.model.family for row in rows_of(paper))
    return (paper.id,) if open_ else ()


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


def _answered(
    what: str,
    problem: Problem,
    search: Search,
    progress: Callable[[str], None],
    changed: Callable[[Problem, Solution], Iterator[Own]] | None,
) -> Answered:
    """Search one problem; of the whole, ask how sure the answer is, and what its rows would have to change."""
    progress(f"solving {what}")
    answer = solve(problem, search.rules, budget=search.budget)
    sure = certainty(problem, answer)
    counted = any(cell.kind == "flops" for cell in problem.cells)
    plain = Answered(
        what=what, score=answer.score, of=answer.of, solutions=answer.count, exhaustive=answer.exhaustive,
        bound=answer.bound, readings=dict(sure.readings), reading=sure.reading if answer.axes else None,
        counter=sure.counter if counted else None, named=tuple(_named_in(problem, answer)),
        first=_first(problem, answer), axes=tuple(_axes(problem, answer)),
        weights=tuple(
            SolvedWeights(
                classes=one.classes, factors=one.factors, values=one.values, low=one.low, high=one.high
            ) for one in sure.ranges
        ) if counted else (),
        contradicted=tuple(
            SolvedCell(id=c.cell, value=c.value, gap=None if c.gap is None else decimal_text(c.gap, 2))
            for c in answer.contradicted
        ),
        disputed=answer.disputed,
        conventions=_conventions(problem, search) if counted else {},
    )  # fmt: skip
    if changed is None:
        return plain
    progress("changing single rows")
    rows = tuple(_row(own) for own in changed(problem, answer.solutions[0]))
    return _with_evidence(plain.model_copy(update={"rows": rows}), problem, answer, search, progress)


def _row(own: Own) -> SolvedRow:
    ways = (tuple(SolvedChange(axis=one.axis, was=one.was, becomes=one.becomes) for one in way) for way in own.ways)
    return SolvedRow(id=own.row, ways=tuple(ways))


def _with_evidence(
    plain: Answered, problem: Problem, answer: Answer, search: Search, progress: Callable[[str], None]
) -> Answered:
    """Add what the same search finds where there is nothing to find, and of cells that it did not see."""
    progress("solving tables with shifted digits")
    null = tuple((one.found, one.at_most) for one in null_scores(problem, search.rules))
    progress("solving with cells left out")
    held = tuple(
        SolvedHeld(
            name=one.name, of=one.of, chosen=one.chosen, mean=None if one.mean is None else decimal_text(one.mean, 2)
        )
        for one in held_out(problem, search.rules, budget=search.budget)
    )
    progress("solving by families")
    families = tuple(one.families for one in by_family(problem, answer.score, search.rules, budget=search.budget))
    return plain.model_copy(update={"null": null, "held": held, "families": families})


def _conventions(problem: Problem, search: Search) -> dict[str, int]:
    """Return the best score under each named convention that all rows have a total for."""
    names = [n for n in problem.rows[0].totals if all(n in row.totals for row in problem.rows)]
    wanted = dict.fromkeys([*FLOPS_CONVENTIONS, *names])
    return {n: solve(problem.under(n), search.rules, budget=search.budget).score for n in wanted if n in names}


def _named_in(problem: Problem, answer: Answer) -> Iterator[str]:
    """Yield the named readings that are among the best in every group they say something about."""
    best = {group: set(readings.tolist()) for group, readings in readings_of(answer.ties).items()}
    for name, places in problem.named.items():
        known = [group for group in places if group in best]
        if known and all(places[group] in best[group] for group in known):
            yield name


def _first(problem: Problem, answer: Answer) -> SolvedFirst:
    first = answer.solutions[0]
    return SolvedFirst(
        reading={group: _values(problem, group, index) for group, index in first.readings.items()},
        nearest=first.nearest,
        apart=first.apart,
        parameters=first.parameter_convention,
        parameter_rounding=None if first.parameter_rounding is None else str(first.parameter_rounding),
        flops_rounding=None if first.flops_rounding is None else str(first.flops_rounding),
        weights={str(name): w for name, w in zip(problem.classes, first.weights, strict=True) if w},
    )


def _values(problem: Problem, group: str, index: int) -> dict[str, str]:
    """Return the value of each axis of a reading."""
    space = problem.spaces[group]
    places = np.unravel_index(index, space.shape)
    return {name: values[int(place)] for (name, values), place in zip(space.axes, places, strict=True)}


def _axes(problem: Problem, answer: Answer) -> Iterator[SolvedAxis]:
    for axis in answer.axes:
        named = {
            name: _values(problem, axis.group, places[axis.group])[axis.name]
            for name, places in problem.named.items()
            if axis.group in places
        }
        yield SolvedAxis(family=axis.group, axis=axis.name, values=axis.values, tried=axis.tried, named=named)


def _sizes(problem: Problem) -> SolvedSizes | None:
    """Count how many readings explain how many sizes, by the default rule and with all parameters."""
    cells = [cell for cell in problem.cells if cell.kind == "parameters" and problem.rows[cell.row].group]
    groups = {problem.rows[cell.row].group for cell in cells}
    if len(groups) != 1:
        return None
    group = groups.pop()
    scores = np.zeros(int(np.prod(problem.spaces[group].shape)), dtype=np.int64)
    for cell in cells:
        sizes = problem.rows[cell.row].parameters["all"]
        least, most = cell.ranges[problem.roundings[0]]
        scores += (least <= sizes) & (sizes <= most)
    named = {name: int(scores[places[group]]) for name, places in problem.named.items() if group in places}
    return SolvedSizes(readings=tuple(int((scores == n).sum()) for n in range(len(cells) + 1)), named=named)
