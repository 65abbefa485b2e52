"""Text that has to fit: into so many columns, or into the characters that an encoding has."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import accumulate

_SIMILAR = {
    "“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "−": "-", "─": "-", "·": ".", "…": "...", "→": "->",
    "←": "<-", "×": "x", "⊙": "*", "±": "+-", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "∞": "inf", "√": "sqrt",
    "∈": "in", "∑": "sum", "✓": "ok", "✗": "no", "○": "o", "ƒ": "f",
}  # fmt: skip
_OPEN = re.compile(r"\([^()\[\]]*$")


@dataclass(frozen=True)
class Surface:
    """What a text is shown on: its width in characters, whether it shows colours, and the characters it has."""

    width: int = 120
    colour: bool = False
    encoding: str = "utf-8"


def shorten(text: str, most: int) -> str:
    """Return the words of a text that fit into so many columns, with three dots where some don't.

    A bracket that is open where the dots stand is closed behind them.
    """
    if text.isascii() and len(text) <= most:
        return text
    widths = [2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text]  # of Chinese two
    if sum(widths) <= most:
        return text
    kept = _first_words(text, widths, most - 3)
    if _OPEN.search(kept) is None:
        return f"{kept}..."
    kept = _first_words(text, widths, most - 4)
    return f"{kept}...{')' if _OPEN.search(kept) is not None else ''}"


def _first_words(text: str, widths: list[int], most: int) -> str:
    """Return the first words of a text that fit into so many columns; a part of the first where none does."""
    kept = text[: sum(end <= most for end in accumulate(widths))]
    return kept[: kept.rfind(" ")] if " " in kept else kept


def to_encoding(text: str, encoding: str) -> str:
    """Replace the characters that an encoding lacks: by similar ones where there are, by their escapes elsewhere."""
    if text.isascii():
        return text
    return "".join(char if _has(encoding, char) else _replace(char) for char in text)


def _has(encoding: str, char: str) -> bool:
    try:
        char.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _replace(char: str) -> str:
    if char in _SIMILAR:
        return _SIMILAR[char]
    plain = unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode()
    if plain or unicodedata.combining(char):
        return plain
    kind, _, name = unicodedata.name(char, "").partition(" LETTER ")
    if kind.startswith("GREEK"):
        return name.partition(" ")[0].capitalize() if kind.endswith("CAPITAL") else name.partition(" ")[0].lower()
    return char.encode("ascii", "backslashreplace").decode()
