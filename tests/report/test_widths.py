"""What is shown on a terminal: no line is wider than it, no word is cut, and nothing is lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from imlp_audit.report.document import Align, Heading, Item, List, Paragraph, Table
from imlp_audit.report.terminal import Surface, render_terminal

WIDTHS = (60, 80, 200)
WORDS = st.text("abcdefgh", min_size=1, max_size=16)
PROSE = st.lists(WORDS, max_size=30).map(" ".join)
IDS = st.lists(WORDS, min_size=1, max_size=3).map("/".join)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """A table of ids, prose and numbers: up to eight columns."""
    kinds = draw(st.lists(st.sampled_from((IDS, PROSE, WORDS)), min_size=1, max_size=8))
    header = tuple(draw(WORDS) for _ in kinds)
    rows = draw(st.lists(st.tuples(*kinds), max_size=4))
    aligns = tuple(Align.RIGHT if kind is WORDS else Align.LEFT for kind in kinds)
    return Table(header, tuple(rows), aligns)


def words_of(text: str) -> set[str]:
    return {word.strip("-:;─") for word in re.findall(r"\S+", text)} - {""}


@pytest.mark.parametrize("width", WIDTHS)
@given(table=tables())
def test_a_table_fits_and_keeps_its_words(width: int, table: Table) -> None:
    shown = render_terminal((table,), Surface(width))
    assert all(cell_len(line) <= width for line in shown.splitlines())
    words = {word for row in table.rows for cell in row for word in str(cell).split()}
    if max(map(len, words), default=0) <= 44:  # a column gives a word as much before it breaks it
        assert words <= words_of(shown)
    assert not [word for word in words if "/" not in word and word not in words_of(shown)]


@pytest.mark.parametrize("width", WIDTHS)
@given(texts=st.lists(PROSE, min_size=1, max_size=4), label=WORDS)
def test_prose_and_lists_fit_and_keep_their_words(width: int, texts: list[str], label: str) -> None:
    entries = List((Item(texts[0], tuple(texts), label=label), Item(texts[-1], (Item(texts[0], tuple(texts)),))))
    shown = render_terminal((Heading(texts[0]), Paragraph(texts[-1]), entries), Surface(width))
    assert all(cell_len(line) <= width for line in shown.splitlines())
    assert {word for text in texts for word in text.split()} <= words_of(shown)


def test_a_number_is_not_broken_between_its_digits() -> None:
    def wrap(text: str) -> list[str]:
        return render_terminal((Paragraph(text),), Surface(16)).splitlines()

    assert wrap("outside [5 717 416, 5 717 417)") == ["outside", "[5 717 416,", "5 717 417)"]
    assert wrap("there are 5 717 416 of them") == ["there are", "5 717 416 of", "them"]


def test_a_wide_table_is_a_list() -> None:
    header = ("model", "column", "printed", "verdict")
    row = ("DeiT-Ti + IMLP", "Parameters (M)", "5.00", "reproduced under released")
    align = (Align.LEFT, Align.LEFT, Align.RIGHT, Align.LEFT)
    wide = Table(header, (row, ("", *row[1:])), align)
    assert len(render_terminal((wide,), Surface(80)).splitlines()) == 4
    assert render_terminal((wide,), Surface(40)).splitlines() == [
        "- DeiT-Ti + IMLP",
        "  - column: Parameters (M); printed:",
        "    5.00; verdict: reproduced under",
        "    released",
        "- Parameters (M)",
        "  - printed: 5.00; verdict: reproduced",
        "    under released",
    ]
