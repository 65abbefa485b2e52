"""Printed integers with a ".0" behind them: 21.0 for what counts to 20.65. A hint for the reader, never a pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.printed import Countable, countable, totalled_cells
from imlp_audit.checks.votes import frame_of
from imlp_audit.numbers.interval import readable
from imlp_audit.spec.references import rows_of_table

_LEAST = 2  # numbers: one alone says nothing


def find_padding(counted: Countable, context: Context) -> Iterator[str]:
    """Yield a hint where all numbers of the row, or of the column, that end in .0 follow once they are integers.

    Either no number of the group has other decimals, or several of these follow only as integers: a 16.0 among others
    that are right to a digit is wrong.
    """
    if not _is_padded(counted):
        return
    row, name = counted.cell.row, counted.cell.column_id
    cells = (one.cell(name) for one in rows_of_table(row.paper, row.table))
    column = [found for cell in cells if cell is not None and isinstance(found := countable(cell), Countable)]
    for group, every in (("row", totalled_cells(row)), ("column", column)):
        padded = [one for one in every if _is_padded(one)]
        value = _follow(counted, context, Fraction(1))
        if value is not None and _are_integers(padded, every, context):
            whole = readable(abs(counted.cell.printed.value))
            yield (
                f"{readable(value)} would be printed as {whole}: the {len(padded)} numbers of the {group} that end in "
                ".0 all fit as integers, so the zeros may be no digits"
            )
            return


def _is_padded(one: Countable) -> bool:
    """Return whether a total is an integer with decimals behind it."""
    printed = one.cell.printed
    return one.cell.column.measure.totalled and printed.step < 1 and printed.value.denominator == 1


def _are_integers(padded: Sequence[Countable], every: Sequence[Countable], context: Context) -> bool:
    """Return whether the padded numbers of a group speak for integers."""
    if len(padded) < _LEAST or any(_follow(one, context, Fraction(1)) is None for one in padded):
        return False
    only = sum(_follow(one, context, one.cell.printed.step) is None for one in padded)
    return len(padded) == len(every) or only >= _LEAST


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
