"""Looking up what a claim names; every name that leads nowhere is a problem at its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from imlp_audit.errors import Problem, did_you_mean
from imlp_audit.numbers.forms import DecimalMark, NumberForm, parse_printed
from imlp_audit.numbers.printed import Printed
from imlp_audit.spec.quantities import MissingError, Quantity, QuantityEntry, find_quantities
from imlp_audit.spec.references import CellRef, RowRef, find_cell, find_rows, rows_of
from imlp_audit.spec.tree import Located

if TYPE_CHECKING:
    from imlp_audit.spec.paper import Paper


class Lookup:
    """Looks up what an entry names, and collects the problems."""

    def __init__(self, located: Located[object], papers: Sequence[Paper], decimal: DecimalMark = ".") -> None:
        self.problems: list[Problem] = []
        self._decimal: DecimalMark = decimal
        self._located, self._papers = located, papers

    def rows(self, globs: Sequence[str]) -> list[RowRef]:
        """Return the rows that match the globs, each once."""
        rows: dict[str, RowRef] = {}
        for index, glob in enumerate(globs):
            found = find_rows(self._papers, glob)
            rows.update((row.id, row) for row in found)
            if not found:
                known = [row.id for paper in self._papers for row in rows_of(paper)]
                self.report(f"no row {glob!r}; {did_you_mean(glob, known)}", "rows", index)
        return list(rows.values())

    def quantities(
        self, entry: QuantityEntry, rows: Sequence[RowRef], *path: str | int
    ) -> list[tuple[RowRef, Quantity]]:
        """Return the quantity of each row that has one; none where something is missing."""
        try:
            quantities = find_quantities(entry, rows, self._papers)
        except MissingError as error:
            self.report(str(error), *path, entry.kind)
            return []
        return list(zip(rows[len(rows) - len(quantities) :], quantities, strict=True))

    def cell(self, name: str, *path: str | int) -> CellRef | None:
        """Return the cell of a full id."""
        cell = find_cell(self._papers, name)
        if cell is None:
            self.report(f"no cell {name!r}", *path)
        return cell

    def number(self, text: str, unit: str, *path: str | int) -> Printed | None:
        """Return a printed number."""
        try:
            number = parse_printed(text, NumberForm(unit, self._decimal))
            if number.spread is not None:
                raise ValueError(f"{text!r} has a spread; what a claim compares with is one number")
            return number
        except ValueError as error:
            self.report(str(error), *path)
            return None

    def report(self, message: str, *path: str | int) -> None:
        """Note a problem with the entry, or with a value below it."""
        self.problems.append(self._located.problem(message, *path))
