"""What would give a printed number that a model does not: causes by name, ranked by how unlikely they are by chance.

A family of causes tries some values, the most usual first; the families take turns, so that each has an equal share of
what chance may give. The chance of a cause is the sum, over its value and all before it, of the part of the numbers
within a factor of two, on a logarithmic scale, that print as that value does (22 stands for more of them than 44): a
number that has nothing to do with the values is one of these so often. For a cause that gives several numbers, parts
are multiplied. Values that print alike are one. A cause is named up to 5 %; less unlikely ones are named as possible.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import combinations, product
from math import comb, floor, log, log10, prod
from operator import itemgetter
from types import MappingProxyType
from typing import TypeAlias

from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.numbers.printed import Printed
from imlp_audit.records.counted import COUNTERS, CountReport, ModelPart, NumberCause, PrintedNumber

_ALL = 0.05
_NEAR = 0.02  # in logarithms, for a value that is not it to be named
_MOST_CAUSES = 5
_OF_A_FAMILY = 2  # of these
_MOST_PARTS = 40
_FEW = 2  # digits: exchanged, they are another number
_FACTORS = (2, 3, 4, 8, 10, 16, 32, 5, 6, 12, 30, 64)
_WITH_COUNTERS = (2, 4, 3, 10, 30)  # and with another counter: the last are views of a video, or of an image


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
    ROW = "row"
    ARGUMENT = "argument"
    PARTS = "parts"
    MISPRINT = "misprint"
    GAP = "gap"


_ORDER = list(CauseFamily)
_Key: TypeAlias = tuple[CauseFamily, str]


@dataclass(frozen=True)
class Question:
    """A printed number, what it counts, and by which counter it should follow, if not by the usual one.

    `row` names another row of its table, with another model.
    """

    printed: Printed
    measure: CountedQuantity
    counter: str | None = None
    row: str = ""


@dataclass(frozen=True)
class Try:
    """A value that was tried: the cause, what it gives, how it is counted if not as usual; `odd` ones come last."""

    family: CauseFamily
    cause: str
    value: Fraction
    counted: str = ""
    odd: bool = False

    @property
    def key(self) -> _Key:
        """What makes it one cause with others that give other numbers."""
        return self.family, self.cause

    @property
    def text(self) -> str:
        """The cause, and how it is counted."""
        return f"{self.cause}, and {self.counted}" if self.counted else self.cause


Recounts = Mapping[CauseFamily, Mapping[str, CountReport]]
"""The model under changes of one thing, by the kind of change and the change in words, such as `num_classes=100`."""
_Hit = Mapping[Question, Try]
"""What a cause gives: the numbers that print so."""


def find_causes(
    questions: Sequence[Question],
    model: CountReport,
    again: Recounts,
    others: Mapping[Question, CountReport] = MappingProxyType({}),
) -> tuple[PrintedNumber, ...]:
    """Return for each printed number whether the model gives it, and what else would.

    `others` are numbers of the same column with the models of their rows: a cause that gives several outranks others.
    """
    alike = {(one.printed.value, _measured(of, one)): one for one, of in others.items()}  # two of these are one
    alike |= {(one.printed.value, _measured(model, one)): one for one in questions}
    models = {**dict.fromkeys(questions, model), **{one: others[one] for one in alike.values() if one.row}}
    follow = [question for question in questions if _follows(question, model)]
    kept = {
        family: {
            words: one
            for words, one in counted.items()
            if family in (CauseFamily.ROW, CauseFamily.PARTS) or all(_may_follow(question, one) for question in follow)
        }
        for family, counted in again.items()
    }
    kept[CauseFamily.SIZE] = _join_equal(kept.get(CauseFamily.SIZE, {}))
    tries = {one: list(list_tries(one, of, {} if one.row else kept)) for one, of in models.items()}
    turns = {one: _in_turn(one, models[one], tried) for one, tried in tries.items()}
    differ = {one: of for one, of in models.items() if not _follows(one, of)}
    hits: dict[_Key, dict[Question, Try]] = defaultdict(dict)
    for question in differ:
        for one, _ in turns[question]:
            if one.value in question.printed.interval():
                hits[one.key].setdefault(question, one)
    found = list[tuple[_Hit, float]]()
    for key, hit in hits.items():
        own = {question: one for question, one in hit.items() if not question.row}
        of = sum(bool(question.row) for question in differ)
        chances = [(some, _chance(key, some, turns, of)) for some in ((hit, own) if own != hit else (hit,)) if own]
        found += sorted(chances, key=itemgetter(1))[:1]
    found += [gap for question in differ if not question.row for gap in _over_rows(question, differ)]
    return tuple(_answer(question, model, turns[question], tries[question], found) for question in questions)


def _join_equal(sizes: Mapping[str, CountReport]) -> dict[str, CountReport]:
    """Name sizes together with which a model has the same numbers, to five digits."""
    alike: dict[str, list[str]] = defaultdict(list)
    for words, one in sizes.items():
        alike[f"{one.parameters['all']} {(one.flops or {}).get('macs', 0):.4e}"].append(words)
    return {
        " or ".join((some[0], *(words.removeprefix("images of ") for words in some[1:]))): sizes[some[0]]
        for some in alike.values()
    }


def _may_follow(question: Question, model: CountReport) -> bool:
    """Return whether a model has a number by some counter."""
    return any(value in question.printed.interval() for value in _counts(model, question.measure).values())


def _answer(
    question: Question, model: CountReport, turns: _Turns, tried: Sequence[Try], hits: Sequence[tuple[_Hit, float]]
) -> PrintedNumber:
    measured = _measured(model, question)
    value = question.printed.value * question.printed.scale
    every = [_cause(question, hit, chance) for hit, chance in hits if question in hit and chance < 1]
    found: list[NumberCause] = []
    for one in sorted(every, key=lambda cause: (cause.chance > _ALL, -len(cause.explains), cause.chance)):
        alike = sum(other.family == one.family for other in found)
        if alike < (1 if one.family == CauseFamily.PARTS else _OF_A_FAMILY):  # of sums, the simplest
            found.append(one)
    causes = [cause for cause in found if cause.chance <= _ALL]
    rivals = [{other.value for other in causes if len(other.explains) >= len(one.explains)} for one in causes]
    causes = [
        one.model_copy(update={"alone": not some - {one.value}}) for one, some in zip(causes, rivals, strict=True)
    ]
    itself = [Try(CauseFamily.COUNTER, "the model itself", Fraction(measured))] if measured else []
    usual = (*itself, *(one for one, _ in turns))
    near = next((one for one in usual if value > 0 and abs(log(one.value / value)) < _NEAR), None)
    missed = not any(question in hit for hit, _ in hits)
    return PrintedNumber(
        printed=question.printed.text,
        measure=question.measure,
        measured=str(measured) if measured is not None else None,
        follows=_follows(question, model),
        causes=tuple(causes[:_MOST_CAUSES]),
        possible=() if causes else tuple(found[:_MOST_CAUSES]),
        tried=len({one.value for one in tried}),
        expected=round(_width({cell for _, cell in turns}), 2),
        nearest=f"{near.text}: {readable(round(near.value))}" if missed and near is not None else None,
    )


def _cause(question: Question, hit: _Hit, chance: float) -> NumberCause:
    one = hit[question]
    explains = tuple(f"{other.printed.text} of {other.row}" if other.row else other.printed.text for other in hit)
    return NumberCause(
        family=one.family,
        text=one.text,
        value=decimal_text(one.value),
        chance=round(chance, 8),
        explains=explains,
        rows=tuple(other.row for other in hit if other.row),
    )


def _chance(key: _Key, hit: _Hit, turns: Mapping[Question, _Turns], rows: int) -> float:
    """Return the chance that a cause up to this one gives the numbers that this one gives, of so many other rows.

    Those of one quantity and row are one number, printed in several ways, and so are equal ones to which it gives one
    value. The order is that of the coarsest number.
    """
    coarsest = sorted(hit, key=lambda one: one.printed.step / abs(one.printed.value), reverse=True)
    of_row = {(one.measure, one.row): one for one in coarsest}
    narrow = {(one.measure, one.printed.value, hit[one].value): one for one in of_row.values()}
    if len(narrow) == 1:
        (question,) = narrow.values()
        tried = [one for one, _ in turns[question]].index(hit[question])
        return _width({cell for _, cell in turns[question][: tried + 1]})
    cells: list[dict[_Key, list[_Cell]]] = [defaultdict(list) for _ in narrow]
    for given, question in zip(cells, narrow.values(), strict=True):
        for one, cell in turns[question]:
            given[one.key].append(cell)
    together = set[tuple[_Cell, ...]]()
    for other in cells[0]:
        together.update(product(*(given.get(other, ()) for given in cells)))
        if other == key:
            break
    ways = comb(rows, sum(bool(question.row) for question in narrow.values()))
    return min(1.0, ways * sum(prod(_width([cell]) for cell in some) for some in together))


def _over_rows(question: Question, differ: Mapping[Question, CountReport]) -> Iterator[tuple[_Hit, float]]:
    """Yield by how much a number and those of other rows are all more, or less, than what their models have.

    It has the share of one family. A factor that all have is one of another family.
    """
    counts = {one: own for one, of in differ.items() if one.measure is question.measure and (own := _measured(of, one))}
    rows = [question, *(one for one in counts if one.row)] if question in counts else []
    hit, chance, low, high = list[Question](), float(len(CauseFamily)), Fraction(0), Fraction(0)
    for one in rows:
        inside = one.printed.interval()
        least, most = inside.low - counts[one], inside.high - counts[one]
        if not hit:
            low, high, hit = least, most, [one]
        elif max(low, least) < min(high, most):
            middle, spread = (inside.low + inside.high) / 2, (high - low + most - least) / 2
            chance *= _width([(middle - spread, middle + spread)]) if spread < middle else 1
            low, high, hit = max(low, least), min(high, most), [*hit, one]
    if len(hit) > 1:
        by = (low + high) / 2
        words = f"{readable(round(abs(by)))} {'more' if by > 0 else 'less'} than what the model of each row has"
        given = Try(CauseFamily.GAP, words, counts[question] + by)
        yield dict.fromkeys(hit, given), min(1.0, chance * comb(len(rows) - 1, len(hit) - 1))


def _follows(question: Question, model: CountReport) -> bool:
    measured = _measured(model, question)
    return measured is not None and measured in question.printed.interval()


def _counts(model: CountReport, measure: CountedQuantity) -> Mapping[str, int]:
    return model.parameters if measure is CountedQuantity.PARAMETERS else model.flops or {}


def _measured(model: CountReport, question: Question) -> int | None:
    counts = _counts(model, question.measure)
    usual = "all" if question.measure is CountedQuantity.PARAMETERS else "macs"
    return counts.get(question.counter or usual, counts.get(usual))


_Cell: TypeAlias = tuple[Fraction, Fraction]
_Turns: TypeAlias = Sequence[tuple[Try, _Cell]]


def _width(cells: Iterable[_Cell]) -> float:
    """Return the part of the numbers within a factor of two of a number that print as one of some cells."""
    return min(1.0, sum(log(high / low) for low, high in cells) / log(4))


def _in_turn(question: Question, model: CountReport, tried: Sequence[Try]) -> _Turns:
    """Return the first value of each family that is close, the second of each, and so on, with what each prints as.

    A change that is counted in another way too comes after plain ones. Values that print alike are one; those that
    print as the model's own does cannot be the number.
    """
    value, own = abs(question.printed.value * question.printed.scale), _measured(model, question)
    families: dict[CauseFamily, dict[_Cell, int]] = {family: {} for family in CauseFamily}
    turns: list[tuple[bool, int, int, Try, _Cell]] = []
    for one in sorted(tried, key=lambda one: (one.odd, bool(one.counted))):
        if 0 < value / 2 <= one.value <= value * 2:
            cell = _cell(question, one.value)
            if own is None or not cell[0] <= own < cell[1]:
                before = families[one.family]
                turns.append((one.odd, before.setdefault(cell, len(before)), _ORDER.index(one.family), one, cell))
    return [(one, cell) for *_, one, cell in sorted(turns, key=itemgetter(0, 1, 2))]


def _cell(question: Question, value: Fraction) -> _Cell:
    """Return the numbers that print as a value does: with a printed number's decimals, or its digits if fewer."""
    inside = question.printed.interval()
    step = inside.high - inside.low
    if value >= question.printed.scale * 10 ** (floor(log10(abs(question.printed.value))) + 1):
        step *= 10
    low = inside.low + step * floor((value - inside.low) / step)
    return low, low + step


def list_tries(question: Question, model: CountReport, again: Recounts) -> Iterator[Try]:
    """Yield what is tried for a printed number, the most usual of each family first."""
    measured = _measured(model, question)
    if measured is None:
        return
    yield from _counters(question, model)
    yield from _factors(question, model)
    yield from _misprints(question, measured)
    for family, others in again.items():
        for words, other in others.items():
            found = _measured(other, question)
            if found is not None and found != measured:
                words = f"what the row {words} has" if family is CauseFamily.ROW else words
                yield Try(family, words, Fraction(found))
                counts = _counts(other, question.measure)
                also = {text: counts[name] for name, text in _ALSO_COUNTED.items() if name in counts}
                yield from (Try(family, words, Fraction(count), text) for text, count in also.items())
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


_TRAINING = re.compile("aux|teacher|ema$|momentum|criterion|loss|discrim|^text|projector|predictor|^lpips")
"""Names of modules that are often used in training alone."""
_NOUNS = {CountedQuantity.PARAMETERS: "parameters", CountedQuantity.FLOPS: "FLOPs"}
_ALSO_COUNTED = {"torch": "two for each multiply-accumulate", "thop": "counted by thop"}
"""What is tried with other changes too."""


def _other_counts(question: Question, model: CountReport) -> Iterator[tuple[str, int]]:
    counts, own = _counts(model, question.measure), _measured(model, question)
    yield from ((text, counts[name]) for name, text in COUNTERS.items() if counts.get(name, own) != own)


def _counters(question: Question, model: CountReport) -> Iterator[Try]:
    for text, count in _other_counts(question, model):
        yield Try(CauseFamily.COUNTER, text, Fraction(count))
    (other,) = set(CountedQuantity) - {question.measure}
    swapped = _measured(model, Question(question.printed, other))
    if swapped is not None:
        text = f"it is the model's {_NOUNS[other]}, not its {_NOUNS[question.measure]}"
        yield Try(CauseFamily.COUNTER, text, Fraction(swapped))


def _factors(question: Question, model: CountReport) -> Iterator[Try]:
    own = _measured(model, question) or 0
    for text, value in _units(question, own):
        yield Try(CauseFamily.FACTOR, text, value)
    others = {text: count for text, count in _other_counts(question, model) if count != 2 * own}
    for factors, counts in ((_FACTORS, {"": own}), (_WITH_COUNTERS, others)):
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
    elif model.flops is not None:
        macs, layers = model.flops["macs"], model.flops["no_products"]
        yield "", macs, lambda part: part.work or 0
        yield _ALSO_COUNTED["torch"], 2 * macs, lambda part: 2 * (part.work or 0)
        if layers != macs:
            yield COUNTERS["no_products"], layers, lambda part: part.layers or 0
            yield f"{_ALSO_COUNTED['torch']}, without products", 2 * layers, lambda part: 2 * (part.layers or 0)


def _choices(parts: Sequence[ModelPart]) -> Iterator[tuple[str, bool, Sequence[tuple[ModelPart, int]]]]:
    """Yield modules of one parent, with how often each: in words, and whether they are all that is.

    What only training uses comes first, then what is nearer to the output: heads and branches of it are most often left
    out.
    """
    inside: dict[str, list[ModelPart]] = {}
    tops = [part for part in parts if part.depth == 1]
    for part in parts:
        inside.setdefault("" if part.depth == 1 else part.path.rpartition(".")[0], []).append(part)
    last = next((name for name in inside if tops and name.startswith(tops[0].path)), "")
    trained = [part for part in parts if _TRAINING.search(part.path.rpartition(".")[2].lower())]
    trained = [part for part in trained if not any(part.path.startswith(f"{above.path}.") for above in trained)]
    sums: list[Sequence[ModelPart]] = [tuple(trained)] if len(trained) > 1 else []
    sums += [(one,) for one in (*trained, *tops)]
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
