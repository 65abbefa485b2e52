"""The author's own macros: found in the document, and put in place of their names inside tables."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from imlp_audit.transcribe.latex.arguments import (
    Argument,
    read_arguments,
    read_braced,
    read_optional,
    skip_optional,
    skip_space,
)

MOST_MACROS = 3_000
DEEPEST = 12  # how often the text is gone through
_LONGEST = 2_000  # characters of a macro
_ROOM = 50_000  # characters that macros may add to a table

_DEFINITION = re.compile(  # one pattern: each pass through a document of many backslashes takes a while
    r"\\(?=[A-Za-z])(?:"
    r"(?:(?:re|provide)?newcommand|DeclareRobustCommand|DeclareMathOperator)\*?\s*\{?\s*\\(?P<command>[A-Za-z@]+)\s*\}?"
    r"\s*(?:\[(?P<count>\d)\])?"
    r"|[egx]?def\s*\\(?P<tex>[A-Za-z@]+)(?P<parameters>(?:#\d)*)(?=\s*\{)"
    r"|(?:New|Renew|Provide|Declare)(?:Expandable)?DocumentCommand\s*\{?\s*\\(?P<document>[A-Za-z@]+)\s*\}?"
    r"\s*\{(?P<mandatory>[m ]*)\}"
    r"|(?:re)?newenvironment\*?\s*\{[^{}]*\})"
)
_LET = re.compile(r"\\let\s*\\([A-Za-z@]+)\s*=?\s*\\([A-Za-z@]+)")
_NAME = re.compile(r"\\(?:([A-Za-z@]+)|.)", re.DOTALL)  # a sign too: the second backslash of \\\\ begins no name
_LAST_NAME = re.compile(r"\\[A-Za-z@]+\Z")
_RULE = re.compile(r"(?:hline|rule)$")  # rules of one's own are still rules


@dataclass(frozen=True)
class Macro:
    """What stands for a name: a text with #1, #2, ... for its arguments, of which the first may have a default."""

    body: str
    count: int = 0
    default: str | None = None


@dataclass(frozen=True)
class Definition:
    """Where a document defines something: a macro with its name, or an environment, which is not read further."""

    start: int
    end: int
    name: str
    macro: Macro


def find_macros(tex: str, definitions: Iterable[Definition] | None = None) -> dict[str, Macro]:
    """Return the macros that a document defines, by their names; the last definition of a name is taken."""
    every = find_definitions(tex) if definitions is None else definitions
    macros = {one.name: one.macro for one in every if one.name}
    for found in islice(_LET.finditer(tex), MOST_MACROS):
        if found[1] not in macros and found[2] not in macros:
            macros[found[1]] = Macro(rf"\{found[2]}")
    return macros


def find_definitions(tex: str) -> Iterator[Definition]:
    """Yield what a document defines, in its order."""
    for found in islice(_DEFINITION.finditer(tex), MOST_MACROS):
        if found["command"]:
            default = read_optional(tex, found.end())
            body = read_braced(tex, default.end if default else found.end(), _LONGEST)
            macro = _macro(body, int(found["count"] or 0), default.text if default else None)
        elif found["tex"] or found["document"]:
            body = read_braced(tex, found.end(), _LONGEST)
            macro = _macro(body, (found["parameters"] or "").count("#") + (found["mandatory"] or "").count("m"), None)
        else:
            begin = read_braced(tex, skip_optional(tex, found.end()), _LONGEST)
            body = read_braced(tex, begin.end, _LONGEST) if begin is not None else None
            macro = Macro("")
        if body is not None:
            yield Definition(
                found.start(), body.end, found["command"] or found["tex"] or found["document"] or "", macro
            )


def _macro(body: Argument | None, count: int, default: str | None) -> Macro:
    return Macro(body.text.replace("\n", " ") if body is not None else "", count, default)


def expand(tex: str, macros: Mapping[str, Macro]) -> tuple[str, frozenset[str]]:
    """Return a text with macros expanded, and the names of those that never end and are left out."""
    room, text = len(tex) + _ROOM, tex
    for _ in range(DEEPEST):
        expanded = _expand_once(text, macros, room)
        if expanded == text:
            return text, frozenset()
        text = expanded
    endless = frozenset(found[1] for found in _NAME.finditer(text) if _is_ours(found[1] or "", macros))
    rest, also = expand(tex, {**macros, **dict.fromkeys(endless, Macro(""))})
    return rest, endless | also


def known_part(name: str, known: Container[str]) -> str:
    """Return a macro's name: an @ is a letter in packages alone, so it ends a name that is not known with it."""
    return name if name in known else name.partition("@")[0] or name


def _is_ours(name: str, macros: Mapping[str, Macro]) -> bool:
    return name in macros and _RULE.search(name) is None


def _expand_once(tex: str, macros: Mapping[str, Macro], room: int) -> str:
    pieces: list[str] = []
    at = size = 0
    for found in _NAME.finditer(tex):
        if found.start() < at or found[1] is None:
            continue
        name = known_part(found[1], macros)
        if not _is_ours(name, macros):
            continue
        if size > room:
            break
        text, end = _call(tex, skip_space(tex, found.start(1) + len(name)), macros[name])
        pieces += [tex[at : found.start()], text]
        size += len(pieces[-2]) + len(text)
        at = end
    return _join([*pieces, tex[at:]])


def _join(pieces: Sequence[str]) -> str:
    """Join pieces of LaTeX; a name at the end of one does not grow into a letter at the start of the next."""
    joined: list[str] = []
    for piece in filter(None, pieces):
        if joined and (piece[0].isalpha() or piece[0] == "@") and _LAST_NAME.search(joined[-1]):
            joined.append(" ")
        joined.append(piece)
    return "".join(joined)


def _call(tex: str, at: int, macro: Macro) -> tuple[str, int]:
    """Return a macro's text with its arguments, and the place after them."""
    given: list[str] = []
    if macro.default is not None:
        first = read_optional(tex, at)
        given, at = ([first.text], first.end) if first else ([macro.default], at)
    rest = read_arguments(tex, at, macro.count - len(given))
    if rest is None:
        return "", at
    texts = [*given, *rest[0]]
    pieces = re.split(r"#(\d)", macro.body)
    pieces[1::2] = [texts[int(one) - 1] if 0 < int(one) <= len(texts) else "" for one in pieces[1::2]]
    return _join(pieces), rest[1]
