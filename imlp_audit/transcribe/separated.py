"""A table of comma-separated values, or with tabs or semicolons between them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice

from imlp_audit.errors import UsageError
from imlp_audit.transcribe.grid import MOST_COLUMNS, MOST_ROWS, SourceDocument, SourceRow, SpanningCell
from imlp_audit.transcribe.head import make_table

_LONGEST_LINE = 500_000  # characters


def read_separated(text: str, shown_as: str, delimiter: str | None = None) -> SourceDocument:
    """Return the one table of a file; its first row is the headings. Raises UsageError for what is not such a file."""
    first = text.lstrip("\n").partition("\n")[0]
    separator = delimiter or max(",;\t", key=first.count)
    reader = csv.reader(_lines(text, shown_as), delimiter=separator, strict=True)
    rows: list[SourceRow] = []
    line = 1
    try:
        for record in islice(reader, MOST_ROWS + 1):
            cells = tuple(SpanningCell(" ".join(cell.split())) for cell in record[:MOST_COLUMNS])
            if any(cell.text for cell in cells):
                rows.append(SourceRow(line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(
            f"{shown_as}:{reader.line_num}: not comma-separated values ({error}); mend the line, or give a .tsv"
        ) from error
    return SourceDocument((make_table("1", "", rows, shown_as, 1),))


def _lines(text: str, shown_as: str) -> Iterator[str]:
    for number, line in enumerate(io.StringIO(text), 1):
        if len(line) > _LONGEST_LINE:
            raise UsageError(f"{shown_as}:{number}: a line of more than {_LONGEST_LINE} characters; is this one table?")
        yield line
