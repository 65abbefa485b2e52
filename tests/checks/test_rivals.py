"""Numbers that follow under another option than the one chosen for their column, their family or the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from imlp_audit.checks.hypothesis_clarity import JudgedPaper
from imlp_audit.checks.votes import DeclaredOptions, Vote, Votes
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.result import GroupScore


def vote(place: int, printed: str, family: str | None, values: Mapping[tuple[str, str], int]) -> Vote:
    number = parse_printed(printed)
    return Vote(f"p/1/r{place}/c", "1/c", family, number, {key: Fraction(value) for key, value in values.items()})


def judged(votes: list[Vote], rules: tuple[Rounding, ...] = (Rounding.HALF_UP,)) -> JudgedPaper:
    options = DeclaredOptions(rules, ("a", "b"), {"1/c": ("x", "y")}, {"1/c": "flops"})
    return JudgedPaper.of(Votes.of(votes, options))


def counted_by(by_y: int, both: int = 0) -> GroupScore:
    """Score a column of twelve: so many print what y counts, so many what both do, and the others what x does."""
    votes = []
    for n in range(12):
        x = 1000 * (n + 1)
        y = x if n >= 12 - both else x + 100
        votes.append(vote(n, str(y if n < by_y else x), None, {("a", "x"): x, ("a", "y"): y}))
    return judged(votes).record({}).columns[0].group


def test_numbers_that_follow_under_the_rival_alone_are_counted() -> None:
    found = counted_by(5)
    assert (found.choice, found.winner, found.rival, found.alone) == ("mixed", "x", "y", {"y": 5})
    found = counted_by(9)
    assert (found.choice, found.winner, found.rival, found.alone) == ("mixed", "y", "x", {"x": 3})
    found = counted_by(3, both=4)
    assert (found.scores, found.rival, found.alone) == ({"x": 9, "y": 7}, "y", {"y": 3})
    found = counted_by(2)
    assert (found.choice, found.winner, found.rival, found.alone) == ("clear", "x", None, {"y": 2})


def test_each_family_has_its_own_rivals() -> None:
    """Ten numbers a family: reading a gives 9, 8 and 7 of them, and b the others."""
    votes = [
        vote(100 * by_b + n, str(1000 * n + (500 if n <= by_b else 0)), family, {
            ("a", "x"): 1000 * n, ("a", "y"): 1, ("b", "x"): 1000 * n + 500, ("b", "y"): 1
        })
        for family, by_b in (("f", 1), ("g", 2), ("h", 3))
        for n in range(1, 11)
    ]  # fmt: skip
    found = judged(votes).record({}).readings
    assert [(one.name, one.votes, one.scores, one.alone) for one in found] == [
        ("f", 10, {"a": 9, "b": 1}, {"b": 1}),
        ("g", 10, {"a": 8, "b": 2}, {"b": 2}),
        ("h", 10, {"a": 7, "b": 3}, {"b": 3}),
    ]


@pytest.mark.parametrize("other", ["e", "g"])
def test_a_rival_reading_is_credited_with_its_own_familys_numbers_alone(other: str) -> None:
    """With f's reading b the column would be counted by y, from which five numbers of the other family follow.

    The ten of f follow by x under a, and eight of them by y under b.
    """
    votes = [
        vote(
            n, str(1000 * n), "f", {("a", "x"): 1000 * n, ("a", "y"): 1, ("b", "x"): 1, ("b", "y"): 1000 * n * (n > 2)}
        )
        for n in range(1, 11)
    ] + [
        vote(n, str(1000 * n), other, {(reading, "x" if n < 17 else "y"): 1000 * n for reading in "ab"})
        for n in range(11, 22)
    ]
    found = {one.name: one for one in judged(votes).record({}).readings}
    assert (found["f"].choice, found["f"].scores, found["f"].alone) == ("clear", {"a": 10, "b": 8}, {})


def test_a_measure_with_rounding_rules_of_its_own_is_recorded_apart() -> None:
    """Params are cut off, and have no other rule; ten FLOPs have two, of which half-up explains eight."""
    votes = [
        replace(vote(n, f"{n}.{4 if n > 2 else 3}", None, {}), values={
            (reading, name): Fraction(100 * n + 39, 100) for reading in "ab" for name in "xy"
        })
        for n in range(1, 11)
    ]  # fmt: skip
    params = [replace(one, id=f"params{n}", column="1/p") for n, one in enumerate(votes)]
    conventions, measures = {"1/c": ("x", "y"), "1/p": ("x", "y")}, {"1/c": "flops", "1/p": "parameters"}
    own = {"flops": (Rounding.HALF_UP, Rounding.TRUNCATION)}
    options = DeclaredOptions((Rounding.TRUNCATION,), ("a", "b"), conventions, measures, rounding_of=own)
    record = JudgedPaper.of(Votes.of([*votes, *params], options)).record({})
    assert (record.rounding, record.roundings) == ("truncation", None)
    assert [(one.name, one.winner, one.scores, one.alone) for one in record.rounding_of] == [
        ("flops", "half_up", {"half_up": 8, "truncation": 2}, {"truncation": 2})
    ]


def test_readings_and_rounding_rules_have_rivals_too() -> None:
    """Of ten numbers seven follow by reading a, three by b; of ten others all but two are cut off."""
    values = [{("a", "x"): 1000 * n, ("a", "y"): 1, ("b", "x"): 1000 * n + 500, ("b", "y"): 1} for n in range(1, 11)]
    votes = [vote(n, str(1000 * n + (500 if n > 7 else 0)), "f", values[n - 1]) for n in range(1, 11)]
    (reading,) = judged(votes).record({}).readings
    assert (reading.winner, reading.scores, reading.alone) == ("a", {"a": 7, "b": 3}, {"b": 3})
    cut = [
        Vote(f"p/1/r{n}/c", "1/c", None, parse_printed(f"{n}.{4 if n < 3 else 3}"), {
            ("a", "x"): Fraction(n) + Fraction(39, 100), ("a", "y"): Fraction(n) + Fraction(39, 100)
        })
        for n in range(1, 11)
    ]  # fmt: skip
    by_two_rules = judged(cut, (Rounding.HALF_UP, Rounding.TRUNCATION))
    rule = by_two_rules.record({}).roundings
    assert rule is not None
    assert by_two_rules.passing == tuple(one.id for one in cut[2:])  # only by the rule that is clear
    assert (rule.winner, rule.scores, rule.alone) == ("truncation", {"half_up": 2, "truncation": 8}, {"half_up": 2})
