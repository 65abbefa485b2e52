"""What the note of a heading, or the caption, says that a column of parameters or FLOPs counts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from imlp_audit.spec.columns import Measure
from imlp_audit.transcribe.cells import MARKS, RAISED, split_mark
from imlp_audit.transcribe.grid import SourceTable
from imlp_audit.transcribe.heading_words import words_beyond
from imlp_audit.transcribe.sides import find_size

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
