"""A LaTeX document in one piece: comments out, files that it reads in, and for each place the file and line."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from imlp_audit.numbers.words import list_some

DEEPEST = 10
MOST_INPUTS = 2_000
MOST_CHARACTERS = 60_000_000
_COMMENT = re.compile(r"%.*")
_PAIR, _SIGN = "\x1d", "\x1e"  # stand for \\\\ and \\% while comments are found
_INPUT = re.compile(r"\\(?:input|include|subfile)\b\s*(?:\{([^{}\n]*)\}|([\w./-]+))")
_BEGIN = re.compile(r"\\begin\s*\{(verbatim|Verbatim|lstlisting|comment|minted)(\*?)\}|\\iffalse\b")

ReadFile = Callable[[str], str | None]
"""Returns the text of a file that a document names, or None where there is none."""


@dataclass(frozen=True)
class LatexSource:
    """The text of a document and, for where each piece of it begins, the file and its line there."""

    text: str
    starts: tuple[int, ...]
    places: tuple[tuple[str, int], ...]
    notes: tuple[str, ...] = ()

    def place(self, offset: int) -> tuple[str, int]:
        """Return the file and the line of a place in the text."""
        piece = max(0, bisect_right(self.starts, offset) - 1)
        file, line = self.places[piece]
        return file, line + bisect_left(self._ends, offset) - bisect_left(self._ends, self.starts[piece])

    @cached_property
    def _ends(self) -> list[int]:
        """Where the lines end."""
        return [found.start() for found in re.finditer("\n", self.text)]


def join_source(name: str, text: str, read: ReadFile) -> LatexSource:
    """Return a document with the files that it inputs in their places; a file that is not there is noted."""
    joiner = _Joiner(read)
    joiner.add(name, strip_comments(text), (name,))
    notes = [f"not there, so not read: {list_some(list(joiner.missing))}"] if joiner.missing else []
    return LatexSource("".join(joiner.pieces), tuple(joiner.starts), tuple(joiner.places), tuple(notes))


class _Joiner:
    """Collects the pieces of a document in order."""

    def __init__(self, read: ReadFile) -> None:
        self.read = read
        self.pieces: list[str] = []
        self.starts: list[int] = []
        self.places: list[tuple[str, int]] = []
        self.missing: dict[str, None] = {}
        self.size = self.inputs = 0

    def add(self, name: str, text: str, inside: tuple[str, ...]) -> None:
        """Add a file's text, and that of the files that it inputs; `inside` are the files it is read from."""
        at, line = 0, 1
        for found in _INPUT.finditer(text):
            child = self._open((found[1] or found[2] or "").strip(), inside)
            if child is None:
                continue
            self._piece(name, line, text[at : found.start()])
            line += text.count("\n", at, found.end())
            at = found.end()
            self.add(child[0], strip_comments(child[1]), (*inside, child[0]))
        self._piece(name, line, text[at:])

    def _open(self, named: str, inside: tuple[str, ...]) -> tuple[str, str] | None:
        self.inputs += 1
        if not named or len(inside) > DEEPEST or named in self.missing or self.inputs > MOST_INPUTS:
            return None
        for candidate in (named, f"{named}.tex"):
            path = posixpath.normpath(candidate)
            if path in inside or self.size > MOST_CHARACTERS:
                return None
            text = self.read(path)
            if text is not None:
                return path, text
        self.missing[named] = None
        return None

    def _piece(self, name: str, line: int, text: str) -> None:
        self.starts.append(self.size)
        self.places.append((name, line))
        self.pieces.append(text)
        self.size += len(text)


def strip_comments(text: str) -> str:
    """Return LaTeX without its comments and what is not set: verbatim text, and all behind the end; line ends stay."""
    text = text.replace(_PAIR, " ").replace(_SIGN, " ")
    text = text.replace("\\\\", _PAIR).replace("\\%", _SIGN)  # whole texts at once: lines may be millions
    text = _COMMENT.sub("", text).replace(_SIGN, "\\%").replace(_PAIR, "\\\\")
    return _blank_environments(text.partition(r"\end{document}")[0])


def _blank_environments(text: str) -> str:
    """Return a text with spaces in place of what stands between the begins and ends of some environments."""
    pieces: list[str] = []
    at = 0
    unclosed: set[str] = set()
    for found in _BEGIN.finditer(text):
        end = rf"\end{{{found[1]}{found[2]}}}" if found[1] else r"\fi"
        if found.start() < at or end in unclosed:
            continue
        close = text.find(end, found.end())
        if close < 0:
            unclosed.add(end)
            continue
        pieces += [text[at : found.start()], blank(text[found.start() : close + len(end)])]
        at = close + len(end)
    return "".join([*pieces, text[at:]])


def blank(text: str) -> str:
    """Return spaces for a text; its line ends stay."""
    return re.sub(r"[^\n]", " ", text)
