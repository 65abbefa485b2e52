"""A printed cell in its parts: the number, a change in brackets, a footnote mark, and what a spec cannot hold."""

from __future__ import annotations

import re
from dataclasses import dataclass

from imlp_audit.numbers.parsing import SCALES, NumberForm, parse_printed

MARKS = "*†‡§¶♯⋆∗⋄"
MISSING = frozenset({"", "-", "–", "—", "−", "n/a", "N/A", "NA", "?", "✗", "×", "/", "--"})
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
"""How the number of a footnote is written, after ^: in 224^2 and 10^6 the raised number is no footnote's."""
_MARK = re.compile(
    rf"(?:\s*\^?([{re.escape(MARKS)}]{{1,3}})|\^([⁰¹²³⁴-⁹,]+)|(?<=[A-Za-z)])\^(\d{{1,2}})|(\^[a-z](?:,[a-z])*))$"
)
_CHANGE = re.compile(r"\s*(?:\(\s*([^()]*)\s*\)|\[\s*([^\[\]]*)\s*\]|(?<=\d)\s+([+\-−–↑↓]\s*[\d.]+\s*%))$")
_SIGNED = re.compile(r"([+\-−–↑↓]?)\s*(\d[\d,]*(?:\.\d+)?)\s*(%?)", re.ASCII)
_SPREAD = re.compile(r"\s*±\s*(?:[\d.]+|n/?a|[-–—−?]+)$", re.IGNORECASE)
_NUMBER = re.compile(r"([~≈≃]?)\s*([+\-−–]?\d[\d,]*(?:\.\d+)?)\s*(.*)", re.ASCII | re.DOTALL)
_UNIT = re.compile(
    r"(k|K|M|G|B|T|million|billion)?(?:[\s-]*(?:FLOP[sS]?|flops|MAC[sS]?|Mult-?Adds|MAdds|OP[sS]|[Pp]aram(?:eter)?s?))?"
)
_SHORT = {"million": "M", "billion": "B"}
ARROWS = {"↑": "+", "↓": "-"}


@dataclass(frozen=True)
class ReadCell:
    """What a cell holds: `number` as a spec takes it, None where there is none; `unit` is the one printed with it.

    `change` is a change printed beside the number, in percent or in points; `left_out` are parts of the text that
    stand neither in the number nor in the change.
    """

    number: str | None
    unit: str = ""
    change: str | None = None
    mark: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def percent(self) -> str | None:
        """The change as a spec takes it; None for one that is not in percent."""
        return self.change if self.change is not None and self.change.endswith("%") else None


def read_cell(text: str, unit: str = "", *, spread: bool = True) -> ReadCell:
    """Take a cell apart: what a spec takes as a number of the unit stays as it is.

    Without `spread` the number has no plus-minus: a count is one number.
    """
    text = text.strip()
    if text in MISSING:
        return ReadCell(None)
    left_out: list[str] = []
    rest, mark = split_mark(text)
    rest, change = _split_change(rest, left_out)
    rest, inner = split_mark(rest)
    around = _SPREAD.search(rest)
    if around is not None and not (spread and is_printed(rest, unit)):
        left_out.append(around[0].strip())
        rest = rest[: around.start()]
    found = _NUMBER.fullmatch(rest.strip())
    scale = scale_of(found[3]) if found is not None else None
    if is_printed(rest, unit):
        return ReadCell(rest.strip(), scale or "", change, inner + mark, tuple(left_out))
    if found is None or (scale is None and found[3].strip() != unit) or not is_printed(found[2], ""):
        return ReadCell(None, left_out=(text,))
    return ReadCell(found[2], scale or "", change, inner + mark, (*left_out, *filter(None, [found[1]])))


def is_printed(text: str, unit: str, nouns: tuple[str, ...] = ()) -> bool:
    """Say whether a spec takes a text as a number of a unit; with `nouns` it may state a scale of its own."""
    return refusal(text, unit, nouns) is None


def refusal(text: str, unit: str, nouns: tuple[str, ...] = ()) -> str | None:
    """Return why a spec does not take a text as a number of a unit; None where it does."""
    try:
        parse_printed(text, NumberForm(unit, nouns=nouns))
    except ValueError as error:
        return str(error)
    return None


def scale_of(words: str) -> str | None:
    """Return the unit that scales a number, such as M for "M" or "M params"; "" for none, None for another unit."""
    found = _UNIT.fullmatch(words.strip())
    if found is None:
        return None
    letter = _SHORT.get(found[1] or "", found[1] or "")
    return letter if letter in SCALES or not letter else None


def split_mark(text: str) -> tuple[str, str]:
    """Return a text without the footnote mark at its end, and the mark."""
    found = _MARK.search(text)
    if found is None:
        return text, ""
    return text[: found.start()].rstrip(), next(filter(None, found.groups())).translate(RAISED)


def _split_change(text: str, left_out: list[str]) -> tuple[str, str | None]:
    """Return a text without the change after it, and the change with a plain sign."""
    found = _CHANGE.search(text)
    if found is None or not found.start():
        return text, None
    inner = next(part for part in found.groups() if part is not None)
    signed = _SIGNED.fullmatch(inner.strip())
    if signed is None or not (signed[1] or signed[3]):
        left_out.append(found[0].strip())
        return text[: found.start()], None
    return text[: found.start()], f"{ARROWS.get(signed[1], signed[1])}{signed[2]}{signed[3]}"
