"""In which unit the numbers of a column of parameters or FLOPs are: printed, or a guess."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from imlp_audit.numbers.forms import SCALES, NumberForm, parse_printed
from imlp_audit.transcribe.cells import is_printed, read_cell
from imlp_audit.transcribe.sides import find_oblong, find_size

_SIZE = re.compile(
    r"(?:[@↑]|\bat\b|\bon\b)\s*(?P<at>\d{3,4})(?!\d)(?:\s*(?:\^2|²|px\b|[×xX]\s*(?P=at)(?!\d)))?"
    r"|\(\s*(?P<bracket>(?!1000)\d{3,4})\s*(?:(?:\^2|²|px|[×xX]\s*(?P=bracket))\s*)?\)"
    r"|(?<!\d)(?P<square>\d{3,4})\s*(?:\^2|²|px\b|[×xX]\s*(?P=square)(?!\d))",
    re.ASCII,
)
_NOTHING = re.compile(  # units, footnotes, data sets with digits, and words that mean something else alone
    r"10\s*\^?\{?(?:3|6|9|12|[³⁶⁹]|¹²)\}?(?!\d)|\(1000\)|\b1e\+?0?(?:3|6|9|12)\b|\[\d[\d\s,–-]*\]|\^\{?[\w*†‡§]\}?$"
    r"|\b(?:imagenet|im-?net|in)-?1k\b|\bilsvrc-?(?:20)?12\b|\b(?:single|one|1|center)-?\s?crop\b|\btop[- ]?[15]\b"
    r"|\bmult(?:i|iply)?[-\s]*adds?\b|#\s*p\b|[(\[/,_]\s*(?:in\s+)?[bt](?![^\W_])|\bin\s+[bt]\b",
    re.ASCII | re.IGNORECASE,
)
_WORDS = """
    par para param params parm parms prm parameter parameters weight weights size model models network networks net
    architecture num number numbers no nb nr n count counts total totals amount anzahl der of the in
    k m g thousand thousands million millions billion billions mega giga mil mio mln bn x unit units
    flop flops mac macs madd madds op ops multiply accumulate accumulates multadd multadds multiadds floating point
    operation operations comp compute computation computations computational computing cost costs complexity budget
    capacity efficiency theo theor theoretical orig original reported published
    inference infer test testing eval evaluation val validation forward fwd pass
    per image images img imgs im sized input inputs resolution res reso px pixels pix at on
    imagenet imnet ilsvrc classification
    fvcore thop ptflops calflops pytorch torch
    参数 参数量 计算量
"""
_SCALED = {f"{scale}{count}" for scale in "kmgtb" for count in ("flop", "flops", "mac", "macs", "madd", "madds", "ops")}
_KNOWN = _SCALED.union(_WORDS.split())
"""Words beside which the numbers of a column are still those of the row's model."""


def size_in(heading: str) -> int | None:
    """Return the side of the images that a heading of FLOPs gives, as in FLOPs @384; None where it gives none."""
    found = _SIZE.search(heading)
    return int(found["at"] or found["bracket"] or found["square"]) if found else None


def words_beyond(heading: str) -> str:
    """Return what a heading of parameters or FLOPs names beside these, units and the images: "SENet" of SENet FLOPs."""
    rest = _NOTHING.sub(" ", _SIZE.sub(" ", heading)).replace("_", " ")
    return " ".join(piece.strip("()[]{},;:#.") for piece in rest.split() if not _is_known(piece))


def _is_known(piece: str) -> bool:
    """Return whether all words of a piece between blanks are known, and it has no other number."""
    words = re.findall(r"[^\W\d_]+|\d+", piece.lower())
    return all(word in _KNOWN or not (word.isalpha() or word.isdigit()) for word in words)


_HEADED = re.compile(r"[(\[/]\s*(?:in\s+)?(?:×|x|\*)?\s*(10\^?\{?(?:3|6|9|12)\}?|[kKMGBT]|[Mm]illions?|[Bb]illions?)"
                     r"(?:\s*(?:FLOPs?|MACs?|params?))?\s*(?:[)\]]|$)|(?:×|x)\s*(10\^?\{?(?:3|6|9|12)\}?)")  # fmt: skip
_POWERS = {"3": "k", "6": "M", "9": "G", "12": "T"}
NOUNS = ("parameters", "params", "flops", "macs")
"""Words for what is counted, which may stand behind a number."""


@dataclass(frozen=True)
class ColumnUnit:
    """The unit of a column's numbers, whether its heading gives it, and what a person must confirm."""

    unit: str
    headed: bool = False
    doubts: tuple[str, ...] = ()


def find_unit(heading: str, texts: Sequence[str], usual: str) -> ColumnUnit:
    """Return the unit of a heading, or the one that stands in the cells; else a guess and the doubt about it."""
    found = _HEADED.search(heading)
    if found is not None:
        written = (found[1] or found[2]).lower()
        power = re.fullmatch(r"10\^?\{?(\d+)\}?", written)
        letter = _POWERS[power[1]] if power else written[0]
        return ColumnUnit(letter if letter == "k" else letter.upper(), headed=True)
    numbers = [number for text in texts if not own_unit(text) and (number := read_cell(text).number) is not None]
    if numbers and 2 * sum(_is_full(one, usual) for one in numbers) > len(numbers):
        return ColumnUnit("")
    units = Counter(filter(None, map(own_unit, texts)))
    if units:
        return ColumnUnit(units.most_common(1)[0][0])
    least = _SMALL_MODEL if re.search(r"madds?\b|mult-?adds?\b", heading.lower()) else _LARGE_MODEL
    if usual == "G" and numbers and all(_is_at_least(number, least) for number in numbers):
        doubt = f"no unit is printed for {heading!r}; M is a guess, since its numbers are all {least} and more"
        return ColumnUnit("M", doubts=(doubt,))
    return ColumnUnit(usual, doubts=(f"no unit is printed for {heading!r}; {usual} is a guess",))


def own_unit(text: str) -> str:
    """Return the unit that a cell prints with its number, the nearest for a power of ten; "" for none."""
    unit = read_cell(text).unit
    if unit or not is_printed(text, "", NOUNS):
        return unit
    scale = parse_printed(text, NumberForm(nouns=NOUNS)).scale
    return next((one for one in ("T", "G", "M", "k") if scale >= SCALES[one]), "")


def is_quantity(text: str) -> bool:
    """Return whether a text is made of numbers, signs and units alone, as 23.2±0.1 [23.9] or 33 × 30 are."""
    return re.search(r"\d", text) is not None and set(re.findall(r"[^\W\d_]+", text.lower())) <= _UNITS


_UNITS = frozenset({
    "k", "m", "g", "b", "t", "x", "e", "s", "ms", "fps", "flop", "flops", "gflops", "mflops", "mac", "macs", "gmacs",
    "mmacs", "param", "params", "images", "view", "views",
})  # fmt: skip


def counts_images(heading: str, caption: str) -> bool:
    """Return whether a heading or a caption gives the size of the images that FLOPs are of, and names no speed."""
    sized = size_in(heading) or find_size(caption) or find_oblong(caption)
    return bool(sized) and not _OF_HARDWARE.search(caption)


_OF_HARDWARE = re.compile(
    r"\b(?:achiev\w+|peak|throughput|utili[sz]ation|speeds?|latency|[gt]pus?|[avh]100|hardware|per second)\b",
    re.IGNORECASE,
)


def why_no_total(text: str, unit: str, usual: str) -> str | None:
    """Return why a number without a unit is not in that of its column, which no heading gives."""
    number = read_cell(text).number
    if number is None or own_unit(text):
        return None
    digits = number.replace(",", "")
    if unit and digits.isdigit() and len(digits) > len(str(SCALES[unit])) - 1 >= len(str(SCALES["M"])) - 1:
        return f"it may be printed in full, and other cells are in {unit}"
    return "other cells are printed in full" if not unit and not _is_full(number, usual) else None


def _is_full(number: str, usual: str) -> bool:
    """Return whether a number is printed with all its digits."""
    return len(number.replace(",", "")) >= _FULL[usual] and "." not in number


_FULL = {"M": 5, "G": 7}  # digits of a number without a point, by the unit that is usual for such columns


def _is_at_least(number: str, least: int) -> bool:
    return is_printed(number, "") and parse_printed(number, "").value >= least


_SMALL_MODEL = 20  # M: multiply-additions of mobile models; no table of them is in G
_LARGE_MODEL = 1000  # M: a classifier's FLOPs; few models have as many G

assert set(_POWERS.values()) <= SCALES.keys()
