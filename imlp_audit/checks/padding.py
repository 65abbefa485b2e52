"""Printed integers with a ".0" behind them: 21.0 for what counts to 20.65. A hint for the reader, never a pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.printed import Countable, countable, totalled_cells
from imlp_audit.checks.votes import frame_of
from imlp_audit.numbers.interval import readable
from imlp_audit.spec.paper import rows_of_table

_LEAST = 2  # numbers: one alone says nothing


def find_padding(counted: Countable, context: Context) -> Iterator[str]:
    """Yield a hint where all numbers of the row, or of the column, that end in .0 follow once they are integers.

    Either no number of the group has other decimals, or several of these follow only as integers: a 16.0 among others
    that are right to a digit is wrong.
    """
    value = _follow(counted, context, Fraction(1)) if _is_padded(counted) else None
    if value is None:
        return
    whole, row = readable(abs(counted.cell.printed.value)), _count_integers(totalled_cells(counted.cell.row), context)
    for group, padded in (("row", row), ("column", row or _of_column(counted, context))):
        if padded:
            yield (
                f"{readable(value)} would be printed as {whole}: the {padded} numbers of the {group} that end in "
                ".0 all fit as integers, so the zeros may be no digits"
            )
            return


def _of_column(counted: Countable, context: Context) -> int:
    """Return how many numbers of a column speak for integers, which is asked once for a column."""
    row, name = counted.cell.row, counted.cell.column_id
    key = ("padded", row.table.value.table, name, row.paper.id)
    if key not in context.remembered:
        cells = (one.cell(name) for one in rows_of_table(row.paper, row.table))
        column = [found for cell in cells if cell is not None and isinstance(found := countable(cell), Countable)]
        context.remembered[key] = _count_integers(column, context)
    return context.remembered[key]


def _is_padded(one: Countable) -> bool:
    """Return whether a total is an integer with decimals behind it."""
    printed = one.cell.printed
    return one.cell.column.measure.totalled and printed.step < 1 and printed.value.denominator == 1


def _count_integers(every: Sequence[Countable], context: Context) -> int:
    """Return how many numbers of a group are padded, if they speak for integers; else 0."""
    padded = [one for one in every if _is_padded(one)]
    if len(padded) < _LEAST or any(_follow(one, context, Fraction(1)) is None for one in padded):
        return 0
    only = sum(_follow(one, context, one.cell.printed.step) is None for one in padded)
    return len(padded) if len(padded) == len(every) or only >= _LEAST else 0


def _follow(one: Countable, context: Context, step: Fraction) -> Fraction | None:
    """Return the allowed measurement that a number stands for if it is exact to `step`; None where there is none."""
    printed, frame = replace(one.cell.printed, step=step), frame_of(one.cell, context)
    intervals = [printed.interval(rule) for rule in frame.roundings]
    try:
        declared, _ = context.measurements(one.cell.row, one.recipe, one.cell.column)
    except NotMeasuredError:
        return None
    allowed = (m for m in frame.select(declared) if not m.uncounted)
    return next((m.value for m in allowed if any(m.value in interval for interval in intervals)), None)
