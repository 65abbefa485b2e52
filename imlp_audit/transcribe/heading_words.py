"""What the words of a heading of parameters or FLOPs add: the size of the images, or another model than the row's."""

from __future__ import annotations

import re

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
