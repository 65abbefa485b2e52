"""What would give a printed number that a model does not: causes by name, ranked by how unlikely they are by chance.

A family of causes tries some values, the most usual first; the families take turns, so that each has an equal share of
what chance may give. The chance of a cause is the sum, over its value and all before it, of the part of the numbers
within a factor of two, on a logarithmic scale, that print as that value does (22 stands for more of them than 44): a
number that has nothing to do with the values is one of these so often. For a cause that gives several numbers, parts
are multiplied. Values that print alike are one. A cause is named up to 5 %; less unlikely ones are named as possible.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import comb, floor, log, log10, prod
from operator import itemgetter
from types import MappingProxyType
from typing import TypeAlias

from imlp_audit.explain.tries import (
    CauseFamily,
    CauseKey,
    CountedQuantity,
    Question,
    Recounts,
    Try,
    counts_of,
    follows,
    list_tries,
    measured_by,
)
from imlp_audit.numbers.interval import decimal_text, readable
from imlp_audit.records.counted import PROGRAMS, CountReport, NumberCause, PrintedNumber

_ALL = 0.05
_NEAR = 0.02  # in logarithms, for a value that is not it to be named
_MOST_CAUSES = 5
_OF_A_FAMILY = 2  # of these
_ORDER = list(CauseFamily)
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
    alike = {(one.printed.value, measured_by(of, one)): one for one, of in others.items()}  # two of these are one
    alike |= {(one.printed.value, measured_by(model, one)): one for one in questions}
    models = {**dict.fromkeys(questions, model), **{one: others[one] for one in alike.values() if one.row}}
    follow = [question for question in questions if follows(question, model)]
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
    differ = {one: of for one, of in models.items() if not follows(one, of)}
    hits: dict[CauseKey, dict[Question, Try]] = defaultdict(dict)
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
    return any(value in question.printed.interval() for value in counts_of(model, question.measure).values())


def _answer(
    question: Question, model: CountReport, turns: _Turns, tried: Sequence[Try], hits: Sequence[tuple[_Hit, float]]
) -> PrintedNumber:
    measured = measured_by(model, question)
    value = question.printed.value * question.printed.scale
    giving = [hit for hit, chance in hits if question in hit and chance < 1]
    every = [
        _cause(question, hit, chance)
        for hit, chance in hits
        if hit in giving and not any(_is_enough(other, hit, question) for other in giving)
    ]
    found: list[NumberCause] = []
    areas = {one.value for one in every if one.family == CauseFamily.SIZE and one.chance <= _ALL}
    every.sort(key=lambda one: _rank(one, areas))
    for one in every:
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
    fits = follows(question, model)
    work = model.flops or {} if fits and question.measure is CountedQuantity.FLOPS else {}
    by = {name: work[name] for name in PROGRAMS if name in work and work[name] not in question.printed.interval()}
    return PrintedNumber(
        printed=question.printed.text,
        measure=question.measure,
        measured=str(measured) if measured is not None else None,
        follows=fits,
        causes=tuple(causes[:_MOST_CAUSES]),
        possible=() if causes else tuple(found[:_MOST_CAUSES]),
        tried=len({one.value for one in tried}),
        expected=round(_width({cell for _, cell in turns}), 2),
        nearest=f"{near.text}: {readable(round(near.value))}" if missed and near is not None else None,
        otherwise=by,
    )


def _rank(one: NumberCause, areas: Collection[str]) -> tuple[object, ...]:
    """Return what puts likely causes of many numbers first, and misprints and factors that are areas later."""
    by_area = one.family == CauseFamily.FACTOR and one.value in areas
    return one.chance > _ALL, -len(one.explains), one.family == CauseFamily.MISPRINT, by_area, one.chance


def _is_enough(plain: _Hit, both: _Hit, question: Question) -> bool:
    """Return whether one of the two changes that a cause is made of gives all its numbers alone."""
    one, other = plain[question], both[question]
    if one.family == CauseFamily.ARGUMENT and one.value == other.value and other.cause.startswith(f"{one.cause}, "):
        return set(both) <= set(plain)
    if one.counted or not other.counted:
        return False
    return (one.cause == other.cause or one.cause.startswith(other.counted)) and set(both) <= set(plain)


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


def _chance(key: CauseKey, hit: _Hit, turns: Mapping[Question, _Turns], rows: int) -> float:
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
    cells: list[dict[CauseKey, list[_Cell]]] = [defaultdict(list) for _ in narrow]
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
    """Yield by how much, and how many times, a number and other rows' are what their models have, a family each."""
    counts = {
        one: own for one, of in differ.items() if one.measure is question.measure and (own := measured_by(of, one))
    }
    rows = [question, *(one for one in counts if one.row)] if question in counts else []
    for family in (CauseFamily.GAP, CauseFamily.RATIO):
        hit, chance, low, high = list[Question](), float(len(CauseFamily)), Fraction(0), Fraction(0)
        for one in rows:
            inside, own = one.printed.interval(), counts[one]
            shift, unit = (own, 1) if family is CauseFamily.GAP else (0, own)
            least, most = (inside.low - shift) / unit, (inside.high - shift) / unit
            if not hit:
                low, high, hit = least, most, [one]
            elif max(low, least) < min(high, most):
                middle, spread = (inside.low + inside.high) / 2, (high - low + most - least) * unit / 2
                chance *= _width([(middle - spread, middle + spread)]) if spread < middle else 1
                low, high, hit = max(low, least), min(high, most), [*hit, one]
        if len(hit) > 1:
            by, own = (low + high) / 2, counts[question]
            words, value = f"{decimal_text(by, 3)} times", own * by
            if family is CauseFamily.GAP:
                words, value = f"{readable(round(abs(by)))} {'more' if by > 0 else 'less'} than", own + by
            given = Try(family, f"{words} what the model of each row has", value)
            yield dict.fromkeys(hit, given), min(1.0, chance * comb(len(rows) - 1, len(hit) - 1))


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
    value, own = abs(question.printed.value * question.printed.scale), measured_by(model, question)
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
