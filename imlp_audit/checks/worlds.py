"""What the cells of one quantity count to, under every option that the hypothesis leaves to all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from imlp_audit.checks.context import Context
from imlp_audit.checks.fit import Measured, name_departures_of
from imlp_audit.checks.printed import Countable, countable, unless_counted
from imlp_audit.checks.votes import frame_of
from imlp_audit.models.reading import Family
from imlp_audit.spec.references import CellRef

_Kin = tuple[str, Family]  # the paper and the family that a reading is chosen for


@dataclass(frozen=True)
class World:
    """One choice of all that is open: the values of cells by their ids, and how the choice departs from defaults."""

    values: Mapping[str, Fraction]
    under: tuple[str, ...]


@dataclass(frozen=True)
class _Counted:
    """A cell, what a reading is chosen for, and its measurements: all that are declared, and those allowed to it."""

    cell: CellRef
    kin: _Kin | None
    declared: Sequence[Measured]
    allowed: Sequence[Measured]

    def under(self, convention: str | None, readings: Mapping[_Kin, str | None]) -> Measured | None:
        """Return the measurement under a convention and readings, if it is allowed."""
        found = (
            one
            for one in self.allowed
            if one.convention == convention and (self.kin is None or one.reading == readings[self.kin])
        )
        return next(found, None)


class NoWorldError(Exception):
    """Cells that cannot be compared as counted; the message says why."""


def worlds_of(cells: Sequence[CellRef], context: Context) -> list[World]:
    """Return each choice that is open, the defaults first.

    Raises NoWorldError for a cell that cannot be counted, or where two counters meet.
    """
    counted = [_count(cell, context) for cell in {cell.id: cell for cell in cells}.values()]
    conventions = [name for name in _conventions(counted[0]) if all(name in _conventions(one) for one in counted)]
    if not conventions:
        raise NoWorldError("its numbers were counted by different conventions: to compare them compares two counts")
    kin = list(dict.fromkeys(one.kin for one in counted if one.kin is not None))
    choices = [list(dict.fromkeys(m.reading for one in counted if one.kin == k for m in one.allowed)) for k in kin]
    worlds = []
    for convention, *readings in product(conventions, *choices):
        found = [(one, one.under(convention, dict(zip(kin, readings, strict=True)))) for one in counted]
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
    return _Counted(cell, None if family is None else (cell.row.paper.id, family), declared, allowed)


def _conventions(counted: _Counted) -> list[str | None]:
    return list(dict.fromkeys(one.convention for one in counted.allowed))


def _world(pairs: Sequence[tuple[_Counted, Measured]]) -> World:
    under = (name for one, measured in pairs for name in name_departures_of(measured, one.declared))
    return World({one.cell.id: measured.value for one, measured in pairs}, tuple(dict.fromkeys(under)))
