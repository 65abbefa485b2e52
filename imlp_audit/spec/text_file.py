"""A spec's text before it is parsed: a small UTF-8 file without invisible characters."""

from __future__ import annotations

import re
import stat
from itertools import islice
from pathlib import Path

from imlp_audit.errors import Problem

MAX_BYTES = 1024 * 1024
MAX_PROBLEMS = 100  # per file; past this, nobody reads on

TAB = "a tab (U+0009)"

_BREAKS = "\x85\u2028\u2029"
_CONTROL = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
_BIDI = "\u202a-\u202e\u2066-\u2069"
_BOM = "\ufeff"
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
    (_BOM, "a byte order mark can only begin a file: remove it", "\ufffd"),
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
_REFUSED_VALUE = re.compile(f"[\r{_BREAKS}{_CONTROL}{_BIDI}{_BOM}{_NONE}]")
# Every refused text holds one of these. They are searched twenty times as fast as the patterns one by one.
_SUSPECT = re.compile(rf"[\t\r{_BREAKS}{_CONTROL}{_BIDI}{_BOM}{_NONE}]")
_SUSPECT_TEXTS = ("\\u", "\\U", "\n%")


def read_text(path: Path, shown_as: str) -> str | Problem:
    """The text of a regular UTF-8 file of at most `MAX_BYTES`, or why it cannot be had."""
    try:
        data = _read_bytes(path, shown_as)
    except OSError as error:
        reason = error.strerror or error
        return Problem(shown_as, 1, 1, f"cannot be read ({reason}): check the path and its permissions")
    return data if isinstance(data, Problem) else _decode(data, shown_as)


def _read_bytes(path: Path, shown_as: str) -> bytes | Problem:
    # Asked before it is opened: opening a pipe would wait for its writer.
    if not stat.S_ISREG(path.stat().st_mode):
        return Problem(shown_as, 1, 1, "is not a regular file: give the path of a YAML file")
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        return Problem(shown_as, 1, 1, f"is larger than {MAX_BYTES} bytes: split it, a table to a file")
    return data


def _decode(data: bytes, shown_as: str) -> str | Problem:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = _place(data[: error.start].decode("utf-8"))
        byte = data[error.start]
        return Problem(shown_as, line, column, f"byte 0x{byte:02x} is not UTF-8: save the file as UTF-8")


def clean(text: str, shown_as: str) -> tuple[str, list[Problem]]:
    """The text without refused characters, and a problem for each of those.

    What is refused is replaced one for one, so that lines and columns stay those of the file.
    """
    text = text.removeprefix(_BOM)
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
