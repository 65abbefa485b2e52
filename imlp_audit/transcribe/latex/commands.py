"""What the commands of LaTeX print in a table, and how many arguments they take."""

from __future__ import annotations

from html.entities import html5

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
