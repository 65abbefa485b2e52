"""Citations in a row's label: [24, 58], (He et al., 2016) and He et al. (2016)."""

from __future__ import annotations

import re

_NUMBERS = r"\d+(?:\s*[,–-]\s*\d+)*"
_YEAR = r"(?:19|20)\d\d[a-z]?"
_LETTER, _CAPITAL = r"[^\W\d_]", r"[A-ZÀ-ÖØ-ÞĀ-Ž]"
_FAMILY = rf"(?:(?:van|von|der|den|de|di|da|dos|le|la)\s+){{0,3}}{_CAPITAL}(?:[.'’-]?{_LETTER})*\.?"
_AUTHORS = rf"{_FAMILY}(?:(?:\s*,\s*|\s+)(?:(?:and|&)\s*)?{_FAMILY}){{0,9}}(?:,?\s+et\s+al\.?)?"
_ONE = rf"{_AUTHORS}[\s,]+{_YEAR}(?:\s*,\s*(?:{_YEAR}|[a-z]))*"
_IN_BRACKETS = rf"(?:(?:see|e\.g\.|cf\.),?\s+)?{_ONE}(?:\s*[;,]\s*{_ONE})*"
_OF_WORDS = re.compile(rf"\s*[(\[]\s*({_IN_BRACKETS})\s*[)\]]")
_OF_NUMBERS = re.compile(rf"\s*\[\s*{_NUMBERS}\s*\]")
_IN_TEXT = re.compile(
    rf"\s+{_FAMILY}(?:\s+et\s+al\.?|\s+(?:and|&)\s+{_FAMILY}),?\s*(?:\(\s*{_YEAR}\s*\)|\[\s*(?:{_NUMBERS}|{_YEAR})\s*\])"
)
_PERSON = re.compile(rf"{_CAPITAL}{_LETTER}*[a-zß-öø-ÿ]|(?:CVPR|ICCV|ECCV|ICLR|ICML|NIPS|AAAI|WACV|BMVC|TPAMI)\b")
_NO_AUTHOR = re.compile(r"\b(?:ours?|this|proposed|modified|distill\w*|prun\w*|quanti\w*)\b", re.IGNORECASE)


def without_citations(text: str) -> str:
    """Return a label without its citations; a year alone, as in (2016), (SE, 2018) and (ours, 2021) are none."""
    text = _OF_WORDS.sub(lambda found: "" if _is_citation(found[1]) else found[0], text)
    return _OF_NUMBERS.sub("", _IN_TEXT.sub("", text))


def _is_citation(inside: str) -> bool:
    """Return whether every part names a person or a conference, unlike capital letters that may be a block's name."""
    return _NO_AUTHOR.search(inside) is None and all(map(_PERSON.search, inside.split(";")))
