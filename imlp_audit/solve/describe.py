"""The answer of a search as a record: in the words of the papers' readings, conventions and cells."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.numbers.interval import decimal_text
from imlp_audit.records.solution import Answered, Searched, SolvedAxis, SolvedCell, SolvedFirst
from imlp_audit.solve.answer import Contradiction, SearchAnswer
from imlp_audit.solve.certainty import certainty
from imlp_audit.solve.grounds import grounds_of_axis
from imlp_audit.solve.problem import SearchProblem
from imlp_audit.solve.ties import best_readings


def describe_answer(what: Searched, problem: SearchProblem, answer: SearchAnswer) -> Answered:
    """Return the answer to a problem; `what` is the kind of its numbers."""
    sure = certainty(problem, answer)
    counted = any(cell.kind == "flops" for cell in problem.cells)
    return Answered(
        what=what,
        flops=tuple(cell.id for cell in problem.cells if cell.kind == "flops"),
        score=answer.score,
        of=answer.of,
        solutions=answer.count,
        exhaustive=answer.exhaustive,
        bound=answer.bound,
        readings=dict(sure.readings),
        reading=sure.reading if answer.axes else None,
        counter=sure.counter if counted else None,
        named=tuple(_named_among_best(problem, answer)),
        first=_describe_first(problem, answer),
        axes=tuple(_describe_axis(problem, answer, axis) for axis in answer.axes),
        weights=sure.ranges if counted else (),
        contradicted=tuple(map(_describe_contradiction, answer.contradicted)),
        disputed=answer.disputed,
    )


def _describe_axis(problem: SearchProblem, answer: SearchAnswer, axis: SolvedAxis) -> SolvedAxis:
    """Return an axis with what it rests on, where the best solutions agree on a value of several."""
    if axis.is_free or len(axis.values) > 1:
        return axis
    return axis.model_copy(update={"rests_on": grounds_of_axis(problem, answer.solutions[0], axis)})


def _named_among_best(problem: SearchProblem, answer: SearchAnswer) -> Iterator[str]:
    """Yield the named readings that are among the best in every group they say something about."""
    best = {group: set(readings.tolist()) for group, readings in best_readings(answer.ties).items()}
    for name, places in problem.named.items():
        known = [group for group in places if group in best]
        if known and all(places[group] in best[group] for group in known):
            yield name


def _describe_first(problem: SearchProblem, answer: SearchAnswer) -> SolvedFirst:
    first = answer.solutions[0]
    return SolvedFirst(
        reading={group: problem.spaces[group].values_at(index) for group, index in first.readings.items()},
        nearest=first.nearest,
        apart=first.apart,
        parameters=first.parameter_convention,
        parameter_rounding=None if first.parameter_rounding is None else str(first.parameter_rounding),
        flops_rounding=None if first.flops_rounding is None else str(first.flops_rounding),
        weights={str(name): w for name, w in zip(problem.classes, first.weights, strict=True) if w},
    )


def _describe_contradiction(one: Contradiction) -> SolvedCell:
    return SolvedCell(id=one.cell, value=one.value, gap=None if one.gap is None else decimal_text(one.gap, 2))
