"""Reading what papers print as a number: in the column's unit or its own, with a plus-minus, as a square, ..."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias

from imlp_audit.numbers.printed import SIGNS, Printed

# The factor of a unit; any other unit (images/s, BLEU, ...) has the factor 1.
SCALES = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "B": 10**9, "T": 10**12}
Square: TypeAlias = Literal["side", "area"]

_LONGEST = 40  # characters; a longer text is a mistake
_MINUS = "-−–"
_PLUS_MINUS = re.compile(r"\s*(?:±|\+/-|\+-|\\pm)\s*")
_POWER = re.compile(r"[×xX*·⋅]\s*10\s*(?:\^\{?(\d{1,2})\}?|([⁰¹²³⁴-⁹]{1,2}))\s*")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_SQUARE = re.compile(r"([1-9]\d{0,4})(?:\s*(?:\^2|\^\{2\}|²)|\s*[x×]\s*\1)", re.ASCII)


@dataclass(frozen=True)
class NumberForm:
    """What a number of a unit may look like where it stands.

    `nouns` are words for what is counted: a number of those may state a scale of its own (25.6M, 4.1 GFLOPs,
    4.1×10^9). A `square` such as 224^2 stands for its side, or for its area.
    """

    unit: str = ""
    nouns: tuple[str, ...] = ()
    square: Square | None = None


_PREFIX = re.compile(r"\b([kmgtb])(?:flops?|macs?|madds?|ops)\b")
_HEADED = re.compile(r"[(\[/]\s*(?:in\s+)?(?:×|x|\*)?\s*(10\^?\{?(?:3|6|9|12)\}?|[kKMGBT]|[Mm]illions?|[Bb]illions?)"
                     r"(?:\s*(?:FLOPs?|MACs?|params?))?\s*(?:[)\]]|$)|(?:×|x)\s*(10\^?\{?(?:3|6|9|12)\}?)")  # fmt: skip
_POWERS = {"3": "k", "6": "M", "9": "G", "12": "T"}


def headed_unit(heading: str) -> str | None:
    """Return the unit that the heading of a column gives, as GFLOPs, Params (M) and FLOPs (10^9) do, if it does."""
    prefix = _PREFIX.search(heading.replace("_", " ").lower())
    if prefix is not None:
        return prefix[1].upper().replace("K", "k")
    found = _HEADED.search(heading)
    if found is None:
        return None
    written = found[1] or found[2]
    power = re.fullmatch(r"10\^?\{?(\d+)\}?", written)
    return _POWERS[power[1]] if power else written[0].upper().replace("K", "k")


@lru_cache(maxsize=4096)  # every cell is read by its rules, by its plan and by what repeats it
def parse_printed(text: str, form: NumberForm | str = "") -> Printed:
    """Read a printed number such as "5.00", "(-12.6%)", "1,415.1", "~25.6M" or "72.2 ± 0.1"; a form may be a unit.

    Raises ValueError, with what is expected, if the text is not such a number or has another unit.
    """
    form = NumberForm(form) if isinstance(form, str) else form
    given = text.strip()
    if len(text) > _LONGEST:
        raise ValueError(_refusal(text))
    square = _SQUARE.fullmatch(given) if form.square else None
    if square is not None:
        side = int(square[1])
        area = Fraction(side if form.square == "side" else side * side)
        return Printed(given, area, Fraction(1), SCALES.get(form.unit, 1), negative=False)
    inside, mean, spread = _split_spread(given)
    match = _NUMBER.fullmatch(mean)
    if match is None or (inside and spread is None and not match["sign"]):
        raise ValueError(_refusal(given))
    scale, unit = _scale_of(match["tail"].strip(), form, given)
    if match["approximately"] and spread is not None:
        raise ValueError(_refusal(given))
    value, step = _value_of(match["digits"])
    negative = bool(match["sign"]) and match["sign"] in _MINUS
    before, _, after = given.partition(match["digits"])
    return Printed(
        text=given,
        value=-value if negative else value,
        step=step,
        scale=scale,
        negative=negative,
        spread=spread,
        unit=unit,
        template=f"{before}{{}}{after}",
    )


_DIGITS = r"(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?"
_NUMBER = re.compile(
    rf"(?P<approximately>[~≈]\s*)?(?P<sign>[{re.escape(SIGNS)}]?)(?P<digits>{_DIGITS})\s*"
    rf"(?P<tail>%|(?:{_POWER.pattern})?(?:[A-Za-z][A-Za-z /-]*|))",
    re.ASCII,
)


def _value_of(digits: str) -> tuple[Fraction, Fraction]:
    """Return the value of digits, and of one unit of the last of them."""
    whole, _, part = digits.replace(",", "").partition(".")
    return Fraction(int(whole + part), 10 ** len(part)), Fraction(1, 10 ** len(part))


def _split_spread(text: str) -> tuple[bool, str, Fraction | None]:
    """Return whether brackets enclose a number, its text with the unit but without them, and its spread."""
    inside = re.fullmatch(r"\((.*)\)\s*(%?)", text)
    text = f"{inside[1].strip()}{inside[2]}" if inside is not None else text
    mean, *others = _PLUS_MINUS.split(text)
    if not others:
        return inside is not None, text, None
    spread = _NUMBER.fullmatch(others[0]) if len(others) == 1 else None
    first = _NUMBER.fullmatch(mean)
    if first is None or spread is None or spread["sign"] or spread["approximately"]:
        raise ValueError(_refusal(text))
    if first["tail"] not in ("", spread["tail"]):  # 25.6M ± 0.3: of which unit?
        raise ValueError(f"{text!r} has a unit in its first part only; write it behind the spread, e.g. 72.2 ± 0.1%")
    value, _ = _value_of(spread["digits"])
    return inside is not None, f"{mean}{'' if first['tail'] else spread['tail']}", value


def _scale_of(tail: str, form: NumberForm, text: str) -> tuple[int, str]:
    """Return the factor of what stands behind the digits, and it itself if it is not the column's unit."""
    if tail in ("", form.unit):
        return SCALES.get(form.unit, 1), ""
    noun = next((noun for noun in form.nouns if tail.casefold().endswith(noun)), "")
    scale = tail[: len(tail) - len(noun)].strip()
    power = _POWER.fullmatch(scale)
    if form.nouns and power is not None:
        return 10 ** int((power[1] or power[2]).translate(_RAISED)), tail
    if form.nouns and scale in SCALES:
        return SCALES[scale], tail
    if noun and not scale and not form.unit:
        return 1, tail
    raise ValueError(f"{text!r} is in {tail!r}, but {form.unit or 'no unit'!r} is expected here")


def _refusal(text: str) -> str:
    """Say what is wrong with a text that is no number, and what to write."""
    shown = repr(text[:_LONGEST])
    if re.fullmatch(r"\([^-+−–]*\)", text) and any(sign.isdigit() for sign in text):
        return f"{shown} may be a decrease or not, in brackets without a sign; write it with one, e.g. -12.6%"
    if _SQUARE.fullmatch(text):
        return f"{shown} is a square, which only columns of settings with of: image, patch or tokens hold"
    if re.fullmatch(r"\D*\d+,\d+\D*", text):
        return f"{shown} has a decimal comma; write a point in its place, e.g. 5.00"
    return f"{shown} is not a printed number; write it as printed, e.g. 5.00, -12.6% or 48M"


_SIGN = r"(?:(?<![\w.,)\]}%'’^_])[-−–])?"  # a hyphen after a word or a number joins, and is no minus
_VERSION = r"(?<![0-9])[0-9]+(?:\.[0-9]+){2,}"
_FRACTION = r"(?<![\w.,)])\.[0-9]+"  # p < .05
_PERCENT = r"(?:\s?\\?%)?"
_IN_TEXT = re.compile(rf"(?P<sign>{_SIGN})(?P<digits>{_VERSION}|(?a:{_DIGITS})|{_FRACTION}){_PERCENT}")


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


def find_numbers(text: str) -> Iterator[FoundNumber]:
    """Yield the numbers of a text in order; those of an identifier, such as ResNet50, too."""
    for found in _IN_TEXT.finditer(text):
        whole = found["digits"].replace(",", "")
        key = f"{'-' if found['sign'] else ''}{'0' if whole.startswith('.') else ''}{whole}"
        yield FoundNumber(*found.span("digits"), found[0], key)


def keys_of(text: str) -> list[str]:
    """Return the keys of the numbers of a text in order."""
    return [number.key for number in find_numbers(text)]


def unsigned_keys(text: str) -> list[str]:
    """Return the keys of the numbers of a text without their signs: a text says "reduced by 12.6%" of -12.6."""
    return [key.removeprefix("-") for key in keys_of(text)]
