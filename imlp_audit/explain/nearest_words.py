"""Telling which reading would give a printed number, and what in the text decides it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from imlp_audit.explain.layout import INDENT, Lines, counted, gap, table, words
from imlp_audit.explain.nearest import Found, Nearest
from imlp_audit.numbers.interval import readable
from imlp_audit.numbers.printed import Printed
from imlp_audit.solve.answer import Change
from imlp_audit.spec.readings import NamedReading


def told(search: Nearest, printed: Printed, readings: Mapping[str, NamedReading]) -> Lines:
    """Return the answer of a search; of `readings` the first is the one that changes are counted from."""
    first = next(iter(readings))
    lines = words(_head(search, printed.text, first))
    if search.fitting and not search.found[0].changes:
        return lines
    changed = list(dict.fromkeys(change for found in search.found for change in found.changes))
    return [*lines, *_listed(search.found, printed), *_reasons(changed, first, readings)]


def _head(search: Nearest, printed: str, first: str) -> str:
    whole, away = counted(search.readings, "reading"), len(search.found[0].changes)
    axes = "1 axis" if away == 1 else f"{away} axes"
    if not search.fitting:
        near = f"has {axes} changed from {first}" if away else f"is {first} itself"
        return f"None of all {whole} gives {printed}. The nearest miss {near}{_ways(search)}:"
    if not away:
        more = f"so do {readable(search.fitting - 1)}" if search.fitting > 1 else "none"
        return f"{first} does as it is, and {more} of the {readable(search.readings - 1)} others."
    return f"{readable(search.fitting)} of {whole} do. From {first}, at least {axes} must change{_ways(search)}:"


def _ways(search: Nearest) -> str:
    if search.ties == 1:
        return ""
    listed = f", of which {len(search.found)} are listed" if search.ties > len(search.found) else ""
    return f", in one of {readable(search.ties)} ways{listed}"


def _listed(found: Sequence[Found], printed: Printed) -> Lines:
    """Write each reading as its number, how far that is off, and what it has where the first reading has another."""
    one_way = len({one.convention for one in found}) == 1
    rows = [
        (readable(one.value), gap(printed.gap(one.value)), *([] if one_way else [one.convention]), _values(one))
        for one in found
    ]
    lines = table(rows, left=0, right=2)
    return [part for line in lines for part in words(line.removeprefix(INDENT), first=2 * INDENT, under=4 * INDENT)]


def _values(found: Found) -> str:
    return ", ".join(f"{change.axis} {change.becomes}" for change in found.changes)


def _reasons(changes: Sequence[Change], first: str, readings: Mapping[str, NamedReading]) -> Lines:
    """Quote, for each axis that changes, what the spec gives as the place that decides it."""
    lines: Lines = []
    for axis in dict.fromkeys(change.axis for change in changes):
        wanted = {change.becomes for change in changes if change.axis == axis}
        sources = [
            f"{choice.value} in {name} ({choice.because})"
            for name, reading in readings.items()
            if (choice := reading.choices.get(axis)) is not None and (name == first or str(choice.value) in wanted)
        ]
        lines += words(f"{axis}: {'; '.join(sources)}", under=2 * INDENT)
    return lines
