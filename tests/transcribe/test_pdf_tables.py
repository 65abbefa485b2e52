"""Tables of a PDF: what stands between rules is read in rows and columns, and what is uncertain is named."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imlp_audit.transcribe.grid import SourceTable
from imlp_audit.transcribe.pdf import read_pdf
from tests.transcribe.pdfs import Draw, Page, Put, make_pdf, put_table

HEAD = ["Model", "Params (M)", "Top-1"]
ROWS = [HEAD, ["DeiT-S", "22.1", "79.8"], ["Swin-T", "28.3", "81.3"]]
PLACES = [60, 160, 260]
CAPTION = Put(60, 700, "Table 2: Results on ImageNet-1k.")


def _tables(*pages: Page) -> tuple[SourceTable, ...]:
    return read_pdf(make_pdf(*pages), "x.pdf").tables


def _rows(table: SourceTable) -> list[list[str]]:
    return [list(row.cells) for row in table.rows]


CELLS = st.one_of(
    st.decimals(-999, 999, places=2).map(str),
    st.text("ABCabc019./()-", min_size=1, max_size=8),
    st.just("two words"),
)


@settings(max_examples=20)
@given(st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=2, max_size=5)))
def test_what_was_written_is_read(grid: list[list[str]]) -> None:
    grid = [[f"{cell}:{at}" for at, cell in enumerate(grid[0])], *grid[1:]]  # no heading is twice in a table
    (table,) = _tables(put_table(grid, [60 + 90 * n for n in range(len(grid[0]))], 690))
    assert [list(table.headings), *_rows(table)] == grid


def test_a_line_over_all_columns_is_a_title() -> None:
    page = put_table([["", "(a) ImageNet-1K", ""], *ROWS], PLACES, 690, ruled=(1, 2))
    (table,) = _tables(page)
    assert table.headings == tuple(HEAD)
    assert [row.single for row in table.rows] == ["(a) ImageNet-1K", None, None]


@pytest.mark.parametrize("y", [712, 620], ids=["above", "below"])
def test_a_table_has_the_number_and_the_text_of_the_caption_next_to_it(y: float) -> None:
    caption = [Put(60, y, CAPTION.text), Put(60, y - 12, "It has a second line.")]
    page = [*put_table(ROWS, PLACES, 690), *caption, Put(60, 500, "Table 2 shows that the text goes on.")]
    (table,) = _tables([], page)
    assert (table.number, table.place) == ("2", "page 2")
    assert table.caption == "Results on ImageNet-1k. It has a second line."


def test_tables_of_one_width_are_parted_by_the_caption_between_them() -> None:
    page = [CAPTION, *put_table(ROWS, PLACES, 695), Put(60, 600, "Table 3. More"), *put_table(ROWS[:2], PLACES, 595)]
    assert [(one.number, len(one.rows)) for one in _tables(page)] == [("2", 2), ("3", 1)]


def test_a_heading_is_over_the_columns_of_the_short_rule_below_it() -> None:
    grid = [["", "ImageNet", ""], ["Model", "V1", "V2"], ["DeiT-S", "79.8", "68.5"]]
    page = [*put_table(grid, PLACES, 690, ruled=(2,)), Draw(155, 300, 674)]
    (table,) = _tables(page)
    assert table.headings == ("Model", "ImageNet V1", "ImageNet V2")


def test_a_heading_between_rows_is_no_row_of_numbers() -> None:
    grid = [HEAD, ["", "Transformers"], *ROWS[1:]]
    (table,) = _tables(put_table(grid, PLACES, 690))
    assert [row.single for row in table.rows] == ["Transformers", None, None]


def test_what_is_uncertain_is_named() -> None:
    page = put_table([*ROWS, ["PVT", "5", "75.1"]], PLACES, 690)
    (table,) = _tables([*page, Put(215, 634, "?")])
    assert table.notes == ("read from the places of characters: compare every number with page 1 of x.pdf",)
    assert [row.doubt for row in table.rows] == [None, None, "'?' stands between two columns"]


def test_a_table_without_rules_is_named_and_not_guessed() -> None:
    page = [one for one in put_table(ROWS, PLACES, 690) if isinstance(one, Put)]
    document = read_pdf(make_pdf([CAPTION, *page]), "x.pdf")
    assert (document.tables, document.notes) == ((), ("page 1: Table 2 has no rules that init can follow",))
