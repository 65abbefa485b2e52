"""A spec's text before it is parsed: a small UTF-8 file without invisible characters."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from imlp_audit.errors import Problem
from imlp_audit.files import BOM, MAX_SPEC_BYTES, FileError, read_text

MAX_PROBLEMS = 100  # per file; past this, nobody reads on

TAB = "a tab (U+0009)"

_BREAKS = "\x85\u2028\u2029"
_CONTROL = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
_BIDI = "\u202a-\u202e\u2066-\u2069"
_NONE = "\ud800-\udfff\ufffe\uffff"

# Pattern, why it is refused, and the character that stands in for each of its own while the rest is parsed.
_REFUSED = (
    ("\t", "it has no fixed width in YAML; use spaces", " "),
    (
        f"\r(?!\n)|[{_BREAKS}]",
        "YAML takes it for a line end and editors do not: use an ordinary line end",
        " ",
    ),
    (f"[{_CONTROL}]", "it is a control character: remove it", "\ufffd"),
    (f"[{_BIDI}]", "it changes the order in which text is shown: remove it", "\ufffd"),
    (BOM, "a byte order mark can only begin a file: remove it", "\ufffd"),
    (f"[{_NONE}]", "it is not a character: remove it", "\ufffd"),
    # libyaml refuses these escapes too, but at the quote that begins the text.
    (
        r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\U0000[dD][89a-fA-F][0-9a-fA-F]{2}|\\U(?!000|0010)[0-9a-fA-F]{8}",
        "this escape names no character: remove it",
        "\ufffd",
    ),
    ("^%", "a line that begins with % is a YAML directive, and a spec needs none: remove it", "#"),
)
_ANY_REFUSED = re.compile("|".join(f"({pattern})" for pattern, _, _ in _REFUSED), re.MULTILINE)
_REFUSED_VALUE = re.compile(f"[\r{_BREAKS}{_CONTROL}{_BIDI}{BOM}{_NONE}]")
# Every refused text holds one of these. They are searched twenty times as fast as the patterns one by one.
_SUSPECT = re.compile(rf"[\t\r{_BREAKS}{_CONTROL}{_BIDI}{BOM}{_NONE}]")
_SUSPECT_TEXTS = ("\\u", "\\U", "\n%")


def read_spec_text(path: Path, shown_as: str) -> str | Problem:
    """The text of a regular UTF-8 file of at most `MAX_SPEC_BYTES`, or why it cannot be had."""
    try:
        return read_text(path, MAX_SPEC_BYTES, shown_as)
    except FileError as error:
        return error.problem(shown_as)


def clean(text: str, shown_as: str) -> tuple[str, list[Problem]]:
    """The text without refused characters, and a problem for each of those.

    What is refused is replaced one for one, so that lines and columns stay those of the file.
    """
    text = text.removeprefix(BOM)
    if _SUSPECT.search(text) is None and not any(suspect in f"\n{text}" for suspect in _SUSPECT_TEXTS):
        return text, []
    hits = islice(_ANY_REFUSED.finditer(text), MAX_PROBLEMS + 1)
    return _ANY_REFUSED.sub(_stand_in, text), [_problem(hit, shown_as) for hit in hits]


def refused_in_value(value: str) -> str | None:
    """The first refused character that an escape such as `\\u202e` has brought into a value."""
    hit = _REFUSED_VALUE.search(value)
    return None if hit is None else _name(hit[0])


def without_refused(value: str) -> str:
    """Return a value with a space for each character that a spec refuses."""
    return _REFUSED_VALUE.sub(" ", value)


def _stand_in(hit: re.Match[str]) -> str:
    return _row(hit)[2] * len(hit[0])


def _problem(hit: re.Match[str], shown_as: str) -> Problem:
    line, column = _place(hit.string[: hit.start()])
    return Problem(shown_as, line, column, f"{_name(hit[0])} is refused: {_row(hit)[1]}")


def _row(hit: re.Match[str]) -> tuple[str, str, str]:
    return next(row for row, found in zip(_REFUSED, hit.groups(), strict=True) if found is not None)


def _name(found: str) -> str:
    if found == "\t":
        return TAB
    return f"U+{ord(found):04X}" if len(found) == 1 and found != "%" else found


def _place(before: str) -> tuple[int, int]:
    """Line and column, from 1, of what follows this text."""
    return before.count("\n") + 1, len(before) - before.rfind("\n")
