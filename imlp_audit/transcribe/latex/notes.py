"""The notes below a table that explain its marks, as the package threeparttable sets them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from imlp_audit.transcribe.cells import split_mark
from imlp_audit.transcribe.latex.arguments import LONGEST
from imlp_audit.transcribe.latex.macros import Macro, expand
from imlp_audit.transcribe.latex.text import to_text

_MOST_NOTES = 50
_NOTES = re.compile(r"\\begin\s*\{tablenotes\}")
_END = re.compile(r"\\end\s*\{tablenotes\}")
_ITEM = re.compile(r"\\item\b\s*(?:\[([^\[\]\n]{1,60})\])?")


def explained_marks(tex: str, macros: Mapping[str, Macro]) -> Iterator[tuple[str, str]]:
    """Yield the marks of a float's notes, as labels have them, with what is said about each."""
    begin = _NOTES.search(tex)
    end = _END.search(tex, begin.end(), begin.end() + LONGEST) if begin is not None else None
    if begin is None or end is None:
        return
    _, *parts = _ITEM.split(expand(tex[begin.end() : end.start()], macros)[0])
    for mark, text in islice(zip(parts[::2], parts[1::2], strict=True), _MOST_NOTES):
        if mark is not None:
            yield split_mark(to_text(rf"x\tnote{{{mark}}}"))[1], to_text(text)
