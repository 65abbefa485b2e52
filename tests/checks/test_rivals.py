"""Numbers that follow under another option than the one chosen for their column, their family or the paper."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from imlp_audit.checks.power import Judged
from imlp_audit.checks.tally import DeclaredOptions, Tally, Vote
from imlp_audit.numbers.forms import NumberForm, parse_printed
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.hypothesis import GroupScore


def vote(place: int, printed: str, family: str | None, values: Mapping[tuple[str, str], int]) -> Vote:
    number = parse_printed(printed, NumberForm("", "."))
    return Vote(f"p/1/r{place}/c", "1/c", family, number, {key: Fraction(value) for key, value in values.items()})


def judged(votes: list[Vote], rules: tuple[Rounding, ...] = (Rounding.HALF_UP,)) -> Judged:
    options = DeclaredOptions(rules, ("a", "b"), {"1/c": ("x", "y")}, {"1/c": "flops"})
    return Judged.of(Tally.of(votes, options))


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
    assert (found.choice, found.winner, found.alone, found.mixed) == ("clear", "x", {"y": 5}, True)
    found = counted_by(3, both=4)
    assert (found.scores, found.alone) == ({"x": 9, "y": 7}, {"y": 3})


def test_numbers_that_follow_under_both_say_nothing_for_the_rival() -> None:
    found = counted_by(0, both=8)
    assert (found.choice, found.scores, found.alone, found.mixed) == ("clear", {"x": 12, "y": 8}, {}, False)


def test_readings_and_rounding_rules_have_rivals_too() -> None:
    """Of ten numbers seven follow by reading a, three by b; of ten others all but two are cut off."""
    values = [{("a", "x"): 1000 * n, ("a", "y"): 1, ("b", "x"): 1000 * n + 500, ("b", "y"): 1} for n in range(1, 11)]
    votes = [vote(n, str(1000 * n + (500 if n > 7 else 0)), "f", values[n - 1]) for n in range(1, 11)]
    (reading,) = judged(votes).record({}).readings
    assert (reading.winner, reading.scores, reading.alone) == ("a", {"a": 7, "b": 3}, {"b": 3})
    cut = [
        Vote(f"p/1/r{n}/c", "1/c", None, parse_printed(f"{n}.{4 if n < 3 else 3}", NumberForm("", ".")), {
            ("a", "x"): Fraction(n) + Fraction(39, 100), ("a", "y"): Fraction(n) + Fraction(39, 100)
        })
        for n in range(1, 11)
    ]  # fmt: skip
    by_two_rules = judged(cut, (Rounding.HALF_UP, Rounding.TRUNCATION))
    rule = by_two_rules.record({}).roundings
    assert rule is not None
    assert by_two_rules.passing == tuple(one.id for one in cut[2:])  # only by the rule that is clear
    assert (rule.winner, rule.scores, rule.alone) == ("truncation", {"half_up": 2, "truncation": 8}, {"half_up": 2})
