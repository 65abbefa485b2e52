"""The part of a claim that is about totals over models, which can be counted in addition to being printed."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from imlp_audit.spec.claims import Average, Input, Meanings, Reference, Statement
from imlp_audit.spec.conditions import Conditions, Order
from imlp_audit.spec.quantities import MlpShare, Quantity, cells_of


def counted_part(meanings: Meanings) -> Meanings | None:
    """Return what a claim states about counted numbers in each meaning; None where that is nothing."""
    strict = _counted(meanings.strict)
    if strict is None:
        return None
    return Meanings(strict, _counted(meanings.charitable) if meanings.charitable is not None else None)


def _counted(statement: Statement) -> Statement | None:
    match statement:
        case Conditions():
            kept = [c for c in statement.conditions if all(map(_is_total, c.by_row.values()))]
            counts = any(_is_countable(q) for c in kept for q in c.by_row.values())
            return replace(statement, conditions=kept) if counts else None
        case Order():
            quantities = [quantity for _, quantity in statement.along]
            counts = any(map(_is_countable, quantities))
            return statement if counts and all(map(_is_total, quantities)) else None
        case Reference() | Average() | Input():
            return None
        case _:
            assert_never(statement)


def _is_total(quantity: Quantity) -> bool:
    """Return whether a quantity is taken from printed totals; a share of the MLPs is measured to begin with."""
    return not isinstance(quantity, MlpShare) and all(cell.column.measure.totalled for cell in cells_of(quantity))


def _is_countable(quantity: Quantity) -> bool:
    return all(cell.row.row.model is not None for cell in cells_of(quantity))
