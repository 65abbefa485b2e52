"""The program that a source names as the counter of its FLOPs, and the convention that this gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from imlp_audit.transcribe.cells import MARKS
from imlp_audit.transcribe.counting import find_counting
from imlp_audit.transcribe.headings import counts_macs
from imlp_audit.transcribe.sentences import sentences_in

_COUNTED = r"(?:count|comput|calculat|measur|estimat|obtain|evaluat|profil|report)\w*"
_WHAT = r"(?:\b\w?flops?\b|\b\w?macs?\b|\badds?\b|\boperations?\b|\bcomplexity\b|\bcost\b)"
_FRAMEWORK = rf"{_WHAT}.*\b{_COUNTED}\b.*\b(?:by|with|using|via|from|through|in)\b.*"
_COUNTERS = (  # with the convention that is the program's on all models, see docs/conventions.md; most have none
    ("fvcore", "fvcore", r"\bfvcore\b"),
    ("fvcore", "fvcore", r"\bdetectron2\W*s?\b.{0,20}\bflops?\b.{0,10}\b(?:count|analy)"),
    ("fvcore", "fvcore", rf"{_FRAMEWORK}\b(?:detectron2|mmengine)\b"),
    ("FlopCounterMode", "torch", r"\bflopcountermode\b"),
    ("ptflops", None, r"\bptflops\b|\bflops-counter\b"),
    ("thop", None, r"\bthop\b|\bpytorch-?op-?counter\b"),
    ("calflops", None, r"\bcalflops\b"),
    ("torchinfo", None, r"\btorchinfo\b"),
    ("torchstat", None, r"\btorchstat\b"),
    ("DeepSpeed", None, rf"\bdeepspeed\W*s?\b.{{0,10}}\bprofil|{_FRAMEWORK}\bdeepspeed\b"),
    ("mmcv", None, rf"\bget_(?:flops|model_complexity_info)\b|{_FRAMEWORK}\bmm(?!engine)[a-z]+\b"),
)
_PARTLY = re.compile(
    r"\b(?:not|unlike|others?|some|half|instead|while|whereas|except|unless|rest|if|denotes?|marked|marks?|indicates?"
    rf"|our|ours|original|official)\b|[{re.escape(MARKS)}]",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class NamedCounter:
    """A counter that a source names, and where; `convention` is None where none counts what it counts on all models.

    `certain` says that all FLOPs were counted by it.
    """

    tool: str
    convention: str | None
    sentence: str
    certain: bool


def find_counter(caption: str, headings: Sequence[str], notes: Sequence[str]) -> NamedCounter | None:
    """Return the counter of FLOPs that a caption, the headings of FLOPs or the notes of a table name; None without any.

    Of several, the first one without a convention is returned: nothing says which numbers it counted.
    """
    found = list(_counters(caption, headings, notes))
    if not found:
        return None
    first = next((one for one in found if one.convention is None), found[0])
    return first if len({one.tool for one in found}) == 1 else NamedCounter(first.tool, None, first.sentence, False)


def _counters(caption: str, headings: Sequence[str], notes: Sequence[str]) -> Iterator[NamedCounter]:
    declared = find_counting(caption)
    twice = declared is not None and declared[0] == "torch"
    macs = any(map(counts_macs, headings))
    for text in (caption, *headings, *notes):
        for sentence in sentences_in(text):
            for tool, convention, pattern in _COUNTERS:
                if re.search(pattern, sentence, re.IGNORECASE):
                    halved = (convention == "torch" and macs) or (convention == "fvcore" and twice)
                    partly = text not in (caption, *headings) or _PARTLY.search(sentence) is not None
                    partly = partly or (text in headings and len(headings) > 1)
                    yield NamedCounter(tool, None if halved else convention, sentence, not partly)
