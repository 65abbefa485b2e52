"""Writes text in the characters that an encoding has: arrows, signs and Greek letters in ASCII where it lacks them."""

from __future__ import annotations

import unicodedata

_ASCII = str.maketrans(
    {
        "“": '"',
        "”": '"',
        "‘": "'",
        "’": "'",
        "–": "-",
        "—": "-",
        "−": "-",
        "─": "-",
        "·": ".",
        "…": "...",
        "→": "->",
        "←": "<-",
        "×": "x",
        "⊙": "*",
        "±": "+-",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
        "≈": "~",
        "∞": "inf",
        "√": "sqrt",
        "∈": "in",
        "∑": "sum",
        "✓": "ok",
        "✗": "no",
        "○": "o",
        "ƒ": "f",
    }
)


def to_encoding(text: str, encoding: str) -> str:
    """Replace the characters that an encoding lacks: by similar ones where there are, by their escapes elsewhere."""
    if text.isascii():
        return text
    return "".join(char if _has(encoding, char) else _replace(char, encoding) for char in text)


def _has(encoding: str, char: str) -> bool:
    try:
        char.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _replace(char: str, encoding: str) -> str:
    similar = char.translate(_ASCII)
    if similar != char:
        return similar
    plain = unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode()
    kind, _, name = unicodedata.name(char, "").partition(" LETTER ")
    if plain or unicodedata.combining(char):
        return plain
    if kind.startswith("GREEK"):
        return name.partition(" ")[0].capitalize() if kind.endswith("CAPITAL") else name.partition(" ")[0].lower()
    return char.encode("ascii", "backslashreplace").decode()
