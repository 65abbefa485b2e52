"""What a source says of its numbers: the program that counted them, what counts as one FLOP, and what was counted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.cells import MARKS, MISSING, RAISED, split_mark
from imlp_audit.transcribe.grid import SourceTable
from imlp_audit.transcribe.headings import counts_macs
from imlp_audit.transcribe.sides import find_size
from imlp_audit.transcribe.units import words_beyond


def sentences_in(text: str) -> list[str]:
    """Return the sentences of a text, and the parts that a semicolon makes of one; 4.1 is not the end of one."""
    return [one.strip() for one in re.split(r"[.;](?=\s|$)", text)]


_MAC = (
    r"(?:\w?macs?|(?:fused )?multipl(?:y|ication)[- ](?:and[- ])?(?:accumulat|add)\w*|mult(?:i|iply)?[- ]?adds?|madds?)"
)
_OPERATIONS = r"(?:flops?|floating[- ]point operations?|operations?|ops)"
_IS = r"(?:is|are|as|=|equals?|counts?(?: as| for)?|(?:is|are) counted as|corresponds? to|:)"
_A = r"(?:one|1|a single|an?)"
_TWO = r"(?:two|2|twice|2x|2 ?×|two times)"
_TWICE = (
    rf"\b(?:one|1|an?|each|every|the) {_MAC}(?: \(\w+\))?(?: operations?)? {_IS} {_TWO} {_OPERATIONS}\b",
    rf"\bflops?\b(?: count)? ?{_IS} ?{_TWO} ?[×x*·]? ?(?:the )?(?:number of )?{_MAC}\b",
    rf"\b{_TWO} {_OPERATIONS} (?:per|for (?:one|an?|each|every)) {_MAC}\b",
)
_ONCE = (
    rf"\b(?:one|1|an?|each|every|the) {_MAC}(?: \(\w+\))?(?: operations?)? {_IS} {_A} {_OPERATIONS}\b",
    rf"\bflops? ?(?:{_IS}|denotes?|means?|refers? to|stands? for|\() ?(?:the )?(?:numbers? of )?{_MAC}\b",
    rf"\b(?:one|a single) {_OPERATIONS} (?:per|for (?:one|an?|each|every)) {_MAC}\b",
)
_NEGATED = re.compile(
    r"\bnot\b|\bunlike\b|\bother\b|\bsome\b|\bhalf\b|\binstead\b|\bwhile\b|\bwhereas\b", re.IGNORECASE
)


def find_counting(caption: str) -> tuple[str, str] | None:
    """Return the convention of FLOPs that a caption declares, and its sentence; None where it declares none or two."""
    found = [(name, one) for one in sentences_in(caption) for name in _conventions_in(one)]
    return found[0] if len({name for name, _ in found}) == 1 else None


def _conventions_in(sentence: str) -> list[str]:
    text = " ".join(sentence.lower().split())
    if _NEGATED.search(text):
        return []
    kinds = (("torch", _TWICE), ("macs", _ONCE))
    return [name for name, patterns in kinds if any(re.search(one, text) for one in patterns)]


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


_LEFT_OUT = (
    r"\bexclu\w+|\bwithout\b|\bw/o\b|\bnot\b(?:\s+\w+)?\s+(?:includ|count|consider|tak)\w*"
    r"|\bomit\w*|\bignor\w+|\bonly\b"
)
_PART = (
    r"\b(?:non-?)?embeddings?\b|\bbackbones?\b|\b(?:en|de)coders?\b|\bheads?\b|\bclassifiers?\b|\blogits?\b|\bsoftmax\b"
    r"|\b(?:classification|classifying|(?:fully[- ]?)?connected|fc|last|final|output|top|embedding|linear) layers?\b"
)
_NOTED = re.compile(f"{_LEFT_OUT}|{_PART}", re.IGNORECASE)
_IN_CAPTION = re.compile(
    rf"(?:{_LEFT_OUT})[^.;]{{0,300}}(?:{_PART})|(?:{_PART})[^.;]{{0,300}}(?:{_LEFT_OUT})|\bnon-?embedding\b"
    r"|\b(?:of|for|in) (?:the|its|their|each|every) (?:backbone|encoder|decoder|head)s?\b",
    re.IGNORECASE,
)
_NAMED = {
    Measure.PARAMETERS: re.compile(r"\bparam\w*|\bmodel sizes?\b|\bweights\b", re.IGNORECASE),
    Measure.FLOPS: re.compile(
        r"flops?\b|\b\w?macs?\b|\badds?\b|\boperations?\b|\bcomput\w+|\bcomplexity\b", re.IGNORECASE
    ),
}
_SENTENCE_END = re.compile(r"(?<!w)(?<!wrt)[.;](?=\s|$)")
_VERBS = re.compile(
    r"\b(?:all|is|are|was|were|we|measured?|computed?|counted|calculated|estimated|reported|evaluated|using|with|for|a|an)\b",
    re.IGNORECASE,
)
_TIMES = re.compile(r"[*∗⋆]\s*(?=10)")
NOTE = re.compile(rf"(\^(?:[a-z]|\d{{1,2}})|\^?[{re.escape(MARKS)}]{{1,3}}|\^?[⁰¹²³⁴-⁹]+)[\s:.)=]*(?=\w)(.+)")
"""A line that begins with a mark, and what it says."""


def why_part(heading: str, measure: Measure, table: SourceTable) -> str | None:
    """Return why the numbers below a heading may not be those of whole models; None where nothing says so."""
    for text in _notes_of(heading, table):
        if _NOTED.search(text):
            return f"the note of its mark says {text!r}"
    for sentence in _SENTENCE_END.split(table.caption):
        if measure in _NAMED and _NAMED[measure].search(sentence) and _IN_CAPTION.search(sentence):
            return f"the caption says {sentence.strip()!r}"
    return None


_NO_HEAD = re.compile(
    r"\blin(?:ear|\.)[\s-]+(?:eval\w*|prob\w+|protocol|readout|classification|classifiers?)\b|\bk-?nn\b"
    r"|\bfrozen (?:features?|backbones?|encoders?|representations?)\b|\b(?:self|semi)-supervised\b"
    r"|\bfeature extractors?\b|\b\d{1,3}\s?% (?:of )?(?:the )?(?:imagenet )?(?:labels|labell?ed)\b"
    r"|\bonly\b[^.;]{0,100}\b(?:backbone|encoder)s?\b|\b(?:backbone|encoder)s?\b[^.;]{0,100}\b(?:only|counted)\b",
    re.IGNORECASE,
)


def words_without_head(table: SourceTable) -> str | None:
    """Return the words of a caption or heading by which parameters may be counted without the classifier.

    Papers on self-supervised learning count the network that they train, and add a linear classifier to judge it.
    """
    found = _NO_HEAD.search(" | ".join([table.caption, *table.headings]))
    return None if found is None else found[0]


def find_remarks(heading: str, table: SourceTable) -> tuple[str, ...]:
    """Return what a person must know of a heading's marks: the notes that explain them, or that none was found."""
    marks = _marks_in(heading)
    notes = list(_notes_of(heading, table))
    if not marks:
        return ()
    if not notes:
        return (f"the heading {heading!r} has the mark {marks[0]!r}, and no note for it was found: see what it says",)
    return tuple(f"the note of the heading {heading!r} says {text!r}" for text in notes)


def size_in_notes(heading: str, table: SourceTable) -> int | None:
    """Return the side of the images that the only note of a heading of FLOPs gives, if it says nothing else."""
    notes = list(_notes_of(heading, table))
    size = find_size(notes[0]) if len(notes) == 1 else None
    if size is None:
        return None
    rest = _VERBS.sub(" ", re.sub(rf"{size}(?:\^2|²)?", " ", notes[0]))
    return None if words_beyond(rest) else size


def _marks_in(heading: str) -> list[str]:
    """Return the footnote marks of the words of a heading."""
    marks = (split_mark(piece)[1] for piece in _TIMES.sub("", heading).split())
    parts = (mark.removeprefix("^").split(",") if mark.startswith("^") else [mark] for mark in marks if mark)
    return [_plain(one) for part in parts for one in part]


def _notes_of(heading: str, table: SourceTable) -> Iterator[str]:
    marks = _marks_in(heading)
    below = (NOTE.fullmatch(row.single) for row in table.rows if row.single is not None)
    explained = [*table.marks, *((found[1], found[2]) for found in below if found is not None)]
    yield from (text for mark, text in explained if _plain(mark) in marks)


def _plain(mark: str) -> str:
    return mark.removeprefix("^").translate(RAISED)


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
    return any(re.search(pattern, _plain_words(heading)) for pattern in _USUAL)


def is_untouched(heading: str, text: str) -> bool:
    """Return whether a cell below such a heading says that nothing was done to the model."""
    usual = next(
        (words for pattern, words in _USUAL.items() if re.search(pattern, _plain_words(heading))), frozenset[str]()
    )
    return text in MISSING or text.lower().strip(" %×x()").removesuffix("-bit") in usual


def why_compressed(caption: str) -> str | None:
    """Return why the models of a table may be smaller ones than their labels say, by its caption."""
    found = _DONE.search(caption)
    return None if found is None else f"the caption speaks of {found[0]!r}, which may have changed the model"


def is_ranking(texts: Sequence[str]) -> bool:
    """Return whether texts only number the rows, as the ranks of a contest do."""
    return sorted(texts) == sorted(str(number) for number in range(1, len(texts) + 1))


def _plain_words(heading: str) -> str:
    return " ".join(re.sub(r"[_\s#↓↑%]+", " ", heading.lower()).split())
