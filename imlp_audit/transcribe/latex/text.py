r"""A cell's LaTeX as the text that it prints: "224\textsuperscript{2}" is 224^2, "$72.2_{\pm 0.1}$" is 72.2 ±0.1."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from imlp_audit.transcribe.cells import RAISED
from imlp_audit.transcribe.latex.macros import (
    ACCENTS,
    BETWEEN,
    BOXES,
    DINGBATS,
    DROPPED,
    LAST_KEPT,
    LINE_ENDS,
    LONGEST,
    SILENT,
    SYMBOLS,
    TABULARS,
    Macro,
    balance,
    expand,
    known_part,
    read_arguments,
    read_braced,
    read_optional,
    skip_optional,
    skip_space,
)

_NAME = re.compile(
    r"\s*\\([A-Za-z]*(?:rule|hline)|cline|cdashline|hdashline|addlinespace|noalign|rowcolor|arrayrulecolor"
    r"|morecmidrules|rowfont)(?![A-Za-z@])\*?"
)
_ARGUMENTS = {
    "Xhline": 1, "hhline": 1, "cmidrule": 1, "cline": 1, "cdashline": 1, "noalign": 1, "rowcolor": 1,
    "arrayrulecolor": 1, "rowfont": 1, "specialrule": 3, "rule": 2, "hrule": 0,
}  # fmt: skip
_PARTIAL = frozenset({"cmidrule", "cline", "cdashline", "rule"})
_TRIMMED = re.compile(r"\s*\([lr\d.{}a-z]*\)")
_LENGTH = re.compile(r"\s*[\d.]+\s*(?:pt|em|ex|mm|cm|in|bp|sp)\s*")


@dataclass(frozen=True)
class RuleMacro:
    """Where a rule's macro ends, and whether the rule goes through all columns."""

    end: int
    full: bool


def read_rule(tex: str, at: int) -> RuleMacro | None:
    """Return the rule, colour or distance at a place; None where something else stands there.

    A rule of the author's own may have a thickness as its argument; other braces after it are the first cell.
    """
    found = _NAME.match(tex, at)
    if found is None:
        return None
    name, end = found[1], skip_optional(tex, found.end())
    trimmed = _TRIMMED.match(tex, end) if name in _PARTIAL else None
    end = trimmed.end() if trimmed is not None else end
    wanted = _ARGUMENTS.get(name)
    while (argument := read_braced(tex, end)) is not None:
        if wanted == 0 or (wanted is None and _LENGTH.fullmatch(argument.text) is None):
            break
        wanted, end = (None if wanted is None else wanted - 1), argument.end
    full = name.endswith(("rule", "hline")) and name not in _PARTIAL
    return RuleMacro(skip_optional(tex, end) if name == "rowcolor" else end, full)


_ARGUMENTS_OF_ONE = r"\*?\s*(?:\[[^\]]{0,200}\]\s*){0,2}\{[^{}]{0,1000}\}"
_CITED = re.compile(rf"\\(?:\w*cite\w*|(?:auto|eq|page|[cC])?ref){_ARGUMENTS_OF_ONE}")
_MARK = "\x1a"
_EMPTY = re.compile(rf"\s*[(\[]\s*(?:see|e\.g\.|cf\.)?,?\s*{_MARK}(?:\s*[,;]\s*{_MARK})*\s*[)\]]")
_SEVERAL = re.compile(rf"\s*{_MARK}(?:\s*(?:[,;]|(?:,\s*)?(?:and|&))\s*{_MARK})*")


def to_sentence(tex: str, macros: Mapping[str, Macro]) -> str:
    """Return what a caption prints, without its citations."""
    text = to_text(_CITED.sub(_MARK, expand(tex, macros)[0]))
    return re.sub(r"\s+(?=[.,;:])", "", _SEVERAL.sub("", _EMPTY.sub("", text))).strip()


_TOKEN = re.compile(r"\\(?P<name>[A-Za-z@]+)|\\(?P<sign>.)|(?P<raw>[~^_{}$])|(?P<text>[^\\~^_{}$]+)", re.DOTALL)
_LIGATURES = {"---": "—", "--": "–", "``": "“", "''": "”"}
_LIGATURE = re.compile("|".join(_LIGATURES))
_DEEPEST = 30
_SHIFTED = ("textsuperscript", "tnote", "textsubscript")
_NOT_SHOWN = ("includegraphics", "footnote", "tablefootnote", "footnotemark", "tmark")  # what they say stands elsewhere
_KNOWN: frozenset[str] = frozenset().union(
    SYMBOLS,
    LINE_ENDS,
    DROPPED,
    LAST_KEPT,
    SILENT,
    ACCENTS,
    BETWEEN,
    _SHIFTED,
    _NOT_SHOWN,
    ("begin", "end", "xspace", "ding"),
)
_THIN = "\u2009"


def to_text(tex: str, unknown: set[str] | None = None) -> str:
    """Return what LaTeX prints, as text; the names of macros that are not known are added to `unknown`.

    A text that is longer than any argument is cut.
    """
    text = _convert(balance(tex[:LONGEST]), unknown if unknown is not None else set(), 0)
    text = re.sub(rf"(?<=\d){_THIN}(?=\d)", "", text)
    return " ".join(text.split())


def _convert(tex: str, unknown: set[str], depth: int) -> str:
    if depth > _DEEPEST:
        return ""
    pieces: list[str] = []
    at = 0
    while at < len(tex):
        found = _TOKEN.match(tex, at)
        if found is None:  # a backslash at the very end
            break
        at = found.end()
        if found["text"] is not None:
            pieces.append(_LIGATURE.sub(lambda run: _LIGATURES[run[0]], found["text"]))
        elif found["raw"] is not None:
            piece, at = _raw(found["raw"], tex, found, unknown, depth)
            pieces.append(piece)
        elif found["sign"] is not None:
            piece, at = _sign(found["sign"], tex, at)
            pieces.append(piece)
        else:
            name = known_part(found["name"], _KNOWN)
            piece, at = _macro(name, tex, _after_name(tex, found.start("name") + len(name)), unknown, depth)
            pieces.append(piece)
    return "".join(pieces)


def _after_name(tex: str, at: int) -> int:
    """Return the place after a macro's name, and after the star that is part of it before an argument."""
    return at + 1 if tex.startswith(("*{", "*["), at) else at


def _raw(sign: str, tex: str, found: re.Match[str], unknown: set[str], depth: int) -> tuple[str, int]:
    match sign:
        case "~":
            return " ", found.end()
        case "{":
            group = read_braced(tex, found.start())
            if group is None:
                return "", found.end()
            return _convert(group.text, unknown, depth + 1), group.end
        case "^" | "_":
            read = read_arguments(tex, found.end(), 1)
            if read is None:
                return sign, found.end()
            text = _convert(read[0][0], unknown, depth + 1)
            return (_raise(text) if sign == "^" else _lower(text)), read[1]
        case _:
            return "", found.end()


def _raise(text: str) -> str:
    """Write a superscript: a footnote mark as it is, anything else after ^."""
    text = text.strip()
    return f"^{text}" if text[:1].isalnum() or text[:1] in "+-−(" else text


def _lower(text: str) -> str:
    """Write a subscript: a second number after a space, anything else after _."""
    text = text.strip()
    return f" {text}" if text[:1] in "±+-−–(↑↓" else f"_{text}" if text else ""


def _accent(name: str, tex: str, at: int) -> tuple[str, int] | None:
    """Return a letter with an accent; None where no letter follows."""
    read = read_arguments(tex, at, 1)
    letters = read[0][0].removeprefix("\\") if read is not None else ""
    if read is None or not letters[:1].isalpha():
        return None
    return unicodedata.normalize("NFC", letters[0] + ACCENTS[name] + letters[1:]), read[1]


def _sign(sign: str, tex: str, at: int) -> tuple[str, int]:
    accented = _accent(sign, tex, at) if sign in ACCENTS else None
    if accented is not None:
        return accented
    if sign == "\\":
        return " ", skip_optional(tex, at)
    return {",": _THIN, ";": " ", ":": " ", " ": " ", "\n": " ", "!": "", "/": "", "-": "", "(": "", ")": ""}.get(
        sign, sign
    ), at


def _macro(name: str, tex: str, at: int, unknown: set[str], depth: int) -> tuple[str, int]:
    after = skip_space(tex, at)
    accented = _accent(name, tex, at) if name in ACCENTS else None
    if accented is not None:
        return accented
    if name in SYMBOLS:
        return SYMBOLS[name], after
    if name in LINE_ENDS:
        return " ", after
    if name in DROPPED or name in LAST_KEPT:
        read = read_arguments(tex, at, DROPPED.get(name) or LAST_KEPT[name])
        if read is None:
            return "", after
        end = skip_optional(tex, read[1]) if name.lower().startswith("cite") else read[1]
        return (_convert(read[0][-1], unknown, depth + 1) if name in LAST_KEPT else ""), end
    if name in _SHIFTED:
        return _shifted(name, tex, at, unknown, depth)
    if name in ("begin", "end"):
        return _environment(name, tex, at)
    if name == "xspace":
        return ("" if tex.startswith(_NO_SPACE, after) else " "), after
    if name == "ding":
        read = read_arguments(tex, at, 1)
        return (DINGBATS.get(read[0][0].strip(), ""), read[1]) if read else ("", after)
    if name in BETWEEN:
        read = read_arguments(tex, at, 2)
        return (BETWEEN[name].join(_convert(one, unknown, depth + 1) for one in read[0]), read[1]) if read else ("", at)
    start = tex.rindex("\\", 0, at)
    rule = read_rule(tex, start) if name not in SILENT else None
    if rule is not None:
        return "", rule.end
    sign = UNSEEN if skip_space(tex, 0) < start else ""  # before a text it is a bullet
    if name in ("footnotemark", "tmark"):
        number = read_optional(tex, at)
        return (_note(number.text), number.end) if number is not None else (sign, at)
    if name in _NOT_SHOWN:
        read = read_arguments(tex, at, 1)
        return (sign, read[1]) if read else ("", at)
    option = read_optional(tex, at) if tex.startswith("[", at) else None
    end = option.end if option is not None and tex.startswith("{", option.end) else after
    if name not in SILENT:
        unknown.add(name)
        end = _after_alignment(tex, end)
    return ("" if name in SILENT or tex.startswith("{", end) else sign), end


UNSEEN = "⋄"
"""What stands for a picture, a footnote, or a macro that nobody knows: what it says of a row is not lost."""
_ALIGNMENT = re.compile(r"\{[lcrtb]{1,2}\}\s*(?=\{)")


def _after_alignment(tex: str, at: int) -> int:
    """Return the place after {c}, which before a second argument aligns what it holds, as in \\tabincell{c}{5.7}."""
    found = _ALIGNMENT.match(tex, at)
    return found.end() if found else at


_NO_SPACE = (*"{}~.,:;/'!?)-_^", r"\/", r"\xspace")
"""What may follow \\xspace without a space between."""


def _shifted(name: str, tex: str, at: int, unknown: set[str], depth: int) -> tuple[str, int]:
    read = read_arguments(tex, at, 1)
    if read is None:
        return "", at
    text = _convert(read[0][0], unknown, depth + 1)
    match name:
        case "textsubscript":
            return _lower(text), read[1]
        case "tnote":
            return _note(text), read[1]
        case _:
            return _raise(text), read[1]


def _note(text: str) -> str:
    """Write the mark of a footnote: its digits raised, so that they differ from those of a power."""
    return _raise(text).translate(RAISED)


def _environment(name: str, tex: str, at: int) -> tuple[str, int]:
    """Skip the begin or end of an environment inside a cell; a table in a cell is its text in one line."""
    read = read_braced(tex, at)
    if read is None:
        return "", at
    end = skip_optional(tex, read.end)
    arguments = TABULARS.get(read.text) or BOXES.get(read.text) if name == "begin" else None
    for _ in range(arguments or 0):
        argument = read_braced(tex, end)
        end = skip_optional(tex, argument.end) if argument else end
    return " ", end
