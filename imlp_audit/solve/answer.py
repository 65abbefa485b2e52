"""From printed numbers to the models and counters that explain them, and how well these are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from math import prod

import numpy as np

from imlp_audit.count.call import BOOKED_TWICE, Operation
from imlp_audit.count.conventions import FLOPS_CONVENTIONS
from imlp_audit.errors import SolverError, UsageError
from imlp_audit.records.solution import Answered, Searched, Solved, SolvedAxis, SolvedFirst, SolvedWeights
from imlp_audit.solve.compose import compose
from imlp_audit.solve.layout import Bundle, Layout, lay_out
from imlp_audit.solve.problem import (
    RULE,
    Cell,
    Integers,
    Kind,
    SearchAnswer,
    SearchProblem,
    Solution,
    WeightChoice,
    find_explained,
)
from imlp_audit.solve.search import best_readings, null_scores, solve
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.load import Selection
from imlp_audit.spec.paper import Paper, RowRef

_KINDS: tuple[Kind, ...] = ("parameters", "flops")
# Not weighed: what other classes count already, and what only fvcore counts.
_LEFT_OUT = (*BOOKED_TWICE, Operation.UNKNOWN)


def answer_targets(
    selection: Selection, targets: Sequence[str], budget: int, progress: Callable[[str], None], jobs: int
) -> Solved:
    """Measure and solve, as `solve_selection` does, and say how well the answer is known."""
    problem, left_out = _pose(selection, targets, progress, jobs)
    asked = [kind for kind in _KINDS if any(cell.kind == kind for cell in problem.cells)]
    what: Searched = "both" if len(asked) > 1 else asked[0]
    progress(f"solving {what}")
    answer = solve(problem, budget=budget)
    scores = _score_conventions(problem, budget) if any(cell.kind == "flops" for cell in problem.cells) else {}
    by_weights, named = answer.score, _prefer_named(problem, answer, scores, budget)
    counter = None
    if named is not None:
        counter, problem, answer = named
    found = f"{answer.score} of {answer.of} numbers follow; now "
    progress(f"{found}how certain that is")
    whole = describe_answer(what, problem, answer, scores)
    parts = [_solve_part(problem, kind, budget) for kind in asked] if len(asked) > 1 else []
    progress(f"{found}what other numbers would score")
    update: dict[str, object] = {"null": tuple(null_scores(problem))}
    if counter is not None:
        update |= {"named_counter": counter, "by_weights": by_weights, "counters": None}
    return Solved(
        selection=tuple(targets),
        left_out=left_out,
        answers=(*parts, whole.model_copy(update=update)),
        order=RULE,
    )


def _pose(
    selection: Selection, targets: Sequence[str], progress: Callable[[str], None], jobs: int
) -> tuple[SearchProblem, dict[str, str]]:
    """Measure the models that the targets are about. Raises UsageError and SolverError, as `solve_selection` does."""
    globs = list(dict.fromkeys(glob for target in targets for glob in _globs(target)))
    rows = [row for paper in selection.papers for row in _rows(paper, globs)]
    if not rows:
        raise UsageError(
            f"no printed number matches {', '.join(targets)}; give a paper, paper/table or a glob of cells"
        )
    first, *others = dict.fromkeys(row.paper.id for row in rows)
    if others:
        raise UsageError(f"{1 + len(others)} papers found: {', '.join((first, *others))}; name one: `solve {first}`")
    progress("measuring")
    composed, refused = compose(rows, jobs)
    counters = {row.id: row.row.counted_by.get(Measure.FLOPS) for row in rows}
    own = {name: counted.convention for name, counted in counters.items() if counted is not None}
    problem = replace(
        composed.where(lambda cell: _is_wanted(cell, globs, own)), allowed={str(one): (0,) for one in _LEFT_OUT}
    )
    if not problem.cells:
        why = "; ".join(f"{name}: {reason}" for name, reason in refused.items())
        raise SolverError(f"nothing to solve: no printed parameters or FLOPs of a model that can be measured; {why}")
    left_out = {name: reason for name, reason in refused.items() if "prints no" not in reason}
    left_out |= {f"{name}/flops": f"counted by {by}" for name, by in own.items()}
    return problem, left_out


def _solve_part(problem: SearchProblem, kind: Kind, budget: int) -> Answered:
    part = problem.only(kind)
    scores = _score_conventions(part, budget) if kind == "flops" else {}
    return describe_answer(kind, part, solve(part, budget=budget), scores)


def _globs(target: str) -> Iterator[str]:
    parts = target.count("/")
    yield target + ("/*" if parts < 3 else "")
    if parts == 1 and any(sign in target for sign in "*?["):
        yield target


def _rows(paper: Paper, globs: Sequence[str]) -> Iterator[RowRef]:
    for row in paper.rows:
        if any(fnmatchcase(f"{row.id}/{column}", glob) for glob in globs for column in row.row.printed):
            yield row


def _is_wanted(cell: Cell, globs: Sequence[str], own: Mapping[str, object]) -> bool:
    elsewhere = cell.kind == "flops" and cell.id.rpartition("/")[0] in own
    return not elsewhere and any(fnmatchcase(cell.id, glob) for glob in globs)


def _prefer_named(
    problem: SearchProblem, free: SearchAnswer, scores: Mapping[str, int], budget: int
) -> tuple[str, SearchProblem, SearchAnswer] | None:
    """Return the best counter with a name if weights of no name explain at most one number more.

    With it come the problem in which only its weights are allowed, and the answer to that.

    Weights that are fitted to a table absorb an error in it; a counter that people use does not.
    """
    known = {name: scores[name] for name in FLOPS_CONVENTIONS if name in scores}
    best = max(known, key=known.__getitem__, default=None)
    if best is None or known[best] < free.score - 1 or not free.exhaustive:
        return None
    weights = {str(key): weight for key, weight in FLOPS_CONVENTIONS[best].weights.items()}
    only = replace(problem, allowed={name: (weights.get(name, 0),) for name in problem.classes})
    answer = solve(only, budget=budget)
    return (best, only, answer) if answer.score == known[best] else None


def _score_conventions(problem: SearchProblem, budget: int) -> dict[str, int]:
    names = [n for n in problem.rows[0].totals if all(n in row.totals for row in problem.rows)]
    wanted = dict.fromkeys([*FLOPS_CONVENTIONS, *names])
    return {n: solve(problem.under(n), budget=budget).score for n in wanted if n in names}


FEW = 12
"""Up to so many equally good candidates are called "one of k"."""


def describe_answer(
    what: Searched, problem: SearchProblem, answer: SearchAnswer, conventions: Mapping[str, int] | None = None
) -> Answered:
    """Return the answer to a problem; `what` is the kind of its numbers, `conventions` the scores of named ones."""
    readings = {group: len(readings) for group, readings in best_readings(answer.ties).items()}
    whole = answer.score == answer.of and answer.exhaustive
    layout = lay_out(problem)
    return Answered(
        what=what,
        score=answer.score,
        of=answer.of,
        solutions=answer.count,
        exhaustive=answer.exhaustive,
        bound=answer.bound,
        readings=readings,
        reading=name_certainty(prod(readings.values()), whole=whole) if answer.axes else None,
        counters=_count_counters(answer, layout.bundles) if layout.bundles else None,
        named=tuple(_named_among_best(problem, answer)),
        first=_describe_first(problem, answer.first),
        axes=tuple(_describe_axis(problem, answer, axis) for axis in answer.axes),
        weights=tuple(_describe_weights(layout, answer)),
        contradicted=answer.contradicted,
        disputed=answer.disputed,
        conventions=dict(conventions or {}),
    )


def name_certainty(candidates: int, *, whole: bool = True) -> str:
    """Say how well something is known that has this many equally good candidates.

    Nothing is identified where the answer is not `whole`: some number is unexplained, or the budget ended the search.
    """
    if candidates == 1:
        return "identified" if whole else "agreed"
    return f"one of {candidates}" if candidates <= FEW else "not determined"


def _describe_weights(layout: Layout, answer: SearchAnswer) -> Iterator[SolvedWeights]:
    for axis, bundle in enumerate(layout.bundles):
        yield SolvedWeights(
            classes=tuple(layout.problem.classes[place] for place in bundle.classes),
            factors=bundle.factors,
            values=tuple(sorted({value for one in _choices(answer, axis) for value in _sums(one, bundle).tolist()})),
        )


def _choices(answer: SearchAnswer, axis: int) -> list[WeightChoice]:
    return list({id(one.weights[axis]): one.weights[axis] for one in answer.ties}.values())


def _sums(choice: WeightChoice, bundle: Bundle) -> Integers:
    return np.unique(choice.options @ np.array(bundle.factors))


def _count_counters(answer: SearchAnswer, bundles: Sequence[Bundle]) -> int:
    """Count the weighted sums under the first solution's rounding: boxes of one run have no weights in common."""
    rounding = answer.first.flops_rounding
    boxes = {tuple(map(id, one.weights)) for one in answer.ties if one.flops_rounding == rounding}
    counts = {
        id(choice): len(_sums(choice, bundle))
        for axis, bundle in enumerate(bundles)
        for choice in _choices(answer, axis)
    }
    return sum(prod(counts[one] for one in weights) for weights in boxes)


def _describe_axis(problem: SearchProblem, answer: SearchAnswer, axis: SolvedAxis) -> SolvedAxis:
    """Return an axis, if solutions agree on a value, with the cells that need it in the first solution."""
    if axis.is_free or len(axis.values) > 1:
        return axis
    first, space = answer.first, problem.spaces[axis.family]
    place = [name for name, _ in space.axes].index(axis.axis)
    here = np.unravel_index(first.readings[axis.family], space.shape)
    kept: list[set[str]] = []
    for value in set(range(len(axis.tried))) - {int(here[place])}:
        index = np.ravel_multi_index((*here[:place], value, *here[place + 1 :]), space.shape)
        other = replace(first, readings={**first.readings, axis.family: int(index)})
        kept.append(set(find_explained(problem, other)))
    rests_on = tuple(cell for cell in first.explained if any(cell not in one for one in kept))
    return axis.model_copy(update={"rests_on": rests_on})


def _named_among_best(problem: SearchProblem, answer: SearchAnswer) -> Iterator[str]:
    best = {group: set(readings.tolist()) for group, readings in best_readings(answer.ties).items()}
    for name, places in problem.named.items():
        known = [group for group in places if group in best]
        if known and all(places[group] in best[group] for group in known):
            yield name


def _describe_first(problem: SearchProblem, first: Solution) -> SolvedFirst:
    return SolvedFirst(
        reading={group: problem.spaces[group].values_at(index) for group, index in first.readings.items()},
        nearest=first.nearest,
        apart=first.apart,
        parameters=first.parameter_convention,
        parameter_rounding=None if first.parameter_rounding is None else str(first.parameter_rounding),
        flops_rounding=None if first.flops_rounding is None else str(first.flops_rounding),
        weights={str(name): w for name, w in zip(problem.classes, first.weights, strict=True) if w},
    )
