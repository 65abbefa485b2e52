"""Finding a macro's arguments in LaTeX."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

LONGEST = 20_000  # characters of one argument; a longer one is not closed
_DEEPEST = 50  # braces in braces
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True)
class Argument:
    """An argument's text, and where what follows it begins."""

    text: str
    end: int


def read_braced(tex: str, at: int, longest: int = LONGEST) -> Argument | None:
    """Return the text between the brace at a place (spaces before it are skipped) and its partner; None without one."""
    start = skip_space(tex, at)
    if not tex.startswith("{", start):
        return None
    depth = 0
    for found in _BRACES.finditer(tex, start, start + longest):
        if found[0] == "{":
            depth += 1
            if depth > _DEEPEST:
                return None
        elif found[0] == "}":
            depth -= 1
            if depth == 0:
                return Argument(tex[start + 1 : found.start()], found.end())
    return None


def read_optional(tex: str, at: int) -> Argument | None:
    """Return the text between square brackets at a place; None where there are none."""
    start = skip_space(tex, at)
    if not tex.startswith("[", start):
        return None
    end = tex.find("]", start, start + LONGEST)
    return Argument(tex[start + 1 : end], end + 1) if end >= 0 else None


def skip_optional(tex: str, at: int) -> int:
    """Return the place after any arguments in square brackets."""
    while (found := read_optional(tex, at)) is not None:
        at = found.end
    return at


def skip_space(tex: str, at: int) -> int:
    """Return the place of the next character that is not white space."""
    found = _SPACE.match(tex, at)
    return found.end() if found else at


def read_arguments(tex: str, at: int, count: int) -> tuple[list[str], int] | None:
    """Return some arguments in braces, with any in square brackets before each left out, and the place after them.

    A macro or a character without braces is an argument too. None where there are not as many.
    """
    texts: list[str] = []
    for _ in range(count):
        at = skip_optional(tex, at)
        found = read_braced(tex, at) or _read_bare(tex, at)
        if found is None:
            return None
        texts.append(found.text)
        at = found.end
    return texts, at


_BARE = re.compile(r"\\[A-Za-z@]+|\\.|[^\s{}\\&$]", re.DOTALL)


def _read_bare(tex: str, at: int) -> Argument | None:
    found = _BARE.match(tex, skip_space(tex, at))
    return Argument(found[0], found.end()) if found else None


def balance(tex: str) -> str:
    """Return LaTeX without the braces that have no partner, or are deeper in others than any argument."""
    open_at: list[int] = []
    alone: list[int] = []
    for found in _BRACES.finditer(tex):
        if found[0] == "{":
            open_at.append(found.start())
        elif found[0] == "}" and open_at:
            start = open_at.pop()
            if len(open_at) >= _DEEPEST:
                alone += start, found.start()
        elif found[0] == "}":
            alone.append(found.start())
    gaps = sorted([*open_at, *alone])
    return "".join(tex[start + 1 : end] for start, end in pairwise([-1, *gaps, len(tex)])) if gaps else tex
