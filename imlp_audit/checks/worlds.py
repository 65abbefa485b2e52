"""What the cells of one quantity count to, under every option that the hypothesis leaves to all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from imlp_audit.checks.context import Context, Counter
from imlp_audit.checks.fit import Measured, name_departures_of
from imlp_audit.checks.printed import Countable, countable, unless_counted
from imlp_audit.checks.votes import frame_of
from imlp_audit.models.reading import AnyFamily
from imlp_audit.spec.paper import CellRef

_Kin = tuple[str, AnyFamily]  # the paper and the family that a reading is chosen for


@dataclass(frozen=True)
class World:
    """One choice of all that is open: the values of cells by their ids, and how the choice departs from defaults."""

    values: Mapping[str, Fraction]
    under: tuple[str, ...]


@dataclass(frozen=True)
class _Counted:
    """A cell, what a reading is chosen for, and its measurements: all that are declared, and those allowed to it.

    Those allowed go by their counters: two papers may call different ones by one name.
    """

    cell: CellRef
    kin: _Kin | None
    declared: Sequence[Measured]
    allowed: Sequence[tuple[Counter, Measured]]

    @property
    def counters(self) -> list[Counter]:
        """The counters that are allowed, in order."""
        return list(dict.fromkeys(counter for counter, _ in self.allowed))

    def under(self, counter: Counter, readings: Mapping[_Kin, str | None]) -> Measured | None:
        """Return the measurement by a counter under readings, if it is allowed."""
        found = (
            one
            for its, one in self.allowed
            if its == counter and (self.kin is None or one.reading == readings[self.kin])
        )
        return next(found, None)


class NoWorldError(Exception):
    """Cells that cannot be compared as counted; the message says why."""


def worlds_of(cells: Sequence[CellRef], context: Context) -> list[World]:
    """Return each choice that is open, the defaults first.

    Raises NoWorldError for a cell that cannot be counted, or where two counters meet.
    """
    counted = [_count(cell, context) for cell in {cell.id: cell for cell in cells}.values()]
    counters = [counter for counter in counted[0].counters if all(counter in one.counters for one in counted)]
    if not counters:
        raise NoWorldError("its numbers were counted by different conventions: to compare them compares two counts")
    kin = list(dict.fromkeys(one.kin for one in counted if one.kin is not None))
    choices = [list(dict.fromkeys(m.reading for one in counted if one.kin == k for _, m in one.allowed)) for k in kin]
    worlds = []
    for counter, readings in product(counters, product(*choices)):
        found = [(one, one.under(counter, dict(zip(kin, readings, strict=True)))) for one in counted]
        pairs = [(one, measured) for one, measured in found if measured is not None]
        if len(pairs) == len(found):
            worlds.append(_world(pairs))
    if not worlds:
        raise NoWorldError("no reading is left to all of its numbers")
    return worlds


def is_weak(cells: Sequence[CellRef], context: Context) -> bool:
    """Return whether what the cells are judged under is no clear choice."""
    return any(frame_of(cell, context).weak for cell in cells)


def _count(cell: CellRef, context: Context) -> _Counted:
    found = countable(cell)
    if not isinstance(found, Countable):
        raise NoWorldError(f"{cell.id}: {found}")
    frame, family = frame_of(cell, context), found.recipe.family
    declared, _ = context.measurements(cell.row, found.recipe, cell.column)
    unless_counted(context, cell.row.paper, found.recipe)
    allowed = [one for one in declared if frame.allows(one)]
    unknown = next((one.uncounted for one in allowed if one.uncounted), ())
    if unknown:
        raise NoWorldError(f"{cell.id}: no formula counts {', '.join(unknown)}, so the measured value leaves out work")
    read, kin = context.conventions(cell.row.paper), None if family is None else (cell.row.paper.id, family)
    return _Counted(cell, kin, declared, [(read.counter_of(cell.column, one.convention), one) for one in allowed])


def _world(pairs: Sequence[tuple[_Counted, Measured]]) -> World:
    under = (name for one, measured in pairs for name in name_departures_of(measured, one.declared))
    return World({one.cell.id: measured.value for one, measured in pairs}, tuple(dict.fromkeys(under)))
