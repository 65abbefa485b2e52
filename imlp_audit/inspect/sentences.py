"""Sentences of papers about learned weights, judged by what was measured in a checkpoint, layer by layer.

A paper's sentences are in `sentences.py` of its folder, each a function with the decorator `@sentence(...)` and the
sentence as its docstring. The function gets the measurements and returns a Judgement, or Undecided. The decorator's
arguments are literals, so that a paper's sentences can be listed without running its Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from imlp_audit.records.check import Verdict
from imlp_audit.records.inspection import Inspection, LayerValue, Statement


class About(StrEnum):
    """Which parts of a checkpoint a sentence is about; without such parts it is not judged."""

    CROSS_PATCH = "cross_patch"
    GATES = "gates"
    BLOCKS = "blocks"

    @property
    def plural(self) -> str:
        """What a message calls the parts."""
        return "layers" if self is About.CROSS_PATCH else self.value

    def names(self, inspection: Inspection) -> list[str]:
        """Return the names of these parts in a checkpoint."""
        match self:
            case About.CROSS_PATCH:
                return [layer.name for layer in inspection.cross_patch]
            case About.GATES:
                return [gate.name for gate in inspection.gates]
            case About.BLOCKS:
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


Judge = Callable[[Inspection], Judgement | Undecided]


@dataclass(frozen=True)
class SentenceText:
    """A sentence and its place in the paper; what is measured in each layer; when it counts as true, and why."""

    id: str
    about: About
    place: str
    text: str
    measured: str
    judged: str


@dataclass(frozen=True)
class Sentence:
    """A sentence and the function that judges it."""

    text: SentenceText
    judge: Judge


def sentence(id: str, *, about: str, place: str) -> Callable[[Judge], Sentence]:
    """Declare a sentence of a paper; the decorated function judges it, and its docstring is the sentence.

    Raises ValueError for an unknown `about`, or a docstring without the fields Measured and True if.
    """
    return lambda judge: Sentence(declare(id, About(about), place, judge.__doc__ or ""), judge)


def declare(id: str, about: About, place: str, docstring: str) -> SentenceText:
    """Return a sentence from its function's docstring: the sentence, then `Measured: ...` and `True if: ...`."""
    fields = re.fullmatch(r"(.+)\sMeasured: (.+)\sTrue if: (.+)", " ".join(docstring.split()))
    if fields is None:
        raise ValueError(f"{id}: its docstring needs the sentence, then `Measured: ...`, then `True if: ...`")
    return SentenceText(id, about, place, *fields.groups())


def judge_sentences(paper: str, sentences: Iterable[Sentence], inspection: Inspection) -> Iterator[Statement]:
    """Judge the sentences of a paper that are about parts of this checkpoint."""
    for one in sentences:
        names = one.text.about.names(inspection)
        if names and inspection.left_out:
            reason = f"some {one.text.about.plural} could not be examined; the notes say which and why"
            yield _record(paper, one.text, Verdict.UNVERIFIABLE, reason)
        elif names:
            yield _judge(paper, one, inspection, names)


def _judge(paper: str, one: Sentence, inspection: Inspection, names: Sequence[str]) -> Statement:
    try:
        answer = one.judge(inspection)
    except Exception as error:  # whatever a paper's Python raises
        return _record(paper, one.text, Verdict.ERROR, f"judging it failed: {type(error).__name__}: {error}")
    match answer:
        case Undecided(reason):
            return _record(paper, one.text, Verdict.UNVERIFIABLE, reason)
        case Judgement(holds, reason, values):
            by_layer = tuple(LayerValue(layer=name, value=value) for name, value in zip(names, values, strict=True))
            return _record(paper, one.text, Verdict.REPRODUCED if holds else Verdict.DIFFERS, reason, by_layer)
        case _:
            assert_never(answer)


def skip_sentences(
    paper: str, texts: Iterable[SentenceText], inspection: Inspection, reason: str
) -> Iterator[Statement]:
    """Report the sentences about parts of this checkpoint as not judged, and why."""
    return (_record(paper, one, Verdict.UNVERIFIABLE, reason) for one in texts if one.about.names(inspection))


def _record(
    paper: str, one: SentenceText, verdict: Verdict, reason: str, values: tuple[LayerValue, ...] = ()
) -> Statement:
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
