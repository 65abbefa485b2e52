"""Turns counted rows into a problem: cells as ranges of integers, and the readings and conventions that have names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, Convention, ParameterConvention, parse_weight_key
from imlp_audit.models.hosts.host import Size
from imlp_audit.models.own_axes import OwnFamily
from imlp_audit.models.reading import AnyReading, Family
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import Interval
from imlp_audit.numbers.printed import Rounding
from imlp_audit.solve.amounts import CLASSES, Amounts, parameters_in, total_in, work_in
from imlp_audit.solve.problem import Cell, CountedRow, Kind, SearchProblem, Space
from imlp_audit.solve.space import Readings
from imlp_audit.spec.columns import Measure, image_of
from imlp_audit.spec.paper import CellRef, Paper, RowRef
from imlp_audit.spec.schema import About

KINDS: Mapping[Measure, Kind] = {Measure.PARAMETERS: "parameters", Measure.FLOPS: "flops"}
TEXT = "as_written"
"""The name that specs give the reading of only the text."""


@dataclass(frozen=True)
class Posed:
    """A row, how its model is built, and the model's amounts under every reading of its family.

    Of a row with columns on other images there is one for each size; `image` is that of these columns.
    """

    row: RowRef
    recipe: Recipe
    table: Amounts
    image: Size | None = None

    @property
    def id(self) -> str:
        """The row's id, with the size of the images where it is a column's own."""
        return posed_id(self.row, self.image)


def posed_id(row: RowRef, image: Size | None) -> str:
    """Return the id of a row, with the size of the images where it is a column's own."""
    return row.id if image is None else f"{row.id} on {image[0]} x {image[1]}"


def pose(posed: Sequence[Posed], spaces: Mapping[str, Readings]) -> SearchProblem:
    """Return the problem; its classes are those in which some row does work."""
    done = [i for i in range(len(CLASSES)) if any(work_in(one.table)[:, i].any() for one in posed)]
    families = {one.recipe.family_name for one in posed}
    open_ = {family: readings for family, readings in spaces.items() if family in families}
    declared = [rule for one in posed for rule in _declared_rules(one.row.paper.about.value)]
    rules = tuple(dict.fromkeys((*declared, *Rounding)))
    named = _find_named(posed, open_)
    return SearchProblem(
        rows=tuple(_row(one, done) for one in posed),
        cells=tuple(cell for index, one in enumerate(posed) for cell in cells_of(one.row, index, one.image, rules)),
        spaces={family: _space(readings) for family, readings in open_.items()},
        classes=tuple(CLASSES[i] for i in done),
        named=named,
        text=TEXT if TEXT in named else None,
        families={one.id: one.recipe.host.kin() for one in posed},
        hosts={one.id: Recipe(host=one.recipe.host).name for one in posed},
    )


def _declared_rules(about: About) -> Iterator[Rounding]:
    yield from about.rounding
    for rules in about.rounding_of.values():
        yield from rules


def images_of(row: RowRef) -> list[Size | None]:
    """Return the images that a row's printed totals are of, None for the row's own."""
    columns = (CellRef(row, name).column for name in row.row.printed)
    return list(dict.fromkeys(image_of(column) for column in columns if column.measure in KINDS))


def cells_of(
    row: RowRef, index: int, image: Size | None, rules: Sequence[Rounding] = tuple(Rounding)
) -> Iterator[Cell]:
    """Yield the printed totals of a row on some images, which is at an index of the problem's rows.

    The first rule is the default.
    """
    for column in row.row.printed:
        cell = CellRef(row, column)
        kind = KINDS.get(cell.column.measure)
        if kind is not None and image_of(cell.column) == image:
            printed = cell.printed
            ranges = {rule: _integers(printed.interval(rule)) for rule in rules}
            yield Cell(cell.id, index, kind, ranges, printed.step * printed.scale)


def named_parts(papers: Sequence[Paper], family: Family) -> Iterator[AnyReading]:
    """Yield what the papers' named readings say about a family."""
    for paper in papers:
        for named in paper.about.value.readings.values():
            part = named.reading().of(family)
            if part is not None:
                yield part


def _row(one: Posed, classes: Sequence[int]) -> CountedRow:
    parameters = parameters_in(one.table)
    own = one.row.row.counted_by.get(Measure.PARAMETERS)
    if own is not None and own.convention in parameters:  # which counts it whatever counts the others
        parameters = dict.fromkeys(parameters, parameters[own.convention])
    return CountedRow(
        id=one.id,
        group=one.recipe.family_name or "",
        parameters=parameters,
        work=np.ascontiguousarray(work_in(one.table)[:, classes]),
        totals={
            c.name: total_in(one.table, c)
            for c in _conventions(one.row.paper)
            if not c.needs_classifier or ParameterConvention.NO_HEAD in parameters
        },
    )


def _conventions(paper: Paper) -> Iterator[Convention]:
    """Yield the named conventions for FLOPs: the built-in ones and the paper's own."""
    yield from FLOPS_CONVENTIONS.values()
    for name, weights in paper.about.value.conventions.items():
        yield Convention(name, {parse_weight_key(key): weight for key, weight in weights.items()})


def _integers(interval: Interval) -> tuple[int, int]:
    """Return the least and the largest integer of an interval."""
    least, most = ceil(interval.low), floor(interval.high)
    return (
        least + (least == interval.low and not interval.low_closed),
        most - (most == interval.high and not interval.high_closed),
    )


def _space(readings: Readings) -> Space:
    return Space(tuple((axis, tuple(map(str, values))) for axis, values in readings.axes.items()))


def _find_named(posed: Sequence[Posed], spaces: Mapping[str, Readings]) -> dict[str, dict[str, int]]:
    """Return where the named readings are; a name that papers use for different readings carries the paper's id."""
    found: dict[str, dict[str, int]] = {}
    for paper in {one.row.paper.id: one.row.paper for one in posed}.values():
        own = {one.recipe.family_name for one in posed if one.row.paper is paper}
        for name, named in paper.about.value.readings.items():
            reading = named.reading()
            at = {
                family: readings.index(part)
                for family, readings in spaces.items()
                if not isinstance(readings.family, OwnFamily) or family in own  # another paper's block has no answers
                if (part := reading.of(readings.family)) is not None
            }
            taken = any(found.get(name, {}).get(family, index) != index for family, index in at.items())
            if at:
                found.setdefault(f"{paper.id}:{name}" if taken else name, {}).update(at)
    return found
