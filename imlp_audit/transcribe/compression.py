"""Columns of numbers and captions by which models were pruned, quantized or scaled: they are not the labels' models."""

from __future__ import annotations

import re
from collections.abc import Sequence

from imlp_audit.transcribe.cells import MISSING

_SCALED = r"\b(?:width|depth|channels?)[\s-]*(?:mult\w*|factors?|ratios?|scal\w+)|\bmultipliers?\b"
_KEPT = r"\b(?:keep|kept|keeping|retain\w*|remain\w*)\b|\btokens?[\s-](?:ratios?|rates?|kept|left)\b|^ratio$"
_REMOVED = (
    r"\bprun\w*|\bspars(?:e|ity)\b|\bcompress\w*|\bmerg(?:ed|ing)[\s-](?:ratio|rate)\b|\b(?:lora|low)?[\s-]?rank\b"
)
_BITS = r"\bbits?\b|\bbit-?widths?\b|\bquanti\w*|\b[wa]-?bits?\b"
_EXPANSION = r"\bexpan\w*|\b(?:mlp|ffn|hidden)[\s-]*ratio\b"
_USUAL = {  # what a model has that nothing was done to
    _BITS: frozenset({"32", "fp32", "32/32", "w32a32"}),
    _EXPANSION: frozenset({"4", "4.0"}),
    _KEPT: frozenset({"1", "1.0", "1.00", "100", "100.0"}),
    _SCALED: frozenset({"1", "1.0", "1.00", "100"}),
    _REMOVED: frozenset({"0", "0.0", "0.00", "1", "1.0"}),
}
_DONE = re.compile(
    r"\bprun(?:ed|ing)\b|\bquanti[sz](?:ed|ation|ing)\b|\bcompress(?:ed|ion)\b|\bbinari[sz]\w+|\bspars(?:ity|ified)\b"
    r"|\bsparse (?:models?|networks?|training|weights|tokens?)\b|\blow-rank (?:approx|factor|decomp)\w*"
    r"|\btokens? (?:reduction|merging|dropping|sparsification|selection)\b|\bdistilled tokens\b",
    re.IGNORECASE,
)


def may_scale(heading: str) -> bool:
    """Return whether the numbers below a heading may say how much of a model is left, or how wide it is."""
    return any(re.search(pattern, _plain(heading)) for pattern in _USUAL)


def is_untouched(heading: str, text: str) -> bool:
    """Return whether a cell below such a heading says that nothing was done to the model."""
    usual = next((words for pattern, words in _USUAL.items() if re.search(pattern, _plain(heading))), frozenset[str]())
    return text in MISSING or text.lower().strip(" %×x()").removesuffix("-bit") in usual


def why_compressed(caption: str) -> str | None:
    """Return why the models of a table may be smaller ones than their labels say, by its caption."""
    found = _DONE.search(caption)
    return None if found is None else f"the caption speaks of {found[0]!r}, which may have changed the model"


def is_ranking(texts: Sequence[str]) -> bool:
    """Return whether texts only number the rows, as the ranks of a contest do."""
    return sorted(texts) == sorted(str(number) for number in range(1, len(texts) + 1))


def _plain(heading: str) -> str:
    return " ".join(re.sub(r"[_\s#↓↑%]+", " ", heading.lower()).split())
