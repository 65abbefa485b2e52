"""The search for causes: of printed numbers of a model, of a cell, and of the numbers that an audit cannot explain."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from fractions import Fraction
from itertools import islice
from typing import TypeAlias

from imlp_audit.cache.store import Store, digest_of, remember
from imlp_audit.checks.context import Conventions
from imlp_audit.checks.judged_under import Countable, cells_of_column, column_of, countable, missing_for, totalled_cells
from imlp_audit.count.request import Changes, ModelRequest
from imlp_audit.errors import BuildError
from imlp_audit.explain.causes import find_causes
from imlp_audit.explain.tries import CauseFamily, CountedQuantity, Question, Recounts, any_exact
from imlp_audit.models.recipe import Recipe
from imlp_audit.processes.workers import StoppedError, yield_apart
from imlp_audit.records.check import CauseHint, CellCheck, Check, OptionHint, Verdict
from imlp_audit.records.counted import CountReport, PrintedNumber
from imlp_audit.spec.columns import Measure
from imlp_audit.spec.paper import CellRef
from imlp_audit.spec.plan import CellPlan, Plan

PATIENCE, _SEARCH = 60.0, 45.0  # seconds for a model, and for all changes of it
_MOST_ROWS = 12  # of a column, whose models are counted too
_MOST_NUMBERS = 3  # of an audit
_SEARCHED = (Measure.PARAMETERS, Measure.FLOPS)

Counted: TypeAlias = tuple[str, str, CountReport | str]


def count_apart(asked: Changes) -> Generator[Counted]:
    """Yield a model counted, and its changes, in a process of its own: this may run somebody's code."""
    return yield_apart(_count_here, asked, PATIENCE)


def _count_here(asked: Changes) -> Iterator[Counted]:
    os.environ["HF_HUB_OFFLINE"] = "1"  # read when its library is imported
    from imlp_audit.count.changed_models import count_changes  # torch takes seconds to import

    return count_changes(asked)


def take_first(asked: Changes, found: Iterator[Counted]) -> CountReport:
    """Return the model as it is. Raises BuildError."""
    try:
        *_, counted = next(found)
    except StoppedError as error:
        raise BuildError(f"{asked.request}: {error}") from error
    if isinstance(counted, str):
        raise BuildError(counted)
    return counted


def collect_changes(changes: Iterator[Counted]) -> Recounts:
    """Return what was counted in time, or before the code ended its process."""
    found: dict[CauseFamily, dict[str, CountReport]] = {family: {} for family in CauseFamily}
    end = time.monotonic() + _SEARCH
    with suppress(StoppedError):
        for kind, words, one in changes:
            if isinstance(one, CountReport):
                found[CauseFamily(kind)][words] = one
            if time.monotonic() > end:
                sys.stderr.write(f"imlp-audit: the search for causes was ended after {_SEARCH:g} s\n")
                break
    return found


def search_causes(cell: CellRef, check: CellCheck, store: Store | None = None) -> PrintedNumber | None:
    """Count the model of a cell under changes, for what would give its number, and the others of its row that differ.

    The other rows of its column are counted as they are: a cause may be one of them all. None for a number that no
    counter counts, or of a model that cannot be counted alone.
    """
    own = countable(cell)
    if isinstance(own, str) or cell.column.measure not in _SEARCHED:
        return None
    row = [one.cell for one in totalled_cells(cell.row) if one.recipe == own.recipe]  # images too
    every = [one for one in row if one.column.measure in _SEARCHED]
    others = map(countable, cells_of_column(cell.row.paper, column_of(cell)))
    column = {one.cell.row.row.id: one for one in others if isinstance(one, Countable) and one.cell.id != cell.id}
    column = dict(islice(column.items(), _MOST_ROWS))
    reading = Conventions(cell.row.paper.about.value).readings[check.reading]

    def request(recipe: Recipe) -> ModelRequest:
        return ModelRequest.of(recipe, recipe.part_of(reading))

    def ask(one: CellRef, row: str = "") -> Question:
        counter = check.convention if one.id == cell.id or row else None
        return Question(one.printed, CountedQuantity(one.column.measure), counter, row)

    flops = tuple(one.printed.value * one.printed.scale for one in every if one.column.measure is Measure.FLOPS)
    rows = {name: request(one.recipe) for name, one in column.items()}
    questions = [*map(ask, every), *(ask(one.cell, name) for name, one in column.items())]
    asked = Changes(request(own.recipe), flops=flops, rows=rows, exact=any_exact(questions))

    def search() -> PrintedNumber:
        with closing(count_apart(asked)) as changes:
            model, again = take_first(asked, changes), collect_changes(changes)
        of_rows = {ask(column[name].cell, name): of for name, of in again[CauseFamily.ROW].items()}
        found = find_causes(list(map(ask, every)), model, again, of_rows)
        return found[[one.id for one in every].index(cell.id)]

    outside = any(one.recipe.runs_code for one in (own, *column.values()))
    key = None if outside else digest_of(map(repr, (cell.column_id, asked, questions)))
    with suppress(BuildError):
        return remember(store or Store(), key, PrintedNumber, search, lambda _: True)
    return None


def name_causes(
    checks: Sequence[Check], plans: Sequence[Plan], store: Store, announce: Callable[[int], Callable[[str], None]]
) -> tuple[Check, ...]:
    """Return the checks; numbers that differ, and that no finding acknowledges, have a hint at the cause.

    The worst are searched, of each column in turn. What gives others of their column is the cause of these too.
    """
    cells = {plan.id: plan.cell for plan in plans if isinstance(plan, CellPlan)}
    differing = {
        one.id: one
        for one in checks
        if isinstance(one, CellCheck) and one.verdict is Verdict.DIFFERS and not one.acknowledged
        if one.id in cells and cells[one.id].column.measure in _SEARCHED
        if missing_for(cells[one.id]) is None
    }
    hints, searched = dict[str, CauseHint](), 0
    tell = announce(min(len(differing), _MOST_NUMBERS))
    for check in _worst_first(differing, cells):
        if check.id in hints or searched == _MOST_NUMBERS:
            continue
        tell(f"what would give {check.id}")
        searched += 1
        cell, found = cells[check.id], search_causes(cells[check.id], check, store)
        if found is None or found.follows:
            continue
        hints[check.id] = CauseHint(tried=found.tried, nearest=found.nearest)
        for cause in found.causes[:1]:
            own = cells_of_column(cell.row.paper, column_of(cell))
            also = [one.id for one in own if one.row.row.id in cause.rows]
            hints |= dict.fromkeys(also, CauseHint(cause=cause, as_in=check.id, tried=found.tried))
            hints[check.id] = CauseHint(cause=cause, tried=found.tried)
    return tuple(_with_hint(one, hints.get(one.id, CauseHint())) if one.id in differing else one for one in checks)


def _worst_first(differing: Mapping[str, CellCheck], cells: Mapping[str, CellRef]) -> list[CellCheck]:
    """Return the checks: the worst of each column, then the second of each, and so on."""
    before, ranked = Counter[str](), []
    for check in sorted(differing.values(), key=lambda one: -abs(Fraction(one.gap or 0))):
        column = f"{cells[check.id].row.paper.id}/{column_of(cells[check.id])}"
        ranked.append((before[column], check))
        before[column] += 1
    return [check for _, check in sorted(ranked, key=lambda one: one[0])]


def _with_hint(check: Check, hint: CauseHint) -> Check:
    """Put a cause before other hints, but not before one that says how the spec declares it."""
    said = [one for one in check.hints if isinstance(one, OptionHint) and hint.cause and one.value == hint.cause.value]
    first = (*said, hint) if hint.cause is not None else ()
    rest = [one for one in check.hints if one not in said]
    return check.model_copy(update={"hints": (*first, *rest) if first else (*rest, hint)})
