"""Finding the numbers in running text: their digits as they are printed, wherever they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from imlp_audit.numbers.forms import DIGITS, DecimalMark

_SIGN = r"(?:(?<![\w.,)\]}%'’^_])[-−–])?"  # a hyphen after a word or a number joins, and is no minus
_VERSION = r"(?<![0-9])[0-9]+(?:\.[0-9]+){2,}"
_FRACTION = r"(?<![\w.,)])\.[0-9]+"  # p < .05
_PERCENT = r"(?:\s?\\?%)?"


@dataclass(frozen=True, slots=True)
class FoundNumber:
    """A number in a text: where its digits begin and end, and its text with the sign and the percent sign.

    `key` are the digits by which two numbers are the same as printed: 5.0 is not 5.00, and 1,000 is 1000.
    """

    start: int
    end: int
    text: str
    key: str

    @property
    def unsigned(self) -> str:
        """The key without the sign."""
        return self.key.removeprefix("-")


def find_numbers(text: str, decimal: DecimalMark = ".") -> Iterator[FoundNumber]:
    """Yield the numbers of a text in order; those of an identifier, such as ResNet50, too."""
    for found in _PATTERNS[decimal].finditer(text):
        key = _key(found["digits"], decimal, signed=bool(found["sign"]))
        yield FoundNumber(*found.span("digits"), found[0], key)


def keys_of(text: str, decimal: DecimalMark = ".") -> list[str]:
    """Return the keys of the numbers of a text in order."""
    return [number.key for number in find_numbers(text, decimal)]


def unsigned_keys(text: str, decimal: DecimalMark = ".") -> list[str]:
    """Return the keys of the numbers of a text without their signs: a text says "reduced by 12.6%" of -12.6."""
    return [key.removeprefix("-") for key in keys_of(text, decimal)]


def _pattern(decimal: DecimalMark) -> re.Pattern[str]:
    digits = rf"{_VERSION}|(?a:{DIGITS[decimal]})" + (rf"|{_FRACTION}" if decimal == "." else "")
    return re.compile(rf"(?P<sign>{_SIGN})(?P<digits>{digits}){_PERCENT}")


def _key(digits: str, decimal: DecimalMark, *, signed: bool) -> str:
    whole = digits.replace("," if decimal == "." else ".", "")
    return f"{'-' if signed else ''}{'0' if whole.startswith('.') else ''}{whole}"


_PATTERNS: dict[DecimalMark, re.Pattern[str]] = {".": _pattern("."), ",": _pattern(",")}
