"""The tables of a markdown file: those of pipes, and those of HTML in it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from imlp_audit.errors import UsageError
from imlp_audit.transcribe.cells import MARKS
from imlp_audit.transcribe.grid import (
    MOST_COLUMNS,
    MOST_ROWS,
    MOST_TABLES,
    SourceDocument,
    SourceRow,
    SourceTable,
    SpanningCell,
    make_table,
    number_tables,
    split_number,
)
from imlp_audit.transcribe.latex.text import to_text
from imlp_audit.transcribe.web import read_web_tables

_DELIMITER = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*")
_PIPE = re.compile(r"(?<!\\)\|")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^()]*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\]){0,300})\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])")
_MATH = re.compile(r"\$([^$]+)\$")
_TAG = re.compile(r"<(/?)([A-Za-z]\w*)[^<>]*>")
_STRONG = re.compile(r"(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]+)(?<=\S)\*(?![\w*])|(?<!\w)_(?=\S)([^_]+)(?<=\S)_(?!\w)")
_SLANTED = re.compile(r"([*_])(.+)\1")
_MARKED = re.compile(rf"(?:\b(?:with|by)\s+\\?([{MARKS}])|^\s*\\?([{MARKS}])\s*[:=]?)\s+(?=\S)(.+)")
_NEAR = 4  # lines below a table that may explain its marks
_MOST_LINES = 200_000
_LONGEST_DELIMITER = 10_000  # characters: MOST_COLUMNS have fewer
_FAR = 2_000  # lines between a table and the heading above it
_LONGEST = 1_500
_ADVICE = "a table in markdown has a line such as | --- | --- | under its headings, and one in HTML is a <table>"
_PRIVATE = 0xE000  # where characters with a backslash before them are kept while the rest is read


def read_markdown(text: str, shown_as: str) -> SourceDocument:
    """Return the tables of a file in order, each with the heading and the line above it as its caption.

    Raises UsageError for a file that is too long.
    """
    if text.count("\n") > _MOST_LINES:
        raise UsageError(f"{shown_as} has more than {_MOST_LINES} lines; give a file with the table alone")
    lines = _without_code(text.split("\n"))
    tables = [*_pipe_tables(lines, shown_as), *read_web_tables("\n".join(lines), shown_as)]
    tables.sort(key=lambda table: table.line)
    title = next((found[1] for line in lines if (found := _HEADING.fullmatch(line))), None)
    title = to_plain(title)[:200] or None if title else None
    return SourceDocument(tuple(number_tables(tables)), title, advice=_ADVICE)


def _without_code(lines: Sequence[str]) -> list[str]:
    kept: list[str] = []
    inside = False
    for line in lines:
        fence = _FENCE.match(line) is not None
        kept.append("" if inside or fence else line)
        inside = inside != fence
    return kept


def _pipe_tables(lines: Sequence[str], shown_as: str) -> Iterator[SourceTable]:
    at = 1
    found = read = 0
    while at < len(lines) and found < MOST_TABLES and read < MOST_ROWS:
        if "|" not in lines[at - 1] or "-" not in lines[at] or not _is_delimiter(lines[at]):
            at += 1
            continue
        end = next((i for i in range(at + 1, len(lines)) if "|" not in lines[i]), len(lines))
        places = (at - 1, *range(at + 1, min(end, at + MOST_ROWS + 2)))
        rows = [SourceRow(i + 1, _split(lines[i]), head=i < at) for i in places]
        table = make_table("", _caption(lines, at - 1), rows, shown_as, at)
        yield replace(table, marks=tuple(_explained_marks(lines[end : end + _NEAR])))
        found, read = found + 1, read + len(rows)
        at = end + 1


def _is_delimiter(line: str) -> bool:
    return len(line) <= _LONGEST_DELIMITER and _DELIMITER.fullmatch(line) is not None


def _explained_marks(below: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the marks that the lines below a table explain, as in "Models with * are converted from ..."."""
    for line in below:
        inside = _SLANTED.fullmatch(line.strip())
        found = _MARKED.search(inside[2] if inside else line)
        if found is not None:
            yield found[1] or found[2], to_plain(found[3])


def _split(line: str) -> tuple[SpanningCell, ...]:
    text = line.strip()
    inner = text.removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return tuple(SpanningCell(to_plain(cell)) for cell in _PIPE.split(inner, MOST_COLUMNS)[:MOST_COLUMNS])


def _caption(lines: Sequence[str], at: int) -> str:
    """Return the nearest line above a table, after the heading that both are under.

    Of a paragraph that begins with the number of the table, as "Table 7." does, all is taken, the number first.
    """
    above = next((i for i in range(at - 1, max(-1, at - 4), -1) if lines[i].strip() and "|" not in lines[i]), None)
    heading = next(
        (found for i in range(at - 1, max(-1, at - _FAR), -1) if (found := _HEADING.fullmatch(lines[i]))), None
    )
    line = lines[above].strip().lstrip("-*+>:").strip() if above is not None else ""
    if heading is None or (above is not None and _HEADING.fullmatch(lines[above])):
        line, before = heading[1] if heading else line, ""
    else:
        before = to_plain(heading[1])
    number, text = split_number(_paragraph(lines, above)) if above is not None else ("", "")
    text = text if number else to_plain(line)
    return f"{number}{f'{before}. {text}' if before and text else before or text}"[:300]


def _paragraph(lines: Sequence[str], end: int) -> str:
    """Return a paragraph down to its last line, or a heading."""
    first = end
    while not _HEADING.fullmatch(lines[first]) and first > max(0, end - _PARAGRAPH) and _goes_on(lines[first - 1]):
        first -= 1
    return to_plain(" ".join(line.strip().lstrip("#->:") for line in lines[first : end + 1]))


def _goes_on(line: str) -> bool:
    return bool(line.strip()) and "|" not in line and not _HEADING.fullmatch(line)


_PARAGRAPH = 6


def to_plain(text: str) -> str:
    """Return what a line of markdown prints, as text; one that is very long is cut."""
    text = _ESCAPE.sub(lambda found: chr(_PRIVATE + ord(found[1])), text[:_LONGEST])
    text = _LINK.sub(r"\1", _IMAGE.sub("", text))
    text = _MATH.sub(lambda found: to_text(found[1]), text)
    text = re.sub(r"\[\^([^\]]+)\]", r"^\1", text).replace("`", "")
    for _ in range(3):
        text = _EMPHASIS.sub(lambda found: found[1] or found[2], _STRONG.sub(r"\2", text))
    text = _TAG.sub(lambda found: _tag(found[1], found[2].lower()), text)
    text = html.unescape(text)
    text = re.sub(r"[\ue021-\ue07e]", lambda found: chr(ord(found[0]) - _PRIVATE), text)
    return " ".join(text.split())


def _tag(closing: str, name: str) -> str:
    if name in ("br", "p", "div"):
        return " "
    return "^" if name == "sup" and not closing else ""
