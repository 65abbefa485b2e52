"""A total over a model: where it comes from, its closed formula, and the reading that would give what is printed."""

from __future__ import annotations

from collections.abc import Iterator

from imlp_audit.checks.context import Conventions
from imlp_audit.errors import AuditError
from imlp_audit.explain.formula import formula
from imlp_audit.explain.layout import Lines, words
from imlp_audit.explain.nearest import Nearest, nearest
from imlp_audit.explain.nearest_words import told
from imlp_audit.explain.origin import Decided, origin
from imlp_audit.models.hosts.host import Stack
from imlp_audit.records.check import Check
from imlp_audit.spec.references import CellRef

_WHICH = "Which readings give the printed number (`imlp-audit solve` asks this of all numbers together)"


def anatomy(check: Check, cell: CellRef, read: Conventions) -> Iterator[Lines]:
    """Yield what a measured total is made of, under the reading and convention that decide the check."""
    from imlp_audit.explain.dissect import dissect  # torch takes seconds to import

    decided = Decided(cell, check, read)
    body = dissect(decided.recipe, decided.reading)
    yield from origin(decided, body)
    yield formula(decided.recipe, decided.reading, body, decided.counting)
    yield which_readings(cell, read)


def which_readings(cell: CellRef, read: Conventions) -> Lines:
    """Return which of all readings give the printed number."""
    found = _search(cell, read, free_widths=False)
    if isinstance(found, str):
        return [_WHICH, *words(f"That could not be searched: {found}")]
    if found is None:
        return []
    lines = [_WHICH, *told(found, cell.printed, read.about.readings)]
    host = cell.row.row.model.host if cell.row.row.model is not None else None
    freed = host.with_open_width() if isinstance(host, Stack) else None
    if found.fitting or freed is None or freed == host:
        return lines
    freer = _search(cell, read, free_widths=True)
    if freer is None or isinstance(freer, str):
        return lines
    told_freer = told(freer, cell.printed, read.about.readings)
    return [*lines, *words("With the row's D_C open as well:"), *told_freer]


def _search(cell: CellRef, read: Conventions, *, free_widths: bool) -> Nearest | str | None:
    """Return the answer of a search, None where nothing is open, or why there is none."""
    named = list(read.about.readings)
    conventions = [str(name) for name in read.declared_for(cell.row.row, cell.column)]
    try:
        return nearest(cell, named[0], conventions, read.roundings, free_widths=free_widths) if named else None
    except AuditError as error:
        return str(error)
