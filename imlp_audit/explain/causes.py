"""What would give a printed number that a model does not: causes by name, ranked by how unlikely they are by chance.

A family of causes tries some values. That one of n different values within a factor of two of a number prints as it
does, for a number that has nothing to do with them, has the chance 1 - (1 - w)^n, with w the part of that range, on a
logarithmic scale, that prints so. Each family may claim a cause up to its share of 5 %.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import combinations
from math import log, prod

from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.numbers.printed import Printed
from imlp_audit.records.counted import CountReport, ModelPart, NumberCause, PrintedNumber

_ALL = 0.05
_MOST_CAUSES = 5
_MOST_PARTS = 40
_FACTORS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 32, 64)


class CountedQuantity(StrEnum):
    """What a printed number counts."""

    PARAMETERS = "parameters"
    FLOPS = "flops"


class CauseFamily(StrEnum):
    """A kind of cause."""

    COUNTER = "counter"
    FACTOR = "factor"
    PARTS = "parts"
    ARGUMENT = "argument"
    SIZE = "size"
    FORM = "form"


_SHARE = _ALL / len(CauseFamily)


@dataclass(frozen=True)
class Question:
    """A printed number and what it counts."""

    printed: Printed
    measure: CountedQuantity


@dataclass(frozen=True)
class Try:
    """A value that was tried: the cause in words, and what it gives."""

    family: CauseFamily
    text: str
    value: Fraction


Counted = Mapping[str, CountReport]
"""The model under changes of one thing, by the change in words: `num_classes=100`, `images of 256 x 256`."""


@dataclass(frozen=True)
class Recounts:
    """The model counted again: with other arguments, on other sizes of images, and in its deployed form."""

    arguments: Counted
    sizes: Counted
    forms: Counted


def find_causes(questions: Sequence[Question], model: CountReport, again: Recounts) -> tuple[PrintedNumber, ...]:
    """Return for each printed number whether the model gives it, and what else would."""
    tries = {question: list(_tries(question, model, again)) for question in questions}
    hits: dict[tuple[CauseFamily, str], dict[Question, tuple[Try, float]]] = defaultdict(dict)
    for question, tried in tries.items():
        for one, chance in _hits(question, tried) if not _follows(question, model) else ():
            hits[one.family, one.text].setdefault(question, (one, chance))
    return tuple(_answer(question, model, tries[question], hits) for question in questions)


def _answer(
    question: Question,
    model: CountReport,
    tried: Sequence[Try],
    hits: Mapping[tuple[CauseFamily, str], Mapping[Question, tuple[Try, float]]],
) -> PrintedNumber:
    text, measured, follows = question.printed.text, _measured(model, question.measure), _follows(question, model)
    causes = [
        NumberCause(
            family=family,
            text=words,
            value=decimal_text(found[question][0].value),
            chance=round(_chance_of_all(found), 8),
            explains=tuple(one.printed.text for one in found),
        )
        for (family, words), found in hits.items()
        if question in found and _chance_of_all(found) <= _SHARE
    ]
    causes.sort(key=lambda cause: (cause.chance, list(CauseFamily).index(CauseFamily(cause.family)), cause.text))
    value = question.printed.value * question.printed.scale
    inside = question.printed.interval()
    order = list(CauseFamily)
    near = sorted(
        (one for one in tried if one.value > 0 < value),
        key=lambda one: (
            (0, order.index(one.family)) if one.value in inside else (1, 0),
            abs(log(one.value / value)),
        ),
    )
    nearest = "; ".join(_name_near(one, question) for one in near[:2]) if not causes else None
    return PrintedNumber(
        printed=text,
        measure=question.measure,
        measured=str(measured) if measured is not None else None,
        follows=follows,
        causes=tuple(causes[:_MOST_CAUSES]),
        tried=len(tried),
        nearest=nearest,
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


def _name_near(one: Try, question: Question) -> str:
    also = ", which prints so" if one.value in question.printed.interval() else ""
    return f"{one.text}: {readable(round(one.value))}{also}"


def _measured(model: CountReport, measure: CountedQuantity) -> int | None:
    if measure is CountedQuantity.PARAMETERS:
        return model.parameters["all"]
    return model.flops["macs"] if model.flops is not None else None


def _hits(question: Question, tried: Sequence[Try]) -> Iterator[tuple[Try, float]]:
    """Yield the values that print as the number does, with the chance that one of their family does."""
    inside = question.printed.interval()
    value = abs(question.printed.value * question.printed.scale)
    if not value:
        return
    width = float((inside.high - inside.low) / value) / log(4)
    by_family: dict[CauseFamily, list[Try]] = defaultdict(list)
    for one in tried:
        if value / 2 <= one.value <= value * 2:
            by_family[one.family].append(one)
    for found in by_family.values():
        chance = 1 - (1 - min(width, 1.0)) ** len({one.value for one in found})
        yield from ((one, chance) for one in found if one.value in inside)


def _tries(question: Question, model: CountReport, again: Recounts) -> Iterator[Try]:
    measured = _measured(model, question.measure)
    if measured is None:
        return
    yield from _counters(question.measure, model)
    yield from _factors(question, model)
    yield from _without_parts(question, model)
    for family, others in (
        (CauseFamily.ARGUMENT, again.arguments),
        (CauseFamily.SIZE, again.sizes),
        (CauseFamily.FORM, again.forms),
    ):
        for words, other in others.items():
            found = _measured(other, question.measure)
            if found is not None and found != measured:
                yield Try(family, words, Fraction(found))
                if question.measure is CountedQuantity.FLOPS:
                    yield Try(family, f"{words}, and two for each multiply-accumulate", Fraction(2 * found))


_NOUNS = {CountedQuantity.PARAMETERS: "parameters", CountedQuantity.FLOPS: "FLOPs"}
_COUNTERS = {
    "no_head": "without the classifier",
    "with_buffers": "with the buffers of the state dict",
    "trainable": "only what is trained",
    "in_layers": "only parameters in layers of torch, not bare nn.Parameters",
    "layers": "only parameters in layers of torch that thop knows",
    "used": "without what the forward pass never uses",
    "fvcore": "counted by fvcore",
    "torch": "two for each multiply-accumulate, as torch's FlopCounterMode counts",
    "thop": "counted by thop",
    "ptflops": 'counted by ptflops with backend="aten"',
    "ptflops_hooks": "counted by ptflops without functional calls",
    "mmcv": "counted by mmcv",
    "fvcore_fused": "counted by fvcore, which misses the products of fused attention",
    "no_products": "without the products in attention, as counters of modules count",
    "modules": "only layers of torch.nn, as hooks on modules count",
}


def _counters(measure: CountedQuantity, model: CountReport) -> Iterator[Try]:
    counts = model.parameters if measure is CountedQuantity.PARAMETERS else model.flops or {}
    own = _measured(model, measure)
    for name, count in counts.items():
        if name in _COUNTERS and count != own:
            yield Try(CauseFamily.COUNTER, _COUNTERS[name], Fraction(count))
    other = CountedQuantity.FLOPS if measure is CountedQuantity.PARAMETERS else CountedQuantity.PARAMETERS
    swapped = _measured(model, other)
    if swapped is not None:
        yield Try(
            CauseFamily.COUNTER, f"it is the model's {_NOUNS[other]}, not its {_NOUNS[measure]}", Fraction(swapped)
        )


def _factors(question: Question, model: CountReport) -> Iterator[Try]:
    own = _measured(model, question.measure) or 0
    for factor in _FACTORS[1:] if question.measure is CountedQuantity.FLOPS else _FACTORS:
        yield Try(CauseFamily.FACTOR, f"times {factor}", Fraction(own * factor))
        yield Try(CauseFamily.FACTOR, f"divided by {factor}", Fraction(own, factor))
    if question.measure is CountedQuantity.PARAMETERS and question.printed.scale == 10**6:
        yield Try(CauseFamily.FACTOR, "megabytes of float32 (MB), not millions", Fraction(4 * own))
        yield Try(CauseFamily.FACTOR, "mebibytes of float32 (MiB), not millions", Fraction(4 * own * 10**6, 2**20))
        yield Try(CauseFamily.FACTOR, "megabytes of float16 (MB), not millions", Fraction(2 * own))
        yield Try(CauseFamily.FACTOR, "mebibytes of float16 (MiB), not millions", Fraction(2 * own * 10**6, 2**20))
    if question.measure is CountedQuantity.PARAMETERS:
        yield Try(CauseFamily.FACTOR, "in units of 2^20, not millions", Fraction(own * 10**6, 2**20))
    if question.measure is CountedQuantity.FLOPS:
        yield Try(CauseFamily.FACTOR, "in units of 2^30, not 10^9", Fraction(own * 10**9, 2**30))


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
    for part in parts:
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
