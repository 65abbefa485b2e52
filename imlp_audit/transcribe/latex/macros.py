"""Macros: the author's own, put in place of their names; what those of LaTeX print; and where arguments end."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

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


SYMBOLS = {
    "times": "×", "cdot": "·", "pm": "±", "mp": "∓", "sim": "~", "approx": "≈", "le": "≤", "leq": "≤", "ge": "≥",
    "geq": "≥", "neq": "≠", "rightarrow": "→", "to": "→", "leftarrow": "←", "uparrow": "↑", "downarrow": "↓",
    "dagger": "†", "dag": "†", "textdagger": "†", "ddagger": "‡", "ddag": "‡", "textdaggerdbl": "‡", "ast": "*",
    "star": "⋆", "textasteriskcentered": "*", "S": "§", "P": "¶", "sharp": "♯", "natural": "♮", "diamond": "⋄",
    "checkmark": "✓", "cmark": "✓", "xmark": "✗", "infty": "∞", "Delta": "Δ", "delta": "δ", "alpha": "α",
    "beta": "β", "gamma": "γ", "lambda": "λ", "mu": "μ", "sigma": "σ", "circ": "∘", "bullet": "•", "ldots": "…",
    "dots": "…", "cdots": "…", "textminus": "−", "textendash": "–", "textemdash": "—", "textbackslash": "\\",
    "textasciitilde": "~", "textunderscore": "_", "textpm": "±", "texttimes": "×", "textuparrow": "↑",
    "textdownarrow": "↓", "percent": "%", "textpercent": "%", "quad": " ", "qquad": " ", "space": " ", "enspace": " ",
    "thinspace": "\u2009", "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "aa": "å",
    "AA": "Å", "i": "ı", "LaTeX": "LaTeX", "TeX": "TeX", "kilo": "k", "mega": "M", "giga": "G", "tera": "T",
    "milli": "m", "micro": "μ", "second": "s", "byte": "B", "bit": "bit", "per": "/", "mid": "|", "vert": "|",
    "lvert": "|", "rvert": "|", "surd": "√", "colon": ":", "prime": "′", "triangle": "△", "blacktriangle": "▲",
    "blacktriangledown": "▼", "triangledown": "▽", "square": "□", "spadesuit": "♠", "heartsuit": "♥", "clubsuit": "♣",
    "Gamma": "Γ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ",
    "Psi": "Ψ", "Omega": "Ω", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ", "iota": "ι",
    "kappa": "κ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "tau": "τ", "upsilon": "υ", "phi": "ϕ",
    "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "ell": "ℓ", "Uparrow": "⇑", "Downarrow": "⇓",
    "Rightarrow": "⇒", "Leftarrow": "⇐", "leftrightarrow": "↔", "updownarrow": "↕", "nearrow": "↗", "searrow": "↘",
    "upuparrows": "⇈", "downdownarrows": "⇊", "oplus": "⊕", "otimes": "⊗", "odot": "⊙", "bigstar": "★",
    "blacksquare": "■", "lozenge": "◊", "blacklozenge": "⧫", "triangleright": "▷", "triangleleft": "◁", "Diamond": "◇",
    "diamondsuit": "♦", "bigcirc": "○", "textbullet": "•", "textsection": "§", "textparagraph": "¶", "degree": "°",
    "textdegree": "°", "emptyset": "∅", "ne": "≠", "lt": "<", "gt": ">", "textless": "<", "textgreater": ">",
    "equiv": "≡", "simeq": "≃", "propto": "∝", "div": "÷", "Vert": "‖", "textbar": "|", "in": "∈", "flat": "♭",
}  # fmt: skip

LINE_ENDS = frozenset({"newline", "linebreak", "par", "tabularnewline"})

DROPPED = {
    "cite": 1, "citep": 1, "citet": 1, "citealp": 1, "citealt": 1, "citeyear": 1, "citeauthor": 1, "parencite": 1,
    "autocite": 1, "textcite": 1, "ref": 1, "autoref": 1, "cref": 1, "Cref": 1, "eqref": 1, "pageref": 1, "label": 1,
    "footnotetext": 1, "hspace": 1, "vspace": 1, "color": 1, "cellcolor": 1,
    "rowcolor": 1, "columncolor": 1, "arrayrulecolor": 1, "setlength": 2, "addtolength": 2, "fontsize": 2,
    "phantom": 1, "hphantom": 1, "vphantom": 1, "definecolor": 3, "colorlet": 2, "rule": 2,
    "arraystretch": 1, "renewcommand": 2, "newcommand": 2, "thanks": 1, "inst": 1, "linespread": 1, "pagecolor": 1,
}  # fmt: skip
"""Macros that print nothing here, with how many arguments they take."""

LAST_KEPT = {
    "textcolor": 2, "colorbox": 2, "rotatebox": 2, "resizebox": 3, "scalebox": 2, "raisebox": 2, "parbox": 2,
    "href": 2, "adjustbox": 2, "makebox": 1, "framebox": 1, "fcolorbox": 3, "num": 1, "tablenum": 1,
    "foreignlanguage": 2, "multicolumn": 3, "multirow": 3, "stackrel": 2, "texorpdfstring": 2,
    "hyperref": 1,
}  # fmt: skip
"""Macros of which the last argument is printed, with how many they take."""

BETWEEN = {
    "SI": " ",
    "qty": " ",
    "diagbox": "/",
    "backslashbox": "/",
    "frac": "/",
    "dfrac": "/",
    "tfrac": "/",
    "nicefrac": "/",
    "sfrac": "/",
}
"""Macros of two arguments that are both printed, with what stands between them."""

TABULARS = {
    "tabular": 1, "tabular*": 2, "tabularx": 2, "tabulary": 2, "tabu": 1, "longtable": 1, "supertabular": 1,
    "xtabular": 1, "NiceTabular": 1, "tblr": 1, "longtblr": 1, "xltabular": 2, "longtabu": 1,
}  # fmt: skip
"""Environments of rows and cells, with how many arguments stand before these."""

BOXES = {"array": 1, "minipage": 1, "turn": 1, "rotate": 1, "adjustbox": 1, "varwidth": 1}
"""Other environments inside cells, with how many arguments they take."""

DINGBATS = {"51": "✓", "52": "✓", "53": "✗", "54": "✗", "55": "✗", "56": "✗", "72": "★", "73": "☆", "171": "★"}
"""The signs of `\\ding`."""

SILENT = frozenset({
    "textbf", "textit", "textsc", "texttt", "textrm", "textsf", "textmd", "textup", "textsl", "textnormal", "text",
    "emph", "underline", "uline", "ul", "mathbf", "mathrm", "mathit", "mathsf", "mathtt", "mathcal", "mathbb",
    "boldsymbol", "bm", "bf", "it", "rm", "sf", "tt", "sc", "em", "bfseries", "itshape", "mdseries", "upshape",
    "scshape", "ttfamily", "sffamily", "rmfamily", "normalfont", "boldmath", "unboldmath", "tiny", "scriptsize",
    "footnotesize", "small", "normalsize", "large", "Large", "LARGE", "huge", "Huge", "centering", "raggedright",
    "raggedleft", "arraybackslash", "makecell", "thead", "shortstack", "mbox", "hbox", "operatorname", "url", "path",
    "left", "right", "big", "Big", "bigl", "bigr", "protect", "relax", "hfill", "hskip", "noindent",
    "displaystyle", "textstyle", "ensuremath", "ignorespaces", "unskip", "strut", "mathstrut", "leavevmode", "enskip",
    "dashuline", "uwave", "cellspace", "bigstrut", "Tstrut", "Bstrut", "limits", "nolimits", "smash", "mathsmaller",
    "smaller", "larger", "selectfont", "rlap", "llap", "clap", "centerline", "begingroup", "endgroup", "and",
    "sl", "cal", "rothead", "rotcell", "gape", "Gape",
})  # fmt: skip
"""Macros that only change how their argument looks."""

ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328", "r": "\u030a",
}  # fmt: skip
"""The accents that stand before their letter, as characters that follow it."""


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
