"""The commands of LaTeX and the macros that a document defines: what they print, and where their arguments end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html.entities import html5
from itertools import islice, pairwise
from typing import TypeAlias

_SYMBOLS = {
    "cdot": "·", "sim": "~", "neq": "≠", "to": "→", "dag": "†", "ddag": "‡", "daggerdbl": "‡", "star": "⋆",
    "asteriskcentered": "*", "S": "§", "P": "¶", "cmark": "✓", "xmark": "✗", "infty": "∞", "circ": "∘", "ldots": "…",
    "dots": "…", "cdots": "…", "minus": "−", "endash": "–", "emdash": "—", "backslash": "\\", "asciitilde": "~",
    "underscore": "_", "percent": "%", "quad": " ", "qquad": " ", "space": " ", "enspace": " ", "thinspace": "\u2009",
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "aa": "å", "AA": "Å", "i": "ı",
    "LaTeX": "LaTeX", "TeX": "TeX", "kilo": "k", "mega": "M", "giga": "G", "tera": "T", "milli": "m", "micro": "μ",
    "second": "s", "byte": "B", "bit": "bit", "per": "/", "mid": "|", "lvert": "|", "rvert": "|", "surd": "√",
    "triangle": "△", "blacktriangle": "▲", "blacktriangledown": "▼", "triangledown": "▽", "blacksquare": "■",
    "triangleright": "▷", "triangleleft": "◁", "Diamond": "◇", "bigcirc": "○", "section": "§", "paragraph": "¶",
    "le": "≤", "ge": "≥", "ne": "≠", "lt": "<", "gt": ">", "pm": "±", "mp": "∓", "mu": "μ", "nu": "ν", "xi": "ξ",
    "pi": "π", "Xi": "Ξ", "Pi": "Π", "in": "∈", "degree": "°", "less": "<", "greater": ">", "textbar": "|",
    "ding51": "✓", "ding52": "✓", "ding53": "✗", "ding54": "✗", "ding55": "✗", "ding56": "✗", "ding72": "★",
    "ding73": "☆", "ding171": "★", "newline": " ", "linebreak": " ", "par": " ", "tabularnewline": " ",
}  # fmt: skip
_SHORT = 2  # letters of a name that authors give to abbreviations, such as \eg


def symbol(name: str) -> str | None:
    """Return the character that a command prints: most have the names that HTML gives to characters."""
    plain = name.removeprefix("text")
    return _SYMBOLS.get(name) or _SYMBOLS.get(plain) or (html5.get(f"{plain};") if len(plain) > _SHORT else None)


DROPPED = {
    "label": 1, "footnotetext": 1, "hspace": 1, "vspace": 1, "color": 1, "cellcolor": 1,
    "rowcolor": 1, "columncolor": 1, "arrayrulecolor": 1, "setlength": 2, "addtolength": 2, "fontsize": 2,
    "phantom": 1, "hphantom": 1, "vphantom": 1, "definecolor": 3, "colorlet": 2, "rule": 2,
    "arraystretch": 1, "renewcommand": 2, "newcommand": 2, "thanks": 1, "inst": 1, "linespread": 1, "pagecolor": 1,
}  # fmt: skip
"""Macros that print nothing here, with how many arguments they take."""

LAST_KEPT = {
    "textcolor": 2, "colorbox": 2, "rotatebox": 2, "resizebox": 3, "scalebox": 2, "raisebox": 2, "parbox": 2,
    "href": 2, "adjustbox": 2, "makebox": 1, "framebox": 1, "fcolorbox": 3, "num": 1, "tablenum": 1,
    "foreignlanguage": 2, "multicolumn": 3, "multirow": 3, "multirowcell": 2, "multirowthead": 2,
    "stackrel": 2, "texorpdfstring": 2, "hyperref": 1,
}  # fmt: skip
"""Macros of which the last argument is printed, with how many they take."""

BETWEEN = {
    "SI": " ", "qty": " ", "diagbox": "/", "backslashbox": "/", "frac": "/", "dfrac": "/", "tfrac": "/",
    "nicefrac": "/", "sfrac": "/",
}  # fmt: skip
"""Macros of two arguments that are both printed, with what stands between them."""

TABULARS = {
    "tabular": 1, "tabular*": 2, "tabularx": 2, "tabulary": 2, "tabu": 1, "longtable": 1, "supertabular": 1,
    "xtabular": 1, "NiceTabular": 1, "tblr": 1, "longtblr": 1, "xltabular": 2, "longtabu": 1,
}  # fmt: skip
"""Environments of rows and cells, with how many arguments stand before these."""

BOXES = {"array": 1, "minipage": 1, "turn": 1, "rotate": 1, "adjustbox": 1, "varwidth": 1}
"""Other environments inside cells, with how many arguments they take."""

SILENT = frozenset({
    "and", "arraybackslash", "begingroup", "bf", "bfseries", "Big", "big", "bigl", "bigr", "bigstrut", "bm", "boldmath",
    "boldsymbol", "Bstrut", "cal", "cellspace", "centering", "centerline", "clap", "dashuline", "displaystyle", "em",
    "emph", "endgroup", "enskip", "ensuremath", "footnotesize", "Gape", "gape", "hbox", "hfill", "hskip", "Huge",
    "huge", "ignorespaces", "it", "itshape", "LARGE", "Large", "large", "larger", "leavevmode", "left", "limits",
    "llap", "makecell", "mathbb", "mathbf", "mathcal", "mathit", "mathrm", "mathsf", "mathsmaller", "mathstrut",
    "mathtt", "mbox", "mdseries", "noindent", "nolimits", "normalfont", "normalsize", "operatorname", "path", "protect",
    "raggedleft", "raggedright", "relax", "right", "rlap", "rm", "rmfamily", "rotcell", "rothead", "sc", "scriptsize",
    "scshape", "selectfont", "sf", "sffamily", "shortstack", "sl", "small", "smaller", "smash", "strut", "text",
    "textbf", "textit", "textmd", "textnormal", "textrm", "textsc", "textsf", "textsl", "textstyle", "texttt", "textup",
    "thead", "tiny", "Tstrut", "tt", "ttfamily", "ul", "uline", "unboldmath", "underline", "unskip", "upshape", "url",
    "uwave",
})  # fmt: skip
"""Macros that only change how their argument looks."""

ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328", "r": "\u030a",
}  # fmt: skip
"""The accents that stand before their letter, as characters that follow it."""

LONGEST = 20_000  # characters of one argument; a longer one is not closed
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_DEEPEST = 50  # braces in braces
_SPACE = re.compile(r"\s*")
_BARE = re.compile(r"\\[A-Za-z@]+|\\.|[^\s{}\\&$]", re.DOTALL)

Argument: TypeAlias = tuple[str, int]
"""An argument's text, and where what follows it begins."""


def read_braced(tex: str, at: int, longest: int = LONGEST) -> Argument | None:
    """Return the text between the brace at a place (spaces before it are skipped) and its partner; None without one."""
    start = skip_space(tex, at)
    if not tex.startswith("{", start):
        return None
    depth = 0
    for found in _BRACES.finditer(tex, start, start + longest):
        depth += (found[0] == "{") - (found[0] == "}")
        if depth == 0:
            return tex[start + 1 : found.start()], found.end()
    return None


def read_optional(tex: str, at: int) -> Argument | None:
    """Return the text between square brackets at a place; None where there are none."""
    start = skip_space(tex, at)
    end = tex.find("]", start, start + LONGEST) if tex.startswith("[", start) else -1
    return (tex[start + 1 : end], end + 1) if end >= 0 else None


def skip_optional(tex: str, at: int) -> int:
    """Return the place after any arguments in square brackets."""
    while (found := read_optional(tex, at)) is not None:
        at = found[1]
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
        bare = _BARE.match(tex, skip_space(tex, at))
        found = read_braced(tex, at) or ((bare[0], bare.end()) if bare else None)
        if found is None:
            return None
        texts.append(found[0])
        at = found[1]
    return texts, at


def skip_arguments(tex: str, at: int, count: int) -> int:
    """Return the place after some arguments in braces, with those in square brackets around them."""
    read = read_arguments(tex, at, count)
    return skip_optional(tex, read[1] if read is not None else at)


def balance(tex: str) -> str:
    """Return LaTeX without the braces that have no partner, or are deeper in others than any argument."""
    open_at: list[int] = []
    alone: list[int] = []
    for found in _BRACES.finditer(tex):
        if found[0] == "{":
            open_at.append(found.start())
        elif found[0] == "}" and open_at:
            start = open_at.pop()
            alone += (start, found.start()) if len(open_at) >= _DEEPEST else ()
        elif found[0] == "}":
            alone.append(found.start())
    gaps = sorted([*open_at, *alone])
    return "".join(tex[start + 1 : end] for start, end in pairwise([-1, *gaps, len(tex)])) if gaps else tex


MOST_MACROS = 3_000
_LONGEST = 2_000  # characters of a macro
_DEFINITION = re.compile(  # one pattern: each pass through a document of many backslashes takes a while
    r"\\(?=[A-Za-z])(?:"
    r"(?:(?:re|provide)?newcommand|DeclareRobustCommand|DeclareMathOperator)\*?\s*\{?\s*\\(?P<command>[A-Za-z@]+)\s*\}?"
    r"\s*(?:\[(?P<count>\d)\])?"
    r"|[egx]?def\s*\\(?P<tex>[A-Za-z@]+)(?P<parameters>(?:#\d)*)(?=\s*\{)"
    r"|(?:New|Renew|Provide|Declare)(?:Expandable)?DocumentCommand\s*\{?\s*\\(?P<document>[A-Za-z@]+)\s*\}?"
    r"\s*\{(?P<mandatory>[m ]*)\}"
    r"|(?P<environment>(?:re)?newenvironment)\*?\s*\{[^{}]*\})"
)
_LET = re.compile(r"\\let\s*\\([A-Za-z@]+)\s*=?\s*\\([A-Za-z@]+)")
_NAME = re.compile(r"\\([A-Za-z@]+)")
_LAST_NAME = re.compile(r"\\[A-Za-z@]+\Z")


@dataclass(frozen=True)
class Macro:
    """What stands for a name: a text with #1, #2, ... for its arguments, of which the first may have a default.

    One that is `endless` would expand into itself, and is left out.
    """

    body: str
    count: int = 0
    default: str | None = None
    endless: bool = False

    def call(self, tex: str, at: int) -> Argument:
        """Return the text with the arguments that follow a place, and the place after them."""
        first = read_optional(tex, at) if self.default is not None else None
        given = [] if self.default is None else [first[0] if first else self.default]
        rest = read_arguments(tex, first[1] if first else at, self.count - len(given))
        if rest is None:
            return "", first[1] if first else at
        texts = [*given, *rest[0]]
        pieces = re.split(r"#(\d)", self.body)
        pieces[1::2] = [texts[int(one) - 1] if 0 < int(one) <= len(texts) else "" for one in pieces[1::2]]
        return join(pieces), rest[1]


@dataclass(frozen=True)
class Definition:
    """Where a document defines something: a macro with its name, or an environment, which is not read further."""

    start: int
    end: int
    name: str
    macro: Macro


def join(pieces: Sequence[str]) -> str:
    """Join pieces of LaTeX; a name at the end of one does not grow into a letter at the start of the next."""
    joined: list[str] = []
    for piece in filter(None, pieces):
        if joined and (piece[0].isalpha() or piece[0] == "@") and _LAST_NAME.search(joined[-1]):
            joined.append(" ")
        joined.append(piece)
    return "".join(joined)


def find_macros(tex: str, definitions: Iterable[Definition]) -> dict[str, Macro]:
    """Return the macros that a document defines, by their names; the last definition of a name is taken."""
    macros = {one.name: one.macro for one in definitions if one.name}
    for found in islice(_LET.finditer(tex), MOST_MACROS):
        if found[1] not in macros and found[2] not in macros:
            macros[found[1]] = Macro(rf"\{found[2]}")
    return macros | {name: replace(macros[name], body="", endless=True) for name in _find_endless(macros)}


def _find_endless(macros: Mapping[str, Macro]) -> Iterable[str]:
    """Return the macros in circles: those that are left when none calls, or is called by, one outside them."""
    calls = {name: set(_NAME.findall(macro.body)) for name, macro in macros.items()}
    while True:
        called = set[str]().union(*calls.values())
        left = {name: inner & calls.keys() for name, inner in calls.items() if name in called and inner & calls.keys()}
        if len(left) == len(calls):
            return left
        calls = left


def find_definitions(tex: str) -> Iterator[Definition]:
    """Yield what a document defines, in its order."""
    for found in islice(_DEFINITION.finditer(tex), MOST_MACROS):
        default = read_optional(tex, found.end()) if found["command"] else None
        at = default[1] if default else found.end()
        if found["environment"]:
            begin = read_braced(tex, skip_optional(tex, at), _LONGEST)
            at = begin[1] if begin is not None else len(tex)
        body = read_braced(tex, at, _LONGEST)
        if body is None:
            continue
        count = int(found["count"] or (found["parameters"] or "").count("#") + (found["mandatory"] or "").count("m"))
        name = found["command"] or found["tex"] or found["document"] or ""
        macro = Macro(body[0].replace("\n", " "), count, default[0] if default else None) if name else Macro("")
        yield Definition(found.start(), body[1], name, macro)
