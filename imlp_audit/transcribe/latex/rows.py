"""The rows and cells between the begin and the end of a tabular."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from imlp_audit.transcribe.grid import MOST_COLUMNS, MOST_ROWS, SourceRow, SpanningCell
from imlp_audit.transcribe.latex.macros import read_arguments, read_optional, skip_optional, skip_space
from imlp_audit.transcribe.latex.text import read_rule, to_text

_SPLIT = re.compile(r"\\(?P<env>begin|end)\s*\{|\\(?P<end>\\|tabularnewline\b|cr\b)|\\.|[{}&]", re.DOTALL)
_HEADS = re.compile(r"\\end(?:firsthead|head|foot|lastfoot)\b")


@dataclass(frozen=True)
class _RawRow:
    """A row's cells in LaTeX, and the line that it begins at."""

    line: int
    cells: tuple[str, ...]


def read_rows(tex: str, line: int, unknown: set[str]) -> list[SourceRow]:
    """Return the rows of a tabular's body that begins at a line; macros that are not known are added to `unknown`."""
    rows: list[SourceRow] = []
    ruled = False
    for raw in _split(_one_head(tex), line):
        first, above = _strip_rules(raw.cells[0])
        ruled = ruled or above
        cells = [_read_cell(cell, unknown) for cell in (first, *raw.cells[1:])]
        if any(cell.text for cell in cells):
            above_it = raw.cells[0].lstrip().removesuffix(first)
            rows.append(SourceRow(raw.line + above_it.count("\n"), tuple(cells), ruled))
            ruled = False
        if len(rows) > MOST_ROWS:
            break
    return rows


def _one_head(tex: str) -> str:
    """Return the body of a table of several pages with its head once and without its foot."""
    parts = _HEADS.split(tex)
    if len(parts) == 1:
        return tex
    head, rest = parts[0], parts[-1]
    skipped = "\n" * tex.count("\n", len(head), len(tex) - len(rest))
    return f"{head}{skipped}{rest}"


def _split(tex: str, line: int) -> Iterator[_RawRow]:
    """Yield the raw cells of each row that has any: what is in braces or in a table of its own is in one cell."""
    counted = start = 0
    cells: list[str] = []
    for found in _separators(tex):
        cells.append(tex[start : found.start()])
        start = found.end()
        if found["end"]:
            first = skip_space(tex, counted)
            line += tex.count("\n", counted, first)
            if first < found.start():
                yield _RawRow(line, tuple(cells))
            start = _after_end(tex, start)
            line += tex.count("\n", first, start)
            counted, cells = start, []
    line += tex.count("\n", counted, skip_space(tex, counted))
    yield _RawRow(line, (*cells, tex[start:]))


def _separators(tex: str) -> Iterator[re.Match[str]]:
    """Yield what ends a cell or a row."""
    depth = nested = 0
    for found in _SPLIT.finditer(tex):
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            depth = max(0, depth - 1)
        elif found["env"]:
            nested = max(0, nested + (1 if found["env"] == "begin" else -1))
            depth += 1  # the brace that the name is in
        elif depth == nested == 0 and (found[0] == "&" or found["end"]):
            yield found


def _after_end(tex: str, at: int) -> int:
    """Return the place after the star and the distance that may follow the end of a row."""
    at += tex.startswith("*", at)
    distance = read_optional(tex, at) if tex.startswith("[", at) else None
    return distance.end if distance else at


def _strip_rules(cell: str) -> tuple[str, bool]:
    """Return a row's first cell without the rules above it, and whether one goes through all columns."""
    ruled = False
    at = 0
    while (rule := read_rule(cell, at)) is not None:
        ruled = ruled or rule.full
        at = rule.end
    return cell[skip_space(cell, at) :], ruled


def _read_cell(tex: str, unknown: set[str]) -> SpanningCell:
    columns = rows = 1
    tex, columns = _unwrap_columns(tex)
    tex, rows = _unwrap_rows(tex)
    return SpanningCell(to_text(tex, unknown), columns, rows)


def _unwrap_columns(tex: str) -> tuple[str, int]:
    at = tex.find("\\multicolumn")
    read = read_arguments(tex, at + len("\\multicolumn"), 3) if at >= 0 else None
    if read is None:
        return tex, 1
    (count, _, text), end = read
    return f"{tex[:at]}{text}{tex[end:]}", _count(count, MOST_COLUMNS)


def _unwrap_rows(tex: str) -> tuple[str, int]:
    at = tex.find("\\multirow")
    name = re.match(r"\\multirow(cell|thead)?\*?", tex[at:]) if at >= 0 else None
    if name is None:
        return tex, 1
    read = read_arguments(tex, skip_optional(tex, at + name.end()), 2 if name[1] else 3)
    if read is None:
        return tex, 1
    texts, end = read
    return f"{tex[:at]}{texts[-1]}{tex[end:]}", _count(texts[0], MOST_ROWS)


def _count(text: str, most: int) -> int:
    found = re.fullmatch(r"\s*(-?\d{1,5})\s*", text, re.ASCII)
    number = int(found[1]) if found else 1
    return max(-most, min(most, number)) or 1
