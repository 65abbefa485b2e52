"""Numbers that nothing guards: each could be another one without any check noticing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from imlp_audit.checks.claims import models_of_claim
from imlp_audit.checks.context import Context
from imlp_audit.checks.run import run_check
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.numbers.printed import Printed
from imlp_audit.records.check import FAILS, Check
from imlp_audit.spec.columns import MemoryColumn
from imlp_audit.spec.paper import CellRef
from imlp_audit.spec.plan import CellPlan, ClaimPlan, DeltaPlan, Plan, RepeatPlan

Finding = tuple[str | None, ...] | None
OFFSETS = (10, -10, 1, -1)
"""Last digits that a number is changed by to see whether a check notices."""


def shift_text(printed: Printed, digits: int) -> str | None:
    """Return a number so many last digits away, written alike; None if it would change its sign or reach 0."""
    value = printed.value + digits * printed.step
    if value == 0 or (value < 0) != (printed.value < 0):
        return None
    return printed.write(abs(value))


def mark_unguarded(
    checks: Iterable[Check], plans: Iterable[Plan], known: Iterable[Plan], context: Context
) -> list[Check]:
    """Return the checks, those of numbers that the tool cannot count marked by whether no other check guards them.

    `plans` are the checks' own, `known` all that may notice a change, whether they were selected or not.
    """
    own = {plan.id: plan for plan in plans if isinstance(plan, CellPlan) and is_uncounted(plan.cell)}
    others = (plan for plan in known if not isinstance(plan, CellPlan))
    guards = Guards.among([*own.values(), *others], own, context)
    found = {name: not any(guards.notice(plan.cell, digits) for digits in OFFSETS) for name, plan in own.items()}
    return [check.model_copy(update={"unguarded": found[check.id]}) if check.id in found else check for check in checks]


def is_uncounted(cell: CellRef) -> bool:
    """Return whether a number needs weights, data or hardware, so that its own check cannot settle it."""
    return not cell.column.measure.counted


@dataclass(frozen=True)
class Guards:
    """The checks that cells' numbers have a part in, by the cells' ids, each with what it finds as printed."""

    by_cell: Mapping[str, Sequence[tuple[Plan, Finding]]]
    context: Context

    @classmethod
    def among(cls, plans: Iterable[Plan], cells: Container[str], context: Context) -> Guards:
        """Return the guards of some cells among checks."""
        guards: defaultdict[str, list[tuple[Plan, Finding]]] = defaultdict(list)
        for plan in plans:
            guarded = [cell.id for cell in _cells_of(plan) if cell.id in cells]
            if guarded:
                found = _finding(plan, context)
                for name in guarded:
                    guards[name].append((plan, found))
        return cls(guards, context)

    def notice(self, cell: CellRef, digits: int) -> bool:
        """Return whether a check comes out otherwise if a number is changed by so many last digits."""
        text = shift_text(cell.printed, digits)
        if text is None:
            return False
        context = replace(self.context, changed={cell.id: parse_printed(text, cell.form)})
        return any(found != _finding(plan, context) for plan, found in self.by_cell.get(cell.id, ()))


def _cells_of(plan: Plan) -> Iterable[CellRef]:
    """Return the cells of which a check looks at the printed number."""
    match plan:
        case CellPlan() if isinstance(plan.cell.column, MemoryColumn) and plan.cell.row.row.model is not None:
            return (plan.cell,)  # which is bounded from below by what the model needs
        case DeltaPlan(measured=False):
            return plan.cell, plan.base
        case RepeatPlan(delta=False):
            return plan.cell, plan.other
        case ClaimPlan(measured=False) if not any(True for _ in models_of_claim(plan)):
            return {cell.id: cell for statement in plan.meanings.all for cell in statement.cells}.values()
        case _:
            return ()


def _finding(guard: Plan, context: Context) -> Finding:
    """Return what a failing check is known by; a check that passes or decides nothing says nothing of a number."""
    check = run_check(guard, context)
    return (check.verdict, check.printed, getattr(check, "measured", None)) if check.verdict in FAILS else None
