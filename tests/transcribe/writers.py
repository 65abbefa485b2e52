"""Tables written as authors write them, for readers to read back."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Sequence

from hypothesis import strategies as st

Cells = Sequence[Sequence[str]]

NUMBERS = st.decimals(-999, 999, places=2).map(str)
WORDS = st.text("ABCabc019 .+-/()@#†‡*é中%&_<>|", max_size=8).map(lambda text: " ".join(text.split()) or "x")
TEXTS = st.one_of(NUMBERS, WORDS, st.just(""), st.sampled_from(["224^2", "72.2 ±0.1", "5.00 (-12.6%)", "224×224", "–"]))


@st.composite
def grids(draw: st.DrawFn) -> list[list[str]]:
    """Draw a head and some rows of cells; every row has text in its first two columns."""
    width = draw(st.integers(2, 5))
    filled = st.one_of(NUMBERS, WORDS)
    row = st.tuples(filled, filled, *[TEXTS] * (width - 2)).map(list)
    head, *rows = draw(st.lists(row, min_size=2, max_size=6))
    return [[f"{cell}:{at}" if cell else "" for at, cell in enumerate(head)], *rows]  # no heading is twice in a table


_TEX = {
    "%": r"\%", "&": r"\&", "_": r"\_", "#": r"\#", "±": r"$\pm$", "×": r"$\times$", "†": r"$^\dagger$",
    "‡": r"$^{\ddagger}$", "<": "$<$", ">": "$>$", "|": "$|$", "–": r"\textendash{}",
}  # fmt: skip


def latex(grid: Cells) -> str:
    """Write a float of LaTeX with a table in it."""
    head, *rows = (" & ".join(map(latex_cell, row)) + r" \\" for row in grid)
    columns = "l" * len(grid[0])
    body = "\n".join([rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule"])
    return "\n".join([r"\begin{table}", r"\caption{A table}", r"\label{t}", body, r"\end{tabular}", r"\end{table}"])


def latex_cell(text: str) -> str:
    """Write a cell in LaTeX."""
    power = re.fullmatch(r"(\d+)\^(\d+)", text)
    if power:
        return f"${power[1]}^{{{power[2]}}}$"
    return "".join(_TEX.get(character, character) for character in text).replace("--", "-{}-").replace("--", "-{}-")


def separated(grid: Cells, delimiter: str) -> str:
    """Write comma-separated values, or with another delimiter."""
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(grid)
    return file.getvalue()


def markdown(grid: Cells) -> str:
    """Write a table of pipes."""
    lines = ["| " + " | ".join(map(_markdown_cell, row)) + " |" for row in grid]
    return "\n".join(["# Numbers", "", lines[0], "|" + " --- |" * len(grid[0]), *lines[1:], ""])


def _markdown_cell(text: str) -> str:
    return re.sub(r"([\\|*_<>&`\[\]])", r"\\\1", text)


def web_page(grid: Cells) -> str:
    """Write a page with a table."""
    head, *rows = grid
    lines = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows]
    heads = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return f"<html><body><table><caption>A table</caption><tr>{heads}</tr>\n{body}</table></body></html>"
