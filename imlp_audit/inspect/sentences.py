"""Sentences of papers about learned weights, judged by what was measured in a checkpoint, layer by layer.

A paper's sentences are in `sentences.py` of its folder: functions with the decorator `@sentence(about="...")`, which
get the measurements and return a Judgement, or Undecided. A function's name is the sentence's id. Its docstring is the
sentence, and after it come these fields:

- `Place`: where in the paper the sentence is.
- `Measured`: what is measured in each layer.
- `True if`: when the sentence counts as true, and why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, assert_never

from imlp_audit.records.check import Verdict
from imlp_audit.records.inspection import Inspection, LayerValue, Statement


class Subject(StrEnum):
    """Which parts of a checkpoint a sentence is about; without such parts it is not judged."""

    CROSS_PATCH = "cross_patch"
    GATES = "gates"
    BLOCKS = "blocks"

    @property
    def plural(self) -> str:
        """What a message calls the parts."""
        return "layers" if self is Subject.CROSS_PATCH else self.value

    def names(self, inspection: Inspection) -> list[str]:
        """Return the names of these parts in a checkpoint."""
        match self:
            case Subject.CROSS_PATCH:
                return [layer.name for layer in inspection.cross_patch]
            case Subject.GATES:
                return [gate.name for gate in inspection.gates]
            case Subject.BLOCKS:
                return [block.name for block in inspection.blocks]
            case _:
                assert_never(self)


@dataclass(frozen=True)
class Judgement:
    """Whether a sentence is true of the weights, the reason, and what was measured in each layer."""

    holds: bool
    reason: str
    values: Sequence[float | None]


@dataclass(frozen=True)
class Undecided:
    """Why a sentence cannot be judged by these weights."""

    reason: str


class Judge(Protocol):
    """A function that judges a sentence by what was measured."""

    __name__: str

    def __call__(self, inspection: Inspection, /) -> Judgement | Undecided:
        """Return the judgement."""


@dataclass(frozen=True)
class SentenceText:
    """A sentence and its place in the paper; what is measured in each layer; when it counts as true, and why."""

    id: str
    about: Subject
    place: str
    text: str
    measured: str
    judged: str


@dataclass(frozen=True)
class Sentence:
    """A sentence and the function that judges it."""

    text: SentenceText
    judge: Judge


def sentence(*, about: str) -> Callable[[Judge], Sentence]:
    """Declare a sentence of a paper, which the decorated function judges. Raises ValueError if it is incomplete."""
    return lambda judge: Sentence(parse_sentence(judge.__name__, about, judge.__doc__ or ""), judge)


def parse_sentence(name: str, about: str, docstring: str) -> SentenceText:
    """Return the sentence of a function. Raises ValueError for an unknown `about` or a docstring without the fields."""
    if about not in list(Subject):
        raise ValueError(f"about={about!r} is not one of {', '.join(Subject)}")
    fields = re.fullmatch(r"(.+?)\sPlace: (.+?)\sMeasured: (.+?)\sTrue if: (.+)", " ".join(docstring.split()))
    if fields is None:
        raise ValueError("its docstring needs the sentence, then the fields `Place:`, `Measured:` and `True if:`")
    text, place, measured, judged = fields.groups()
    return SentenceText(name, Subject(about), place, text, measured, judged)


def judge_sentence(paper: str, one: Sentence, inspection: Inspection) -> Statement:
    """Judge a sentence of a paper by what was measured. What its function raises is raised."""
    if inspection.left_out:
        reason = f"some {one.text.about.plural} could not be examined; the notes say which and why"
        return record_verdict(paper, one.text, Verdict.UNVERIFIABLE, reason)
    answer = one.judge(inspection)
    match answer:
        case Undecided(reason):
            return record_verdict(paper, one.text, Verdict.UNVERIFIABLE, reason)
        case Judgement(holds, reason, values):
            names = one.text.about.names(inspection)
            by_layer = tuple(LayerValue(layer=name, value=value) for name, value in zip(names, values, strict=True))
            return record_verdict(paper, one.text, Verdict.REPRODUCED if holds else Verdict.DIFFERS, reason, by_layer)
        case _:
            assert_never(answer)


def record_verdict(
    paper: str, one: SentenceText, verdict: Verdict, reason: str, values: tuple[LayerValue, ...] = ()
) -> Statement:
    """Return the record of a sentence and its verdict."""
    return Statement(
        id=one.id, paper=paper, place=one.place, sentence=one.text, measured=one.measured, judged=one.judged,
        verdict=verdict, reason=reason, values=values,
    )  # fmt: skip


def most(holds: Sequence[bool]) -> bool:
    """Say whether more than half do."""
    return 2 * sum(holds) > len(holds)


def above_half(share: float | None) -> bool:
    """Say whether there is a share, and it is more than one half."""
    return share is not None and share > 0.5


def format_number(value: float | None) -> str:
    """Write a measured number for people."""
    return "none" if value is None else f"{value:.3g}"
