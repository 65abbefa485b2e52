"""What would give a printed number that a model does not: causes by name, ranked by how unlikely they are by chance.

A family of causes tries some values, the most usual first. That the n-th different value within a factor of two of a
number, or one before it, prints as the number does, for a number that has nothing to do with them, has the chance
1 - (1 - w)^n, with w the part of that range, on a logarithmic scale, that prints so. Each family may claim a cause up
to its share of 5 %. What prints so too, but is less unlikely, is named as possible.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import combinations, product
from math import log, prod

from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.numbers.printed import Printed
from imlp_audit.records.counted import CountReport, ModelPart, NumberCause, PrintedNumber

_ALL = 0.05
_MOST_CAUSES = 5
_MOST_PARTS = 40
_FACTORS = (2, 3, 4, 8, 10, 16, 32, 5, 6, 12, 30, 64)
_CROPS = (3, 10, 30)  # views of a video, or of an image


class CountedQuantity(StrEnum):
    """What a printed number counts."""

    PARAMETERS = "parameters"
    FLOPS = "flops"


class CauseFamily(StrEnum):
    """A kind of cause; the usual ones first."""

    COUNTER = "counter"
    REPOSITORY = "repository"
    FACTOR = "factor"
    FORM = "form"
    SIZE = "size"
    ARGUMENT = "argument"
    PARTS = "parts"


_SHARE = _ALL / len(CauseFamily)


@dataclass(frozen=True)
class Question:
    """A printed number and what it counts."""

    printed: Printed
    measure: CountedQuantity


@dataclass(frozen=True)
class Try:
    """A value that was tried: the cause in words, what it gives, and how it is counted where that is not usual."""

    family: CauseFamily
    cause: str
    value: Fraction
    counted: str = ""

    @property
    def text(self) -> str:
        """The cause, and how it is counted."""
        return f"{self.cause}, and {self.counted}" if self.counted else self.cause


Recounts = Mapping[CauseFamily, Mapping[str, CountReport]]
"""The model under changes of one thing, by the kind of change and the change in words, such as `num_classes=100`."""
_Hits = Mapping[Question, tuple[Try, float]]


def find_causes(questions: Sequence[Question], model: CountReport, again: Recounts) -> tuple[PrintedNumber, ...]:
    """Return for each printed number whether the model gives it, and what else would."""
    tries = {question: list(_tries(question, model, again)) for question in questions}
    hits: dict[tuple[CauseFamily, str], dict[Question, tuple[Try, float]]] = defaultdict(dict)
    for question, tried in tries.items():
        for one, chance in _hits(question, tried) if not _follows(question, model) else ():
            hits[one.family, one.cause].setdefault(question, (one, chance))
    return tuple(_answer(question, model, tries[question], list(hits.values())) for question in questions)


def _answer(question: Question, model: CountReport, tried: Sequence[Try], hits: Sequence[_Hits]) -> PrintedNumber:
    measured = _measured(model, question.measure)
    value, order = question.printed.value * question.printed.scale, list(CauseFamily)
    found = [_cause(question, hit) for hit in hits if question in hit]
    found.sort(key=lambda cause: (cause.chance, order.index(CauseFamily(cause.family))))
    causes = [cause for cause in found if cause.chance <= _SHARE]
    possible = [] if causes else found
    near = min(
        (one for one in tried if one.value > 0 < value), key=lambda one: abs(log(one.value / value)), default=None
    )
    missed = near is not None and not found
    return PrintedNumber(
        printed=question.printed.text,
        measure=question.measure,
        measured=str(measured) if measured is not None else None,
        follows=_follows(question, model),
        causes=tuple(causes[:_MOST_CAUSES]),
        possible=tuple(possible[:_MOST_CAUSES]),
        tried=len(tried),
        expected=round(_width(question) * len({one.value for one in _close(question, tried)}), 2) if value else 0,
        nearest=f"{near.text}: {readable(round(near.value))}" if missed and near is not None else None,
    )


def _cause(question: Question, hit: _Hits) -> NumberCause:
    one, _ = hit[question]
    return NumberCause(
        family=one.family,
        text=one.text,
        value=decimal_text(one.value),
        chance=round(_chance_of_all(hit), 8),
        explains=tuple(other.printed.text for other in hit),
    )


def _chance_of_all(found: Mapping[Question, tuple[Try, float]]) -> float:
    """Return the chance that all numbers are given: those of one quantity are one number, printed in several ways."""
    least: dict[CountedQuantity, float] = {}
    for question, (_, chance) in found.items():
        least[question.measure] = min(chance, least.get(question.measure, 1.0))
    return prod(least.values())


def _follows(question: Question, model: CountReport) -> bool:
    measured = _measured(model, question.measure)
    return measured is not None and measured in question.printed.interval()


def _measured(model: CountReport, measure: CountedQuantity) -> int | None:
    if measure is CountedQuantity.PARAMETERS:
        return model.parameters["all"]
    return model.flops["macs"] if model.flops is not None else None


def _width(question: Question) -> float:
    """Return the part of the numbers within a factor of two of a number that print as it does."""
    inside = question.printed.interval()
    value = abs(question.printed.value * question.printed.scale)
    return min(1.0, float((inside.high - inside.low) / value) / log(4)) if value else 1.0


def _close(question: Question, tried: Sequence[Try]) -> Iterator[Try]:
    value = abs(question.printed.value * question.printed.scale)
    return (one for one in tried if value / 2 <= one.value <= value * 2)


def _hits(question: Question, tried: Sequence[Try]) -> Iterator[tuple[Try, float]]:
    """Yield the values that print as the number does, with the chance that one of their family so far does."""
    inside, width = question.printed.interval(), _width(question)
    before: dict[CauseFamily, set[Fraction]] = defaultdict(set)
    for one in _close(question, tried):
        before[one.family].add(one.value)
        if one.value in inside:
            yield one, 1 - (1 - width) ** len(before[one.family])


def _tries(question: Question, model: CountReport, again: Recounts) -> Iterator[Try]:
    measured = _measured(model, question.measure)
    if measured is None:
        return
    yield from _counters(question.measure, model)
    yield from _factors(question, model)
    yield from _without_parts(question, model)
    for family, others in again.items():
        for words, other in others.items():
            found = _measured(other, question.measure)
            if found is not None and found != measured:
                yield Try(family, words, Fraction(found))
                if question.measure is CountedQuantity.FLOPS:
                    yield from (
                        Try(family, words, Fraction(other.flops[name]), text)
                        for name, text in _ALSO_COUNTED.items()
                        if other.flops is not None and name in other.flops
                    )


_NOUNS = {CountedQuantity.PARAMETERS: "parameters", CountedQuantity.FLOPS: "FLOPs"}
_COUNTERS = {
    "no_head": "without the classifier",
    "torch": "two for each multiply-accumulate, as torch's FlopCounterMode counts",
    "thop": "counted by thop: only layers of torch.nn that it knows",
    "with_buffers": "with the buffers of the state dict",
    "trainable": "only what is trained",
    "layers": "only parameters in layers of torch that thop knows",
    "used": "without what the forward pass never uses",
    "real": "two for each complex number",
    "fvcore": "counted by fvcore",
    "ptflops": 'counted by ptflops with backend="aten"',
    "ptflops_hooks": "counted by ptflops without functional calls",
    "mmcv": "counted by mmcv",
    "fvcore_fused": "counted by fvcore, which misses the products of fused attention",
    "no_products": "without the products in attention, as counters of modules count",
    "modules": "only layers of torch.nn, as hooks on modules count",
}
_ALSO_COUNTED = {"torch": "two for each multiply-accumulate", "thop": "counted by thop"}
"""What is tried with other changes too."""


def _counters(measure: CountedQuantity, model: CountReport) -> Iterator[Try]:
    counts = model.parameters if measure is CountedQuantity.PARAMETERS else model.flops or {}
    own = _measured(model, measure)
    for name, text in _COUNTERS.items():
        if counts.get(name, own) != own:
            yield Try(CauseFamily.COUNTER, text, Fraction(counts[name]))
    other = CountedQuantity.FLOPS if measure is CountedQuantity.PARAMETERS else CountedQuantity.PARAMETERS
    swapped = _measured(model, other)
    if swapped is not None:
        yield Try(
            CauseFamily.COUNTER, f"it is the model's {_NOUNS[other]}, not its {_NOUNS[measure]}", Fraction(swapped)
        )


def _factors(question: Question, model: CountReport) -> Iterator[Try]:
    own = _measured(model, question.measure) or 0
    for text, value in _units(question, own):
        yield Try(CauseFamily.FACTOR, text, value)
    for factor in _FACTORS[1:] if question.measure is CountedQuantity.FLOPS else _FACTORS:
        yield Try(CauseFamily.FACTOR, f"times {factor}", Fraction(own * factor))
        yield Try(CauseFamily.FACTOR, f"divided by {factor}", Fraction(own, factor))
    if question.measure is CountedQuantity.FLOPS and model.flops is not None:
        for factor, name in product(_CROPS, ("fvcore", "thop")):
            if name in model.flops:
                yield Try(
                    CauseFamily.FACTOR, f"times {factor}", Fraction(model.flops[name] * factor), f"counted by {name}"
                )


def _units(question: Question, own: int) -> Iterator[tuple[str, Fraction]]:
    if question.measure is CountedQuantity.FLOPS:
        yield "in units of 2^30, not 10^9", Fraction(own * 10**9, 2**30)
        return
    yield "in units of 2^20, not millions", Fraction(own * 10**6, 2**20)
    if question.printed.scale == 10**6:
        yield "mebibytes of float32 (MiB), not millions", Fraction(4 * own * 10**6, 2**20)
        yield "megabytes of float32 (MB), not millions", Fraction(4 * own)
        yield "megabytes of float16 (MB), not millions", Fraction(2 * own)
        yield "mebibytes of float16 (MiB), not millions", Fraction(2 * own * 10**6, 2**20)


def _without_parts(question: Question, model: CountReport) -> Iterator[Try]:
    """Yield all but a part, a part alone, one of equal copies, and sums of up to three parts left out or alone."""
    size: Callable[[ModelPart], int] = (
        (lambda part: part.parameters)
        if question.measure is CountedQuantity.PARAMETERS
        else (lambda part: part.work or 0)
    )
    own = _measured(model, question.measure) or 0
    parts = [part for part in model.parts if 0 < part.depth <= 2 and 0 < size(part) < own][:_MOST_PARTS]
    singles: dict[int, str] = {}
    for part in sorted(parts, key=lambda part: part.depth):
        whole = size(part) * part.copies
        name = part.path if part.copies == 1 else f"all {part.copies} of {part.path}"
        singles.setdefault(own - whole, f"all but {name}")
        singles.setdefault(whole, f"{name} alone")
        if part.copies > 1:
            singles.setdefault(own - size(part), f"one of {part.path} fewer")
            singles.setdefault(own - whole + size(part), f"only one of {part.path}")
    yield from (Try(CauseFamily.PARTS, text, Fraction(value)) for value, text in singles.items() if value > 0)
    if any(value in question.printed.interval() for value in singles):
        return
    tops = [part for part in parts if part.depth == 1]
    for count in (2, 3):
        for some in combinations(tops, count):
            whole = sum(size(part) * part.copies for part in some)
            named = " and ".join(part.path for part in some)
            yield Try(CauseFamily.PARTS, f"all but {named}", Fraction(own - whole))
            yield Try(CauseFamily.PARTS, f"{named} alone", Fraction(whole))
