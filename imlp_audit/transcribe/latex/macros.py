"""The author's own macros: found in the document, and put in place of their names inside tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from imlp_audit.transcribe.latex.arguments import read_arguments, read_braced, read_optional, skip_space

MOST_MACROS = 3_000
DEEPEST = 12  # how often the text is gone through
_LONGEST = 2_000  # characters of a macro
_ROOM = 50_000  # characters that macros may add to a table

_COMMAND = re.compile(
    r"\\(?:(?:re|provide)?newcommand|DeclareRobustCommand|DeclareMathOperator)\*?\s*\{?\s*\\([A-Za-z@]+)\s*\}?"
    r"\s*(?:\[(\d)\])?"
)
_DEF = re.compile(r"\\def\s*\\([A-Za-z@]+)((?:#\d)*)(?=\s*\{)")
_NAME = re.compile(r"\\([A-Za-z@]+)")
_RULE = re.compile(r"(?:hline|rule)$")  # rules of one's own are still rules


@dataclass(frozen=True)
class Macro:
    """What stands for a name: a text with #1, #2, ... for its arguments, of which the first may have a default."""

    body: str
    count: int = 0
    default: str | None = None


def find_macros(tex: str) -> dict[str, Macro]:
    """Return the macros that a document defines, by their names; the last definition of a name is taken."""
    macros: dict[str, Macro] = {}
    for found in islice(_COMMAND.finditer(tex), MOST_MACROS):
        default = read_optional(tex, found.end())
        body = read_braced(tex, default.end if default else found.end(), _LONGEST)
        if body is not None:
            macros[found[1]] = _macro(body.text, int(found[2] or 0), default.text if default else None)
    for found in islice(_DEF.finditer(tex), MOST_MACROS):
        body = read_braced(tex, found.end(), _LONGEST)
        if body is not None:
            macros[found[1]] = _macro(body.text, len(found[2]) // 2, None)
    return macros


def _macro(body: str, count: int, default: str | None) -> Macro:
    return Macro(" ".join(body.split("\n")), count, default)


def expand(tex: str, macros: Mapping[str, Macro]) -> tuple[str, frozenset[str]]:
    """Return a text with macros expanded, and the names of those that never end and are left out."""
    room, text = len(tex) + _ROOM, tex
    for _ in range(DEEPEST):
        expanded = _expand_once(text, macros, room)
        if expanded == text:
            return text, frozenset()
        text = expanded
    endless = frozenset(found[1] for found in _NAME.finditer(text) if _is_ours(found[1], macros))
    rest, also = expand(tex, {**macros, **dict.fromkeys(endless, Macro(""))})
    return rest, endless | also


def _is_ours(name: str, macros: Mapping[str, Macro]) -> bool:
    return name in macros and _RULE.search(name) is None


def _expand_once(tex: str, macros: Mapping[str, Macro], room: int) -> str:
    pieces: list[str] = []
    at = size = 0
    for found in _NAME.finditer(tex):
        if found.start() < at or not _is_ours(found[1], macros):
            continue
        if size > room:
            break
        text, end = _call(tex, skip_space(tex, found.end()), macros[found[1]])
        pieces += [tex[at : found.start()], text]
        size += len(pieces[-2]) + len(text)
        at = end
    return "".join([*pieces, tex[at:]])


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
    body = re.sub(r"#(\d)", lambda found: texts[int(found[1]) - 1] if int(found[1]) <= len(texts) else "", macro.body)
    return body, rest[1]
