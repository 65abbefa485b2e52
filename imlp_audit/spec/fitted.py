"""What a spec says that its conventions were fitted on: cells that are there, and scores that are possible."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator

from imlp_audit.errors import Problem, did_you_mean
from imlp_audit.numbers.words import count_of
from imlp_audit.spec.columns import FlopsColumn, Measure
from imlp_audit.spec.paper import Paper
from imlp_audit.spec.references import CellRef, rows_of
from imlp_audit.spec.schema import ConventionFit


def broken_fits(paper: Paper) -> Iterator[Problem]:
    """Yield what is wrong with what conventions were fitted on."""
    about = paper.about.value
    for name, fit in about.fitted.items():
        if name not in about.conventions:
            message = f"no convention is called {name!r}; {did_you_mean(name, about.conventions)}"
            yield paper.about.problem(message, "fitted", name)
        if about.flops[0] == name:  # all that follows from a default is plainly reproduced
            message = f"{name} was fitted and cannot be the default; put a named counter first, such as fvcore"
            yield paper.about.problem(message, "flops", 0)
        unmatched = list(_unmatched(paper, name, fit))
        yield from unmatched or _impossible_scores(paper, name, fit)


def _unmatched(paper: Paper, name: str, fit: ConventionFit) -> Iterator[Problem]:
    """Yield the globs that match no cell of FLOPs, or among those that are undecided none of the fit's cells."""
    cells = [cell.id for cell in _flops(paper)]
    fitted = {cell for glob in fit.cells for cell in fnmatch.filter(cells, glob)}
    for key, globs in (("cells", fit.cells), ("undecided", fit.undecided)):
        for index, glob in enumerate(globs):
            found = fnmatch.filter(cells, glob)
            if not found:
                message = f"no cell of FLOPs matches {glob!r}; give ids or globs such as {paper.id}/1/*/flops"
                yield paper.about.problem(message, "fitted", name, key, index)
            elif not fitted.intersection(found):
                message = f"{glob!r} is none of the cells that {name} was fitted on; add it to `cells`, or leave it out"
                yield paper.about.problem(message, "fitted", name, key, index)


def _impossible_scores(paper: Paper, name: str, fit: ConventionFit) -> Iterator[Problem]:
    """Yield scores above the number of cells, and a number of cells that the search cannot have had.

    It had the cells of FLOPs that the globs match, except those whose row states another counter, and possibly sizes.
    """
    for key, score in (("explained", fit.explained), ("by_chance", fit.by_chance)):
        if score > fit.of:
            yield paper.about.problem(f"{key} is {score} of {fit.of}; it cannot be more than `of`", "fitted", name, key)
    flops = [cell for cell in _flops(paper) if cell.row.row.model is not None]
    least = sum(any(fnmatch.fnmatch(cell.id, glob) for glob in fit.cells) and _may_be_by(cell, name) for cell in flops)
    most = least + _sizes(paper)
    if not least <= fit.of <= most:
        sizes = f", or up to {most} with the paper's sizes" if most > least else ""
        message = (
            f"of is {fit.of}, but the globs match {count_of(least, 'cell')} that this counter may have counted{sizes}"
        )
        yield paper.about.problem(message, "fitted", name, "of")


def _flops(paper: Paper) -> Iterator[CellRef]:
    for row in rows_of(paper):
        columns = row.table.value.columns
        yield from (CellRef(row, name) for name in row.row.printed if isinstance(columns.get(name), FlopsColumn))


def _may_be_by(cell: CellRef, convention: str) -> bool:
    """Return whether no other convention than this one is stated to have counted a cell of FLOPs."""
    stated = [own.convention for measure, own in cell.row.row.counted_by.items() if measure is Measure.FLOPS]
    return stated in ([], [convention])


def _sizes(paper: Paper) -> int:
    """Return how many numbers of parameters the paper prints for models that can be built."""
    return sum(
        column in row.table.value.columns and row.table.value.columns[column].measure is Measure.PARAMETERS
        for row in rows_of(paper)
        if row.row.model is not None
        for column in row.row.printed
    )
