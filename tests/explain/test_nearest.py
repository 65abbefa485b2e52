from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from imlp_audit.errors import BuildError
from imlp_audit.explain.nearest import SHOWN, Counting, Nearest, nearest
from imlp_audit.explain.nearest_words import told
from imlp_audit.models.reading import ClassToken, Reading
from imlp_audit.models.recipe import Part
from imlp_audit.numbers.printed import Rounding, parse_printed
from imlp_audit.solve.answer import Change
from imlp_audit.solve.space import readings_of
from imlp_audit.spec.references import CellRef, find_row
from tests.explain.papers import DEIT, IMLP, paper, row
from tests.models import formulas
from tests.models.readings import AS_WRITTEN, AXES

HALF_UP = (Rounding.HALF_UP,)


def cell(folder: Path, printed: str, model: str = IMLP, column: str = "params") -> CellRef:
    selection = paper(folder, row("one", "One", model, f"{column}: {printed}"))
    found = find_row(selection.papers, "small/1/one")
    assert found is not None
    return CellRef(found, column)


def search(folder: Path, printed: str, **options: str) -> Nearest:
    found = nearest(cell(folder, printed, **options), "as_written", ["all"], HALF_UP)
    assert found is not None
    return found


def size(reading: Reading) -> int:
    """Return DeiT-Ti's parameters with 3 x 3 IMLP blocks by the formulas of another place."""
    host = formulas.deit(192, class_token=reading.class_token is ClassToken.KEPT) - 12 * formulas.mlp(192)
    return host + 12 * formulas.imlp(192, 384, 3, Part.CHANNEL_AND_SPATIAL, reading)


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


@pytest.mark.parametrize("printed", ["5.00", "4.99", "4.9982", "5.0"])
def test_the_answer_is_that_of_trying_every_reading(tmp_path: Path, printed: str) -> None:
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


def test_a_miss_is_how_far_a_count_is_from_what_prints_so() -> None:
    counting = Counting("all", Rounding.HALF_UP, np.array([7, 9, 10, 20, 21]), low=10, high=20)
    assert counting.miss.tolist() == [3, 1, 0, 0, 1]


def test_the_first_reading_itself_is_the_nearest_where_it_fits(tmp_path: Path) -> None:
    found = search(tmp_path, "4.98")
    assert (found.ties, found.found[0].changes, found.found[0].value) == (1, (), size(AS_WRITTEN))


def test_where_none_fits_the_nearest_miss_is_told(tmp_path: Path) -> None:
    found = search(tmp_path, "4.00")
    sizes = every_size()
    least = min(value for value, _, _ in sizes)
    assert found.fitting == 0
    assert {one.value for one in found.found} == {least}
    assert len(found.found[0].changes) == min(away for value, away, _ in sizes if value == least)


def test_values_that_a_named_reading_has_come_first(tmp_path: Path) -> None:
    found = search(tmp_path, "4.9982")
    assert found.found[0].changes == (
        Change("concat_norm", "none", "layer"),
        Change("output_norm", "none", "layer"),
        Change("class_token", "kept", "removed"),
    )
    assert found.found[1].changes[0] == Change("concat_norm", "none", "batch")


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


def test_nothing_is_searched_where_nothing_is_open(tmp_path: Path) -> None:
    assert nearest(cell(tmp_path, "5.72", DEIT), "as_written", ["all"], HALF_UP) is None


def test_a_model_that_cannot_be_built_says_so(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="timm has no model 'deit_tinny'"):
        nearest(cell(tmp_path, "5.72", "{timm: deit_tinny}"), "as_written", ["all"], HALF_UP)


def lines(folder: Path, printed: str) -> list[str]:
    asked = cell(folder, printed)
    found = nearest(asked, "as_written", ["all"], HALF_UP)
    assert found is not None
    return told(found, asked.printed, asked.row.paper.about.value.readings)


def test_the_answer_in_words_names_the_ways_and_what_decides(tmp_path: Path) -> None:
    head, *rest = lines(tmp_path, "4.9982")
    fitting = sum(value in parse_printed("4.9982", "M").interval() for value, _, _ in every_size())
    assert head == (
        f"  {fitting} of 2 304 readings do. From as_written, at least 3 axes must change, in one of 2 ways:"
    )
    assert rest == [
        "    4 998 184  -0.2  concat_norm layer, output_norm layer, class_token removed",
        "    4 998 184  -0.2  concat_norm batch, output_norm layer, class_token removed",
        "  concat_norm: none in as_written (text of concat_norm); layer in released (code of concat_norm)",
        "  output_norm: none in as_written (text of output_norm); layer in released (code of output_norm)",
        "  class_token: kept in as_written (text of class_token); removed in released (code of class_token)",
    ]


def test_the_words_where_the_first_reading_fits(tmp_path: Path) -> None:
    (line,) = lines(tmp_path, "4.98")
    fitting = sum(value in parse_printed("4.98", "M").interval() for value, _, _ in every_size())
    assert line == f"  as_written does as it is, and so do {fitting - 1} of the 2 303 others."


def test_the_words_where_none_fits(tmp_path: Path) -> None:
    head, *rest = lines(tmp_path, "9.99")
    assert head.startswith("  None of all 2 304 readings gives 9.99. The nearest miss has ")
    gap = (Fraction(max(value for value, _, _ in every_size()), 10**6) - Fraction("9.99")) * 100
    assert f" {float(gap):.1f}  " in "\n".join(rest)
