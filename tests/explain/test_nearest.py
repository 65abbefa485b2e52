from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from imlp_audit.checks.context import Conventions
from imlp_audit.explain.cells import SHOWN, nearest, search_readings
from imlp_audit.explain.explanation_document import describe_section
from imlp_audit.models.blocks import Part
from imlp_audit.models.readings import ClassToken, Reading
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.explanation import AxisSource, NearestReadings, NearReading, ReadingSearch
from imlp_audit.records.solution import SolvedChange
from imlp_audit.report.document import Paragraph, plain_text
from imlp_audit.solve.space import readings_of
from imlp_audit.spec.paper import CellRef, find_row
from tests.explain.papers import IMLP, paper, row
from tests.models import formulas
from tests.models.readings import AS_WRITTEN, AXES

HALF_UP = (Rounding.HALF_UP,)


def cell(folder: Path, printed: str, model: str = IMLP, column: str = "params") -> CellRef:
    selection = paper(folder, row("one", "One", model, f"{column}: {printed}"))
    found = find_row(selection.papers, "small/1/one")
    assert found is not None
    return CellRef(found, column)


def search(folder: Path, printed: str, **options: str) -> ReadingSearch:
    found = nearest(cell(folder, printed, **options), "as_written", ["all"], HALF_UP)
    assert found is not None
    return found


def size(reading: Reading) -> int:
    """Return DeiT-Ti's parameters with 3 x 3 IMLP blocks by the formulas of tests/models."""
    host = formulas.deit(192, class_token=reading.class_token is ClassToken.KEPT) - 12 * formulas.mlp(192)
    return host + 12 * formulas.imlp(192, 384, 3, Part.CHANNEL_AND_SPATIAL, reading)


@cache
def every_size() -> list[tuple[int, int, Reading]]:
    """Return the size and the number of changes from the text of every reading, in order."""
    readings = readings_of("imlp")
    every = [readings.at(places) for places in np.ndindex(*readings.shape)]
    assert all(isinstance(one, Reading) for one in every)
    return [
        (size(one), sum(getattr(one, axis) != getattr(AS_WRITTEN, axis) for axis in AXES), one)
        for one in every
        if isinstance(one, Reading)
    ]


@pytest.mark.parametrize(
    "printed", ["5.00", "4.9982", *(pytest.param(p, marks=pytest.mark.slow) for p in ("4.99", "5.0"))]
)
def test_the_answer_equals_that_of_trying_every_reading(tmp_path: Path, printed: str) -> None:
    interval = parse_printed(printed, "M").interval()
    fitting = [(value, away) for value, away, _ in every_size() if value in interval]
    fewest = min(away for _, away in fitting)
    found = search(tmp_path, printed)
    assert (found.readings, found.fitting) == (2304, len(fitting))
    assert found.ties == sum(away == fewest for _, away in fitting)
    assert len(found.found) == min(found.ties, SHOWN)
    for one in found.found:
        assert len(one.changes) == fewest
        assert one.value in interval
        changed = {change.axis: change.becomes for change in one.changes}
        assert one.value in {value for value, away, r in every_size() if away == fewest and _is(r, changed)}


def _is(reading: Reading, changed: dict[str, str]) -> bool:
    return all(str(getattr(reading, axis)) == changed.get(axis, getattr(AS_WRITTEN, axis)) for axis in AXES)


def test_the_nearest_miss_is_found_if_no_reading_fits(tmp_path: Path) -> None:
    found = search(tmp_path, "4.00")
    sizes = every_size()
    least = min(value for value, _, _ in sizes)
    assert found.fitting == 0
    assert {one.value for one in found.found} == {least}
    assert len(found.found[0].changes) == min(away for value, away, _ in sizes if value == least)


def test_values_of_named_readings_come_first(tmp_path: Path) -> None:
    found = search(tmp_path, "4.9982")
    assert found.found[0].changes == (
        SolvedChange(axis="concat_norm", was="none", becomes="layer"),
        SolvedChange(axis="output_norm", was="none", becomes="layer"),
        SolvedChange(axis="class_token", was="kept", becomes="removed"),
    )
    assert found.found[1].changes[0] == SolvedChange(axis="concat_norm", was="none", becomes="batch")


@pytest.mark.slow
def test_every_declared_convention_and_rounding_is_tried(tmp_path: Path) -> None:
    asked = cell(tmp_path, "4.79")
    alone, both = (nearest(asked, "as_written", names, HALF_UP) for names in (["all"], ["all", "no_head"]))
    assert alone is not None
    assert both is not None
    heads = 192 * 1000 + 1000
    interval = asked.printed.interval()
    assert both.fitting == sum(value in interval or value - heads in interval for value, _, _ in every_size())
    assert alone.fitting < both.fitting
    cut = nearest(asked, "as_written", ["no_head"], (Rounding.TRUNCATION,))
    assert cut is not None
    assert cut.fitting == sum(
        value - heads in asked.printed.interval(Rounding.TRUNCATION) for value, _, _ in every_size()
    )


def test_work_is_searched_by_conventions_of_work(tmp_path: Path) -> None:
    asked = cell(tmp_path, "1.10", column="flops")
    found = nearest(asked, "as_written", ["macs", "fvcore"], HALF_UP)
    assert found is not None
    assert found.found[0].convention == "macs"
    assert found.found[0].changes == ()


def answer(folder: Path, printed: str) -> NearestReadings:
    asked = cell(folder, printed)
    (found,) = search_readings(asked, Conventions(asked.row.paper.about.value))
    return found


def sentence(found: NearestReadings) -> str:
    """Return the sentence that says which readings fit."""
    texts = [plain_text(block.text) for block in describe_section(found) if isinstance(block, Paragraph)]
    return texts[0]


def test_an_answer_names_the_ways_and_their_sources(tmp_path: Path) -> None:
    found = answer(tmp_path, "4.9982")
    fitting = sum(value in parse_printed("4.9982", "M").interval() for value, _, _ in every_size())
    assert sentence(found) == (
        f"{fitting} of 2 304 readings give 4.9982. At least 3 axes of as_written must change, in one of 2 ways:"
    )
    assert found.search is not None
    assert [(one.value, one.gap) for one in found.search.found] == [(4998184, "-0.2"), (4998184, "-0.2")]
    concat_norm = [one for one in found.sources if one.axis == "concat_norm"]
    assert concat_norm == [
        AxisSource(axis="concat_norm", value="none", reading="as_written", because="text of concat_norm"),
        AxisSource(axis="concat_norm", value="layer", reading="released", because="code of concat_norm"),
    ]
    assert list(dict.fromkeys(one.axis for one in found.sources)) == ["concat_norm", "output_norm", "class_token"]


def test_the_sentence_if_the_first_reading_fits(tmp_path: Path) -> None:
    fitting = sum(value in parse_printed("4.98", "M").interval() for value, _, _ in every_size())
    assert sentence(answer(tmp_path, "4.98")) == (
        f"as_written gives 4.98, and so do {fitting - 1} of the 2 303 others."
    )


def test_the_sentence_if_no_reading_fits(tmp_path: Path) -> None:
    found = answer(tmp_path, "9.99")
    assert sentence(found).startswith(
        "None of all 2 304 readings gives 9.99. The nearest miss differs from as_written on "
    )
    gap = (Fraction(max(value for value, _, _ in every_size()), 10**6) - Fraction("9.99")) * 100
    assert found.search is not None
    assert {one.gap for one in found.search.found} == {f"{float(gap):.1f}"}


@pytest.mark.parametrize(
    ("fitting", "readings", "text"),
    [
        (1, 3, "first gives 5, and no other reading does."),
        (2, 2, "first gives 5, and so does the only other reading."),
        (3, 3, "first gives 5, and so do all 2 others."),
        (2, 4, "first gives 5, and so does 1 of the 3 others."),
    ],
)
def test_singular_and_plural(fitting: int, readings: int, text: str) -> None:
    near = NearReading(value=5, gap="0.0", convention="all", rounding=Rounding.HALF_UP, changes=())
    search = ReadingSearch(readings=readings, fitting=fitting, ties=1, found=(near,))
    assert sentence(NearestReadings(printed="5", first="first", search=search)) == text
