"""Lines of a terminal: every character keeps its style wherever a line is cut, and only spaces at its end are lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from imlp_audit.report.lines import Line, cut, plain, restyle, strip_end, styled, width_of

STYLED = st.tuples(st.text("ab 中é", max_size=6), st.sampled_from(("", "bold", "green")))
LINES = st.lists(STYLED, max_size=5).map(tuple)


def characters(line: Line) -> list[tuple[str, str]]:
    return [(char, style) for text, style in line for char in text]


@given(line=LINES, offsets=st.sets(st.integers(1, 29)))
def test_cutting_keeps_every_character_and_its_style(line: Line, offsets: set[int]) -> None:
    inside = sorted(at for at in offsets if at < len(plain(line)))
    parts = list(cut(line, inside))
    assert [char for part in parts for char in characters(part)] == characters(line)
    ends = [sum(len(plain(part)) for part in parts[: n + 1]) for n in range(len(parts))]
    assert ends == [*inside, len(plain(line))]


@given(line=LINES)
def test_only_the_spaces_at_the_end_are_stripped(line: Line) -> None:
    text = plain(line).rstrip()
    assert characters(strip_end(line)) == characters(line)[: len(text)]


@given(line=LINES)
def test_a_style_is_added_to_every_character(line: Line) -> None:
    assert characters(restyle(line, "dim")) == [(char, f"dim {own}".strip()) for char, own in characters(line)]


def test_neighbours_without_a_style_become_one_piece() -> None:
    line = styled("Table ") + styled("1") + styled(":", "red") + styled("!", "red") + styled("") + styled(" x")
    assert restyle(line, "bold") == (("Table 1", "bold"), (":", "bold red"), ("!", "bold red"), (" x", "bold"))


@given(text=st.text("a 中é́", max_size=20))
def test_a_wide_character_takes_two_columns(text: str) -> None:
    assert width_of(text) == cell_len(text)


def test_the_width_of_a_text_is_the_number_of_its_columns() -> None:
    assert [width_of(text) for text in ("", "abc", "é", "中文")] == [0, 3, 1, 4]
