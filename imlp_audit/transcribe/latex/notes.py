"""The notes of a table that explain its marks: footnotes, lines below it, and those of the package threeparttable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from imlp_audit.transcribe.cells import split_mark
from imlp_audit.transcribe.counted_part import NOTE
from imlp_audit.transcribe.latex.arguments import LONGEST, read_braced
from imlp_audit.transcribe.latex.macros import Macro, expand
from imlp_audit.transcribe.latex.text import UNSEEN, to_text

_MOST_NOTES = 50
_NOTES = re.compile(r"\\begin\s*\{tablenotes\}")
_END = re.compile(r"\\end\s*\{tablenotes\}")
_ITEM = re.compile(r"\\item\b\s*(?:\[([^\[\]\n]{1,60})\])?")

_FOOTNOTE = re.compile(r"\\(?:footnote|tablefootnote|footnotetext)\b\s*(?:\[(\d{1,2})\])?")
_LINE = re.compile(r"\n|\\\\")


def all_notes(outside: str, tex: str, macros: Mapping[str, Macro]) -> Iterator[tuple[str, str]]:
    """Yield the marks that a float explains, with what it says: all of its LaTeX, and that outside its tables."""
    yield from _explained_marks(outside, macros)
    yield from _explained_below(outside, macros)
    yield from _footnotes(tex, macros)


def _explained_marks(tex: str, macros: Mapping[str, Macro]) -> Iterator[tuple[str, str]]:
    """Yield the marks of a float's notes, as labels have them, with what is said about each."""
    begin = _NOTES.search(tex)
    end = _END.search(tex, begin.end(), begin.end() + LONGEST) if begin is not None else None
    if begin is None or end is None:
        return
    _, *parts = _ITEM.split(expand(tex[begin.end() : end.start()], macros)[0])
    for mark, text in islice(zip(parts[::2], parts[1::2], strict=True), _MOST_NOTES):
        if mark is not None:
            yield split_mark(to_text(rf"x\tnote{{{mark}}}"))[1], to_text(text)


def _explained_below(tex: str, macros: Mapping[str, Macro]) -> Iterator[tuple[str, str]]:
    """Yield the marks that lines of a float outside its tables begin with, with what is said about each."""
    lines = _LINE.split(expand(_NOTES.split(tex)[0], macros)[0])
    found = (NOTE.fullmatch(to_text(line)) for line in lines if "\\caption" not in line)
    for note in islice(filter(None, found), _MOST_NOTES):
        yield split_mark(f"x{note[1]}")[1], note[2]


def _footnotes(tex: str, macros: Mapping[str, Macro]) -> Iterator[tuple[str, str]]:
    """Yield what the footnotes in a float say, with their marks; without a number it is that of what is not seen."""
    for found in islice(_FOOTNOTE.finditer(tex), _MOST_NOTES):
        text = read_braced(tex, found.end())
        if text is not None:
            mark = split_mark(to_text(rf"x\tnote{{{found[1]}}}"))[1] if found[1] else UNSEEN
            yield mark, to_text(expand(text.text, macros)[0])
