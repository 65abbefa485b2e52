"""What is tried for a printed number: other counters, factors, changes of the model, parts of it, and misprints."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import combinations, product
from typing import TypeAlias

from imlp_audit.numbers.printed import Printed
from imlp_audit.records.counted import COUNTERS, CountReport, ModelPart

_MOST_PARTS = 40
_FEW = 2  # digits: exchanged, they are another number
_FACTORS = (2, 3, 4, 8, 10, 16, 32, 5, 6, 12, 30, 64)
_SLIPS = (100, 1000)  # of a point or a unit, where the number is about so much larger or smaller
_WITH_COUNTERS = (2, 4, 3, 10, 30)  # and with another counter: the last are views of a video, or of an image


class CountedQuantity(StrEnum):
    """What a printed number counts."""

    PARAMETERS = "parameters"
    FLOPS = "flops"


class CauseFamily(StrEnum):
    """A kind of cause; the usual ones first. Rare ones, as numbers in the code, are tried after all others."""

    COUNTER = "counter"
    REPOSITORY = "repository"
    FACTOR = "factor"
    FORM = "form"
    SIZE = "size"
    ROW = "row"
    ARGUMENT = "argument"
    PARTS = "parts"
    RARE = "rare"
    MISPRINT = "misprint"
    GAP = "gap"
    RATIO = "ratio"


@dataclass(frozen=True)
class Question:
    """A printed number, what it counts, and by which counter it should follow, if not by the usual one.

    `row` names another row of its table, with another model.
    """

    printed: Printed
    measure: CountedQuantity
    counter: str | None = None
    row: str = ""


_EXACT = 10**4  # steps of the last digit: of fewer, some usual value prints alike by chance


def any_exact(questions: Sequence[Question]) -> bool:
    """Return whether some number has enough digits for a rare cause to stand out from chance."""
    return any(one.printed.value > _EXACT * one.printed.step for one in questions)


@dataclass(frozen=True)
class Try:
    """A value that was tried: the cause, what it gives, how it is counted if not as usual; `odd` ones come last."""

    family: CauseFamily
    cause: str
    value: Fraction
    counted: str = ""
    odd: bool = False

    @property
    def key(self) -> CauseKey:
        """What makes it one cause with others that give other numbers."""
        return self.family, self.cause

    @property
    def text(self) -> str:
        """The cause, and how it is counted."""
        return f"{self.cause}, and {self.counted}" if self.counted else self.cause


CauseKey: TypeAlias = tuple[CauseFamily, str]
Recounts = Mapping[CauseFamily, Mapping[str, CountReport]]
"""The model under changes of one thing, by the kind of change and the change in words, such as `num_classes=100`."""


def follows(question: Question, model: CountReport) -> bool:
    """Return whether a printed number is what a model has."""
    measured = measured_by(model, question)
    return measured is not None and measured in question.printed.interval()


def counts_of(model: CountReport, measure: CountedQuantity) -> Mapping[str, int]:
    """Return a model's counts of a quantity, by counter."""
    return model.parameters if measure is CountedQuantity.PARAMETERS else model.flops or {}


def measured_by(model: CountReport, question: Question) -> int | None:
    """Return what a model has of what a number counts, by the number's counter or the usual one."""
    counts = counts_of(model, question.measure)
    usual = "all" if question.measure is CountedQuantity.PARAMETERS else "macs"
    return counts.get(question.counter or usual, counts.get(usual))


def list_tries(question: Question, model: CountReport, again: Recounts) -> Iterator[Try]:
    """Yield what is tried for a printed number, the most usual of each family first."""
    measured = measured_by(model, question)
    if measured is None:
        return
    yield from _counters(question, model)
    yield from _factors(question, model)
    yield from _misprints(question, measured)
    own = counts_of(model, question.measure)
    for family, others in again.items():
        ways = (
            () if family is CauseFamily.RARE else (*_ALSO_COUNTED, *(_OF_FORMS if family is CauseFamily.FORM else ()))
        )
        for words, other in others.items():
            found, counts = measured_by(other, question), counts_of(other, question.measure)
            words = f"what the row {words} has" if family is CauseFamily.ROW else words
            if found not in (None, measured):
                yield Try(family, words, Fraction(found), odd=family is CauseFamily.RARE)
            for name, times, text in ways:
                if counts.get(name, found) not in (None, found, own.get(name)):
                    yield Try(family, words, Fraction(times * counts[name]), text)
    yield from _without_parts(question, model)


def _misprints(question: Question, own: int) -> Iterator[Try]:
    """Yield the model's own number cut off; of more than two digits, with two neighbours exchanged, or one wrong."""
    step = question.printed.step * question.printed.scale
    yield Try(CauseFamily.MISPRINT, "cut off, not rounded", own // step * step)
    digits = str(round(own / step))
    right = question.printed.write(Fraction(own, question.printed.scale))
    for at in range(1, len(digits) if len(digits) > _FEW else 0):
        value = int(digits[: at - 1] + digits[at] + digits[at - 1] + digits[at + 1 :]) * step
        yield Try(CauseFamily.MISPRINT, f"two digits of {right} exchanged", value)
    for at, digit in product(range(len(digits) if len(digits) > _FEW else 0), "0123456789"):
        value = int(digits[:at] + digit + digits[at + 1 :]) * step
        yield Try(CauseFamily.MISPRINT, f"a misprint of {right}, {digit} for {digits[at]}", value, odd=True)


_APART = re.compile("backbone|aux|^pose|teacher|ema$|momentum|criterion|loss|discrim|^text|projector|predictor|^lpips")
"""Names of modules that are often counted apart, or used in training alone."""
_NOUNS = {CountedQuantity.PARAMETERS: "parameters", CountedQuantity.FLOPS: "FLOPs"}
_TWICE = "two for each multiply-accumulate"
_ALSO_COUNTED = (("torch", 1, _TWICE), ("thop", 1, "counted by thop"), ("thop_old", 1, COUNTERS["thop_old"]))
"""How other changes are counted too: a count, how many times, and in words."""
_OF_FORMS = (
    ("thop", 2, f"{_TWICE} of thop"),
    *((name, 1, COUNTERS[name]) for name in ("trainable", "used")),
)


def _other_counts(question: Question, model: CountReport) -> Iterator[tuple[str, int]]:
    counts, own = counts_of(model, question.measure), measured_by(model, question)
    yield from ((text, counts[name]) for name, text in COUNTERS.items() if counts.get(name, own) != own)


def _counters(question: Question, model: CountReport) -> Iterator[Try]:
    for text, count in _other_counts(question, model):
        yield Try(CauseFamily.COUNTER, text, Fraction(count))
    (other,) = set(CountedQuantity) - {question.measure}
    swapped = measured_by(model, Question(question.printed, other))
    if swapped is not None:
        text = f"it is the model's {_NOUNS[other]}, not its {_NOUNS[question.measure]}"
        yield Try(CauseFamily.COUNTER, text, Fraction(swapped))


def _factors(question: Question, model: CountReport) -> Iterator[Try]:
    own, value = measured_by(model, question) or 0, question.printed.value * question.printed.scale
    slips = [one for one in _SLIPS if one * own <= 2 * value <= 4 * one * own or own <= 2 * one * value <= 4 * own]
    others = {text: count for text, count in _other_counts(question, model) if count != 2 * own}
    for counted, count in {"": own, **others}.items():
        yield from (Try(CauseFamily.FACTOR, text, value, counted) for text, value in _units(question, count))
    for factors, counts in (((*_FACTORS, *slips), {"": own}), (_WITH_COUNTERS, others)):
        for factor, (counted, count) in product(factors, counts.items()):
            if counted or factor > 2 or question.measure is CountedQuantity.PARAMETERS:  # twice the work is a counter's
                yield Try(CauseFamily.FACTOR, f"times {factor}", Fraction(count * factor), counted)
            yield Try(CauseFamily.FACTOR, f"divided by {factor}", Fraction(count, factor), counted)


def _units(question: Question, own: int) -> Iterator[tuple[str, Fraction]]:
    if question.measure is CountedQuantity.FLOPS:
        yield "in units of 2^30, not 10^9", Fraction(own * 10**9, 2**30)
    else:
        yield "in units of 2^20, not millions", Fraction(own * 10**6, 2**20)
    if question.measure is CountedQuantity.PARAMETERS and question.printed.scale == 10**6:
        yield "mebibytes of float32 (MiB), not millions", Fraction(4 * own * 10**6, 2**20)
        yield "megabytes of float32 (MB), not millions", Fraction(4 * own)


def _without_parts(question: Question, model: CountReport) -> Iterator[Try]:
    """Yield all but some parts and some parts alone, counted in several ways."""
    parts = [part for part in model.parts if 0 < part.depth <= 2][::-1]
    ways = list(_ways(question.measure, model))
    for text, alone, some in _choices(sorted(parts, key=lambda part: part.depth)[:_MOST_PARTS]):
        for counted, own, size in ways:
            value = sum(size(part) * times for part, times in some)
            if 0 < value < own:
                yield Try(CauseFamily.PARTS, text, Fraction(value if alone else own - value), counted)


def _ways(measure: CountedQuantity, model: CountReport) -> Iterator[tuple[str, int, Callable[[ModelPart], int]]]:
    """Yield how parts are counted: in words, the whole, and a function of a part."""
    if measure is CountedQuantity.PARAMETERS:
        yield "", model.parameters["all"], lambda part: part.parameters
        if (trained := model.parameters.get("trainable", 0)) < model.parameters["all"]:
            yield COUNTERS["trainable"], trained, lambda part: part.trained
    elif model.flops is not None:
        macs, layers = model.flops["macs"], model.flops["no_products"]
        yield "", macs, lambda part: part.work or 0
        yield _TWICE, 2 * macs, lambda part: 2 * (part.work or 0)
        if layers != macs:
            yield COUNTERS["no_products"], layers, lambda part: part.layers or 0
            yield f"{_TWICE}, without products", 2 * layers, lambda part: 2 * (part.layers or 0)


def _choices(parts: Sequence[ModelPart]) -> Iterator[tuple[str, bool, Sequence[tuple[ModelPart, int]]]]:
    """Yield modules of one parent, with how often each: in words, and whether they are all that is.

    What is often counted apart comes first, then what is nearer to the output: heads and branches of it are most often
    left out.
    """
    inside: dict[str, list[ModelPart]] = {}
    tops = [part for part in parts if part.depth == 1]
    for part in parts:
        inside.setdefault("" if part.depth == 1 else part.path.rpartition(".")[0], []).append(part)
    last = next((name for name in inside if tops and name.startswith(tops[0].path)), "")
    apart = [part for part in parts if _APART.search(part.path.rpartition(".")[2].lower())]
    apart = [part for part in apart if not any(part.path.startswith(f"{above.path}.") for above in apart)]
    sums: list[Sequence[ModelPart]] = [tuple(apart)] if len(apart) > 1 else []
    sums += [(one,) for one in (*apart, *tops)]
    for name in dict.fromkeys((last, *inside)):
        sums += _sums(inside[name][::-1] if name else tops)
    for some in sums:
        whole = [(part, part.copies) for part in some]
        ends = (some[0], some[-1]) if some[0].depth > 1 else (some[-1], some[0])
        named = " and ".join(map(_name_part, some)) if len(some) < 3 else " to ".join(part.path for part in ends)
        yield f"all but {named}", False, whole
        yield f"{named} alone", True, whole
        if len(some) == 1 and some[0].copies > 1:
            yield f"one of {some[0].path} fewer", False, [(some[0], 1)]
            yield f"only one of {some[0].path}", False, [(some[0], some[0].copies - 1)]


def _sums(parts: Sequence[ModelPart]) -> Iterator[Sequence[ModelPart]]:
    """Yield each of some parts; the first and the last ones, up to half of them, and all others; and each pair."""
    yield from ((part,) for part in parts)
    for count in range(1, len(parts) // 2 + 1):
        yield from (parts[:count], parts[-count:], parts[count:], parts[:-count])
    yield from combinations(parts, 2)


def _name_part(part: ModelPart) -> str:
    return part.path if part.copies == 1 else f"all {part.copies} of {part.path}"
