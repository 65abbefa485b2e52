r"""Reads LaTeX from left to right as what it prints: "224\textsuperscript{2}" is 224^2, "$72_{\pm 0.1}$" is 72 ±0.1."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

from imlp_audit.transcribe.cells import RAISED
from imlp_audit.transcribe.grid import MOST_COLUMNS, MOST_ROWS, SourceRow, SpanningCell
from imlp_audit.transcribe.latex import macros as latex

UNSEEN = "⋄"
"""What stands for a picture, a footnote, or a macro that nobody knows: what it says of a row is not lost."""
_ROOM = 50_000  # characters that macros may add
_DEEPEST = 12  # scripts of scripts
_THIN = "\u2009"
_TOKEN = re.compile(r"\\(?P<name>[A-Za-z@]+)|\\(?P<sign>.)|(?P<raw>[~^_{}$&])|(?P<text>[^\\~^_{}$&]+)", re.DOTALL)
_LIGATURES = {"---": "—", "--": "–", "``": "“", "''": "”"}
_LIGATURE = re.compile("|".join(_LIGATURES))
_SIGNS = {",": _THIN, ";": " ", ":": " ", " ": " ", "\n": " ", "!": "", "/": "", "-": "", "(": "", ")": ""}
_CITED = re.compile(r"[a-z]*cite[a-z]*|(?:auto|eq|page|c)?ref", re.IGNORECASE)
_MARK = "\x1a"  # of a citation
_EMPTY = re.compile(rf"\s*[(\[]\s*(?:see|e\.g\.|cf\.)?,?\s*{_MARK}(?:\s*[,;]\s*{_MARK})*\s*[)\]]")
_SEVERAL = re.compile(rf"\s*{_MARK}(?:\s*(?:[,;]|(?:,\s*)?(?:and|&))\s*{_MARK})*")
_ALIGNMENT = re.compile(r"\{[lcrtb]{1,2}\}\s*(?=\{)")  # before what it aligns, as in \tabincell{c}{5.7}
_NO_SPACE = (*"{}~.,:;/'!?)-_^", r"\/", r"\xspace")  # what may follow \xspace without a space between
_HEADS = re.compile(r"\\end(?:firsthead|head|foot|lastfoot)\b")

_RULE = re.compile(
    r"\s*\\([A-Za-z]*(?:rule|hline)|cline|cdashline|hdashline|addlinespace|noalign|rowcolor|arrayrulecolor"
    r"|morecmidrules|rowfont)(?![A-Za-z@])\*?"
)
_RULE_ARGUMENTS = {
    "Xhline": 1, "hhline": 1, "cmidrule": 1, "cline": 1, "cdashline": 1, "noalign": 1, "rowcolor": 1,
    "arrayrulecolor": 1, "rowfont": 1, "specialrule": 3, "rule": 2, "hrule": 0,
}  # fmt: skip
_PARTIAL = frozenset({"cmidrule", "cline", "cdashline", "rule"})
_TRIMMED = re.compile(r"\s*\([lr\d.{}a-z]*\)")
_LENGTH = re.compile(r"\s*[\d.]+\s*(?:pt|em|ex|mm|cm|in|bp|sp)\s*")


def _read_rule(tex: str, at: int) -> tuple[int, bool] | None:
    """Return where a rule, colour or distance ends, and whether it is through all columns; braces begin a cell."""
    found = _RULE.match(tex, at)
    if found is None:
        return None
    name, end = found[1], latex.skip_optional(tex, found.end())
    trimmed = _TRIMMED.match(tex, end) if name in _PARTIAL else None
    end = trimmed.end() if trimmed is not None else end
    wanted = _RULE_ARGUMENTS.get(name)
    while wanted != 0 and (argument := latex.read_braced(tex, end)) is not None:
        if wanted is None and _LENGTH.fullmatch(argument[0]) is None:
            break
        wanted, end = (None if wanted is None else wanted - 1), argument[1]
    full = name.endswith(("rule", "hline")) and name not in _PARTIAL
    return latex.skip_optional(tex, end) if name == "rowcolor" else end, full


def to_text(tex: str, macros: Mapping[str, latex.Macro] | None = None) -> str:
    """Return what LaTeX prints, without its citations; a text that is longer than any argument is cut."""
    scanner = _Scanner(latex.balance(tex[: latex.LONGEST]), macros or {})
    scanner.read()
    return scanner.take()


def read_rows(tex: str, line: int, macros: Mapping[str, latex.Macro]) -> tuple[list[SourceRow], set[str], set[str]]:
    """Return the rows of a tabular's body that begins at a line, and the macros in it that are not known or endless."""
    parts = _HEADS.split(tex)  # of a table of several pages: its head once and without its foot
    if len(parts) > 1:
        head, rest = parts[0], parts[-1]
        tex = head + "\n" * tex.count("\n", len(head), len(tex) - len(rest)) + rest
    scanner = _Rows(latex.balance(tex), line, macros)
    scanner.read()
    return scanner.rows, scanner.unknown, scanner.endless


class _Scanner:
    """Reads LaTeX: an author's macro is replaced by its text where it stands, and reading goes on there."""

    def __init__(self, tex: str, macros: Mapping[str, latex.Macro], depth: int = 0) -> None:
        self.tex, self.at, self.macros, self.depth = tex, 0, macros, depth
        self.room = len(tex) + _ROOM
        self.unknown: set[str] = set()
        self.endless: set[str] = set()
        self.pieces: list[str] = []
        self.groups = [False]  # whether something stands in each open group already

    def read(self) -> None:
        """Read to the end."""
        while (found := _TOKEN.match(self.tex, self.at)) is not None:  # a backslash at the very end is no token
            self.at = found.end()
            if found["text"] is not None:
                self.put(_LIGATURE.sub(lambda run: _LIGATURES[run[0]], found["text"]))
            elif found["name"] is not None:
                name = found["name"] if self._knows(found["name"]) else found["name"].partition("@")[0]
                self.at = found.start("name") + len(name or found["name"])
                self.read_command(name or found["name"], found.start())
            elif found["sign"] is not None:
                self.read_sign(found["sign"])
            else:
                self.read_raw(found["raw"])

    def put(self, text: str) -> None:
        """Add what is printed."""
        self.pieces.append(text)
        self.groups[-1] = self.groups[-1] or bool(text.strip())

    def take(self) -> str:
        """Return the text so far, and begin anew."""
        text = _SEVERAL.sub("", _EMPTY.sub("", "".join(self.pieces)))
        self.pieces, self.groups = [], [False]
        return " ".join(re.sub(rf"(?<=\d){_THIN}(?=\d)", "", text).split())

    def _push(self, tex: str, end: int) -> None:
        """Read some LaTeX next, in place of what stands before the place `end`."""
        self.tex, self.at = latex.join([tex, self.tex[end:]]), 0

    def _script(self, tex: str) -> str:
        inner = _Scanner(latex.balance(tex), self.macros, self.depth + 1)
        if self.depth < _DEEPEST:
            inner.read()
        self.unknown |= inner.unknown
        self.endless |= inner.endless
        return inner.take()

    def read_raw(self, sign: str) -> None:
        """Read a sign that means something in LaTeX."""
        if sign == "{":
            self.groups.append(False)
        elif sign == "}" and len(self.groups) > 1:
            self.groups.pop()
            self.groups[-1] = True
        elif sign in "~&":
            self.put(" " if sign == "~" else sign)
        elif sign in "^_":
            self._read_shifted(sign)

    def read_sign(self, sign: str) -> None:
        """Read a backslash with a sign behind it."""
        if self._read_accent(sign):
            return
        if sign == "\\":
            self.at = latex.skip_optional(self.tex, self.at)
        self.put(" " if sign == "\\" else _SIGNS.get(sign, sign))

    def _read_shifted(self, name: str) -> None:
        read = latex.read_arguments(self.tex, self.at, 1)
        self.at = read[1] if read else self.at
        self.put(_SHIFTED[name](self._script(read[0][0])) if read else "")

    def _read_accent(self, name: str) -> bool:
        read = latex.read_arguments(self.tex, self.at, 1) if name in latex.ACCENTS else None
        letters = read[0][0].removeprefix("\\") if read is not None else ""
        if read is None or not letters[:1].isalpha():
            return False
        self.put(unicodedata.normalize("NFC", letters[0] + latex.ACCENTS[name] + letters[1:]))
        self.at = read[1]
        return True

    def _knows(self, name: str) -> bool:
        return name in self.macros or name in latex.SILENT or latex.symbol(name) is not None

    def expand(self, name: str) -> bool:
        """Put the text of an author's macro in its place; return False for another. Rules of one's own stay rules."""
        if name not in self.macros or name.endswith(("hline", "rule")):
            return False
        macro = self.macros[name]
        text, end = macro.call(self.tex, latex.skip_space(self.tex, self.at))
        self.endless |= {name} if macro.endless else set()
        self.room -= len(text)
        self._push(text if self.room > 0 else "", end)
        return True

    def read_command(self, name: str, start: int) -> None:
        """Read a macro that begins at a place, after its name."""
        if self.expand(name) or self._read_accent(name):
            return
        self.at += self.tex.startswith(("*{", "*["), self.at)
        if _CITED.fullmatch(name):
            self._drop(1, _MARK)
            self.at = latex.skip_optional(self.tex, self.at)
        elif name in latex.DROPPED:
            self._drop(latex.DROPPED[name])
        elif name in latex.LAST_KEPT or name in latex.BETWEEN:
            self._read_kept(name)
        elif name in _SHIFTED:
            self._read_shifted(name)
        elif name in ("begin", "end"):
            self.read_environment(name)
        elif name == "xspace":
            self.at = latex.skip_space(self.tex, self.at)
            self.put("" if self.tex.startswith(_NO_SPACE, self.at) else " ")
        elif name not in latex.SILENT and (rule := _read_rule(self.tex, start)) is not None:
            self.at = rule[0]
        else:
            self._read_other(name)

    def _drop(self, count: int, mark: str = "") -> None:
        read = latex.read_arguments(self.tex, self.at, count)
        self.at = latex.skip_space(self.tex, self.at) if read is None else read[1]
        self.pieces.append(mark)

    def _read_kept(self, name: str) -> None:
        """Read on in the arguments of a macro that are printed: the last one, or both with a sign between."""
        read = latex.read_arguments(self.tex, self.at, latex.LAST_KEPT.get(name, 2))
        if read is None:
            self.at = latex.skip_space(self.tex, self.at)
            return
        self.read_span(name, read[0][0])
        self._push(f"{{{latex.BETWEEN[name].join(read[0]) if name in latex.BETWEEN else read[0][-1]}}}", read[1])

    def read_span(self, name: str, count: str) -> None:
        """Take note of how many columns or rows a cell stands over; in a text there are none."""

    def read_environment(self, part: str) -> None:
        """Skip the begin or end of an environment in a cell; a table in a cell is its text in one line."""
        read = latex.read_braced(self.tex, self.at)
        if read is not None:
            arguments = latex.TABULARS.get(read[0]) or latex.BOXES.get(read[0]) or 0
            self.at = latex.skip_arguments(self.tex, read[1], arguments if part == "begin" else 0)
            self.put(" ")

    def _read_other(self, name: str) -> None:
        """Read a macro that is a character, or changes only how its argument looks, or that is not known."""
        printed = None if name in latex.SILENT else latex.symbol(name)
        if printed is not None:
            self.at = latex.skip_space(self.tex, self.at)
            self.put(printed)
            return
        mark = UNSEEN if self.groups[-1] else ""  # before a text it is a bullet
        option = latex.read_optional(self.tex, self.at) if self.tex.startswith("[", self.at) else None
        if name in ("footnotemark", "tmark"):
            self.at = option[1] if option is not None else self.at
            self.put(_SHIFTED["tnote"](option[0]) if option is not None else mark)
        elif name in ("includegraphics", "footnote", "tablefootnote"):  # what they say stands elsewhere
            self._drop(1)
            self.put(mark)
        else:
            bracketed = option is not None and self.tex.startswith("{", option[1])
            self.at = option[1] if option is not None and bracketed else latex.skip_space(self.tex, self.at)
            if name not in latex.SILENT:
                self._read_unknown(name, mark)

    def _read_unknown(self, name: str, mark: str) -> None:
        self.unknown.add(name)
        aligned = _ALIGNMENT.match(self.tex, self.at)
        self.at = aligned.end() if aligned else self.at
        self.put("" if self.tex.startswith("{", self.at) else mark)


class _Rows(_Scanner):
    """Reads the body of a tabular: what is in braces, or in a table of its own, is in one cell."""

    def __init__(self, tex: str, line: int, macros: Mapping[str, latex.Macro]) -> None:
        super().__init__(tex, macros)
        self.rows: list[SourceRow] = []
        self._whole, self._line, self._counted = tex, line, 0
        self._nested = 0
        self._ruled = False
        self._cells: list[SpanningCell] = []
        self._span = {"column": 1, "row": 1}

    def read(self) -> None:
        """Read all rows."""
        self._begin_row()
        super().read()
        self._end_row()

    def _begin_row(self) -> None:
        """Read the rules above a row; its line is that of what follows them."""
        while True:
            self.at = latex.skip_space(self.tex, self.at)
            found = _TOKEN.match(self.tex, self.at)
            if (rule := _read_rule(self.tex, self.at)) is not None:
                self.at, self._ruled = rule[0], self._ruled or rule[1]
            elif found is not None and found["name"] in self.macros:
                self.at = found.end()
                self.expand(found["name"])
            else:
                break
        at = max(self._counted, len(self._whole) - len(self.tex) + self.at)  # macros change only what was read
        self._line += self._whole.count("\n", self._counted, at)
        self._counted = at

    def _end_cell(self) -> None:
        self._cells.append(SpanningCell(self.take(), self._span["column"], self._span["row"]))
        self._span = {"column": 1, "row": 1}

    def _end_row(self) -> None:
        self._end_cell()
        if any(cell.text for cell in self._cells) and len(self.rows) <= MOST_ROWS:
            self.rows.append(SourceRow(self._line, tuple(self._cells), self._ruled))
            self._ruled = False
        self._cells = []

    def _is_open(self) -> bool:
        return len(self.groups) > 1 or self._nested > 0

    def read_raw(self, sign: str) -> None:
        if sign == "&" and not self._is_open():
            self._end_cell()
        else:
            super().read_raw(sign)

    def read_sign(self, sign: str) -> None:
        """Read a sign; two backslashes end a row."""
        if sign != "\\" or self._is_open():
            super().read_sign(sign)
            return
        self.at += self.tex.startswith("*", self.at)
        distance = latex.read_optional(self.tex, self.at) if self.tex.startswith("[", self.at) else None
        self.at = distance[1] if distance else self.at
        self._end_row()
        self._begin_row()

    def read_command(self, name: str, start: int) -> None:
        """Read a macro; some end a row."""
        if name in ("tabularnewline", "cr") and not self._is_open():
            self.read_sign("\\")
        else:
            super().read_command(name, start)

    def read_environment(self, part: str) -> None:
        """Skip an environment's begin or end."""
        super().read_environment(part)
        self._nested = max(0, self._nested + (1 if part == "begin" else -1))

    def read_span(self, name: str, count: str) -> None:
        """Take note of how many columns or rows a cell stands over; a negative number of rows stands upwards."""
        found = re.fullmatch(r"\s*(-?\d{1,5})\s*", count, re.ASCII)
        if not self._nested and name.startswith("multi"):
            which, most = ("column", MOST_COLUMNS) if name == "multicolumn" else ("row", MOST_ROWS)
            self._span[which] = max(-most, min(most, int(found[1]) if found else 1)) or 1


def _raise(text: str) -> str:
    """Write a superscript: a footnote mark as it is, anything else after ^."""
    return f"^{text}" if text[:1].isalnum() or (text[:1] in "+-−(" and text) else text


def _lower(text: str) -> str:
    """Write a subscript: a second number after a space, anything else after _."""
    return "" if not text else f" {text}" if text[:1] in "±+-−–(↑↓" else f"_{text}"


_SHIFTED: dict[str, Callable[[str], str]] = {
    "^": _raise,
    "textsuperscript": _raise,
    "_": _lower,
    "textsubscript": _lower,
    "tnote": lambda text: _raise(text).translate(RAISED),  # a footnote's digits differ from those of a power
    "ding": lambda text: latex.symbol(f"ding{text.strip()}") or "",
}
"""How what a sign or a macro raises or lowers is written."""
