"""Where a table may stand in a document: the lines around its caption."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from imlp_audit.spec.schema import PrintedTable
from imlp_audit.transcribe.coverage.lines import DocumentLine
from imlp_audit.transcribe.coverage.quotes import fold

_TABLE = ("Table", "TABLE", "Tab.", "Таблица", "Табл.")
_CAPTION = re.compile(
    rf"(?:\A|\t|\|)[\s*#>_]*(?:{'|'.join(map(re.escape, _TABLE))})\s*(?P<id>(?:[A-Z]\.?)?\d+)[*_]*\s*[:.|—–-]"
)
_FLOAT = re.compile(r"\\(?P<what>begin|end)\s*\{(?:table\*?|wraptable|sidewaystable\*?|longtable)\}")
_LATEX_CAPTION = re.compile(r"\\caption")


@dataclass(frozen=True)
class TableCaption:
    """A caption: its table's id, folded, its line, and the lines of the float that it stands in, if known."""

    table: str
    line: int
    inside: range | None = None


def is_caption(text: str) -> bool:
    """Return whether a line of text begins the caption of a table."""
    return _CAPTION.search(text) is not None


def find_captions(lines: Sequence[DocumentLine]) -> list[TableCaption]:
    """Return the captions of tables in order; those of LaTeX are numbered as they come."""
    floats = list(_floats(lines))
    if floats:
        return [TableCaption(str(number), inside.start, inside) for number, inside in enumerate(floats, start=1)]
    found = (
        (at, _CAPTION.search(line.text))
        for at, line in enumerate(lines)
        if "Ta" in line.text or "Та" in line.text or "TA" in line.text
    )
    return [TableCaption(_slug(one["id"]), at) for at, one in found if one is not None]


def _floats(lines: Sequence[DocumentLine]) -> Iterator[range]:
    begun: int | None = None
    captioned = False
    for at, line in enumerate(lines):
        if "\\" not in line.text:
            continue
        for one in _FLOAT.finditer(line.text):
            if one["what"] == "begin":
                begun, captioned = at, False
        captioned = captioned or (begun is not None and _LATEX_CAPTION.search(line.text) is not None)
        if begun is not None and any(one["what"] == "end" for one in _FLOAT.finditer(line.text)):
            if captioned:
                yield range(begun, at + 1)
            begun = None


def windows(table: PrintedTable, captions: Sequence[TableCaption], count: int) -> Iterator[tuple[range, bool]]:
    """Yield ranges of lines in which a table may stand, nearest first, and whether each is the caption's own."""
    reach = 4 * len(table.rows) + 4 * len(table.columns) + 30
    for at, caption in enumerate(captions):
        if caption.table != _slug(table.table):
            continue
        if caption.inside is not None:
            yield caption.inside, True
            continue
        before = captions[at - 1].line if at else -1
        after = captions[at + 1].line if at + 1 < len(captions) else count
        yield range(caption.line + 1, min(after, caption.line + reach)), True
        yield range(max(before + 1, caption.line - reach), caption.line), True
        yield range(max(0, caption.line - reach), min(count, caption.line + reach)), False


def _slug(text: str) -> str:
    return fold(text.replace(".", ""))
