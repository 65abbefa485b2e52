"""The choice among declared options: exact, and honest about how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.checks.hypothesis_clarity import Chances, Clarity, Hypothesis, JudgedPaper, judge
from imlp_audit.checks.votes import FARTHEST, PAPER, DeclaredOptions, Vote, Votes
from imlp_audit.numbers.parsing import parse_printed
from imlp_audit.numbers.printed import Rounding
from imlp_audit.records.check import add_powers

READINGS, CONVENTIONS = ("text", "code"), ("macs", "fvcore")


def vote(
    name: str,
    printed: str,
    values: dict[tuple[str | None, str], float],
    *,
    column: str = "1/flops",
    family: str | None = "block",
    fixed: bool = False,
) -> Vote:
    exact = {key: Fraction(str(value)) for key, value in values.items()}
    return Vote(name, column, family, parse_printed(printed), exact, fixed)


FITTING = ("code", "fvcore")


def choose(votes: Sequence[Vote], among: DeclaredOptions) -> Hypothesis:
    return JudgedPaper.of(Votes.of(votes, among)).hypothesis


def options(*columns: str, roundings: tuple[Rounding, ...] = (Rounding.HALF_UP,)) -> DeclaredOptions:
    names = columns or ("1/flops",)
    return DeclaredOptions(roundings, READINGS, dict.fromkeys(names, CONVENTIONS), dict.fromkeys(names, "flops"))


def cells(count: int, fitting: tuple[str, str], *, column: str = "1/flops", wrong: int = 0) -> list[Vote]:
    """Cells that print what one reading and convention gives, all but the last `wrong` of them."""
    every = list(product(READINGS, CONVENTIONS))
    found = []
    for number in range(count):
        values = {key: 10 + 7 * number + 50.0 * place for place, key in enumerate(every)}
        printed = values[fitting] + (25 if number >= count - wrong else 0)
        found.append(vote(f"{column}/{number}", f"{printed:.2f}", values, column=column))  # type: ignore[arg-type]
    return found


def test_what_explains_every_cell_is_chosen_and_clear() -> None:
    found = choose(cells(6, ("code", "fvcore")), options())
    assert (found.explained, found.votes) == (6, 6)
    assert found.readings["block"].winner == "code"
    assert found.conventions["1/flops"].winner == "fvcore"
    assert found.readings["block"].choice is found.conventions["1/flops"].choice is Clarity.CLEAR


@pytest.mark.parametrize(("each", "choice"), [(2, Clarity.WEAK), (3, Clarity.MIXED), (4, Clarity.MIXED)])
def test_a_tie_goes_to_the_option_declared_first_and_is_weak_or_mixed(each: int, choice: Clarity) -> None:
    halves = [*cells(each, ("text", "macs")), *cells(each, ("text", "fvcore"))]
    found = choose(halves, options()).conventions["1/flops"]
    assert found.scores == {"macs": each, "fvcore": each}
    assert (found.winner, found.choice) == ("macs", choice)


@pytest.mark.parametrize(
    ("most", "alone", "choice"),
    [(8, 1, Clarity.CLEAR), (7, 2, Clarity.WEAK), (8, 2, Clarity.CLEAR), (10, 3, Clarity.MIXED)],
)
def test_a_choice_is_clear_only_if_no_other_option_explains_two_numbers_alone_or_three_of_ten(
    most: int, alone: int, choice: Clarity
) -> None:
    votes = [*cells(most, ("text", "macs")), *cells(alone, ("text", "fvcore"))]
    found = choose(votes, options())
    assert (found.conventions["1/flops"].choice, found.conventions["1/flops"].alone["fvcore"]) == (choice, alone)
    readings = [*cells(most, ("text", "macs")), *cells(alone, ("code", "macs"))]
    group = choose(readings, options()).readings["block"]
    assert group.choice is (Clarity.CLEAR if choice is Clarity.CLEAR else Clarity.WEAK)  # readings are never mixed


def test_what_neither_counter_of_a_mixed_column_gives_does_not_pass() -> None:
    votes = [*cells(5, ("text", "macs")), *cells(4, ("text", "fvcore")), *cells(1, ("text", "macs"), wrong=1)]
    votes = [replace(one, id=str(place)) for place, one in enumerate(votes)]
    judged = JudgedPaper.of(Votes.of(votes, options()))
    assert judged.hypothesis.conventions["1/flops"].allowed == ("macs", "fvcore")
    assert list(judged.passing) == [str(place) for place in range(9)]


NEAR = tuple(f"c{n}" for n in range(-FARTHEST, FARTHEST + 1))


def choice_of_counters_a_digit_apart(most: int, gaps: Sequence[int]) -> Clarity:
    """Return how sure a column is whose first numbers follow under macs, the others so many digits beside c0."""
    votes = []
    for n in range(most + len(gaps)):
        near: dict[tuple[str | None, str], float] = {(None, name): 500.0 + 7 * n + int(name[1:]) / 100 for name in NEAR}
        printed = 10 + n if n < most else 500 + 7 * n + gaps[n - most] / 100
        votes.append(vote(f"v{n}", f"{printed:.2f}", {(None, "macs"): 10.0 + n, **near}, family=None))
    among = DeclaredOptions((Rounding.HALF_UP,), (None,), {"1/flops": ("macs", *NEAR)}, {"1/flops": "flops"})
    return choose(votes, among).conventions["1/flops"].choice


def test_three_misses_that_some_counter_gives_to_any_number_are_no_second_counter() -> None:
    """Twenty-one counters a digit apart explain any three misses, so also three that are shifted."""
    assert choice_of_counters_a_digit_apart(6, [0, 0, 0]) is Clarity.MIXED  # all three by one of them
    assert choice_of_counters_a_digit_apart(6, [6, 7, 8]) is Clarity.CLEAR  # one by each of three


@pytest.mark.parametrize(("misses", "choice"), [(8, Clarity.MIXED), (9, Clarity.WEAK)])
def test_as_many_as_one_of_them_explains_by_luck_are_none_either(misses: int, choice: Clarity) -> None:
    """With shifted digits, one explains two of eight misses, and three of nine."""
    gaps = [0, 0, 0, *(n for n in range(-FARTHEST, 0))]
    assert choice_of_counters_a_digit_apart(2 * misses, gaps[:misses]) is choice


def test_an_option_that_a_column_shares_and_that_explains_none_of_its_numbers_does_not_judge_it() -> None:
    votes = [*cells(8, ("code", "fvcore")), *cells(2, ("code", "fvcore"), column="2/flops", wrong=2)]
    group = choose(votes, options("1/flops", "2/flops")).conventions["2/flops"]
    assert (group.scores, group.choice, group.allowed) == ({"macs": 0, "fvcore": 0}, Clarity.WEAK, CONVENTIONS)


def test_options_that_give_the_same_values_leave_nothing_to_choose() -> None:
    same = [vote(str(n), f"{n}.00", dict.fromkeys(product(READINGS, CONVENTIONS), n), family=None) for n in range(5)]
    found = choose(same, options())
    assert found.conventions["1/flops"].choice is Clarity.ONLY
    assert not found.readings


def test_coarse_digits_that_chance_explains_too_are_no_clear_choice() -> None:
    coarse = [
        vote(str(n), "5", {("text", "macs"): 5, ("code", "macs"): 5, ("text", "fvcore"): 6 + n, ("code", "fvcore"): 9})
        for n in range(4)
    ]
    loose = choose(
        [*coarse, *(vote(f"x{n}", "900", dict.fromkeys(product(READINGS, CONVENTIONS), 1)) for n in range(40))],
        options(),
    )
    assert loose.conventions["1/flops"].scores["macs"] == 4
    assert loose.conventions["1/flops"].chance >= 1


def test_a_row_with_its_own_counter_votes_on_the_reading_alone() -> None:
    own = [
        vote(f"own{n}", f"{30 + n}.00", {("text", "thop"): 1, ("code", "thop"): 30 + n}, fixed=True) for n in range(5)
    ]
    found = choose([*own, *cells(5, ("code", "macs"))], options())
    assert found.conventions["1/flops"].votes == 5
    assert found.readings["block"].votes == 10
    assert found.explained == 10


def test_the_rounding_rule_is_one_for_all_columns() -> None:
    truncated = [vote(f"t{n}", f"{n}.00", dict.fromkeys(product(READINGS, CONVENTIONS), n + 0.009)) for n in range(5)]
    found = choose(truncated, options(roundings=(Rounding.HALF_UP, Rounding.TRUNCATION)))
    rounding = found.roundings[PAPER]
    assert (rounding.winner, rounding.choice, found.explained) == (Rounding.TRUNCATION, Clarity.CLEAR, 5)
    tied = choose(
        [*truncated[:2], vote("r", "7.01", {("text", "macs"): 7.006})],
        options(roundings=(Rounding.HALF_UP, Rounding.TRUNCATION)),
    )
    assert tied.roundings[PAPER].choice is Clarity.WEAK


def test_a_measure_with_rules_of_its_own_has_its_own_rule() -> None:
    """Parameters are cut off and FLOPs rounded: one rule explains half of them, a rule for each all."""
    every = list(product(READINGS, CONVENTIONS))
    votes = [
        vote(f"{name}/{n}", f"{n}.{last}", dict.fromkeys(every, n + 0.09), column=name, family=None)
        for name, last in (("1/params", "0"), ("1/flops", "1"))
        for n in range(5)
    ]
    both = (Rounding.HALF_UP, Rounding.TRUNCATION)
    measures = {"1/params": "parameters", "1/flops": "flops"}
    one = DeclaredOptions(both, READINGS, dict.fromkeys(measures, CONVENTIONS), measures)
    assert choose(votes, one).explained == 5
    found = choose(votes, replace(one, rounding_of={"parameters": both}))
    assert found.explained == 10
    chosen = {name: (group.winner, group.choice, dict(group.scores)) for name, group in found.roundings.items()}
    assert chosen == {
        "parameters": (Rounding.TRUNCATION, Clarity.CLEAR, {Rounding.HALF_UP: 0, Rounding.TRUNCATION: 5}),
        PAPER: (Rounding.HALF_UP, Clarity.CLEAR, {Rounding.HALF_UP: 5, Rounding.TRUNCATION: 0}),
    }


@st.composite
def _votes(draw: st.DrawFn) -> list[Vote]:
    number = st.integers(0, 3)
    return [
        vote(
            f"c{index}",
            f"{draw(number)}.0",
            {key: draw(number) for key in product(READINGS, CONVENTIONS)},
            column=draw(st.sampled_from(("1/flops", "2/flops"))),
            family=draw(st.sampled_from(("block", "other"))),
        )
        for index in range(draw(st.integers(1, 8)))
    ]


def _brute_force(votes: Sequence[Vote], readings: Sequence[str], conventions: Sequence[str]) -> int:
    families, columns = ("block", "other"), ("1/flops", "2/flops")
    best = 0
    for chosen in product(readings, repeat=2):
        for counters in product(conventions, repeat=2):
            reading, counter = dict(zip(families, chosen, strict=True)), dict(zip(columns, counters, strict=True))
            hits = sum(
                one.values[reading[str(one.family)], counter[one.column]] in one.printed.interval() for one in votes
            )
            best = max(best, hits)
    return best


@pytest.mark.slow
@given(_votes())
def test_no_combination_explains_more(votes: list[Vote]) -> None:
    found: Hypothesis = choose(votes, options("1/flops", "2/flops"))
    assert found.explained == _brute_force(votes, READINGS, CONVENTIONS)


@pytest.mark.parametrize(("place", "digits"), [(2, 3), (5, -2500)], ids=["to a wrong number", "to a right number"])
def test_one_vote_changed_is_counted_as_if_all_were_counted_anew(place: int, digits: int) -> None:
    votes = cells(6, ("code", "fvcore"), wrong=1)
    changed = votes[place].shifted(digits)
    once = Votes.of(votes, options()).with_vote(place, changed)
    anew = Votes.of([*votes[:place], changed, *votes[place + 1 :]], options())
    assert [once.score(one) for one in once.combinations] == [anew.score(one) for one in anew.combinations]
    assert judge(once, Chances.of(once)) == judge(anew, Chances.of(anew))


def test_a_number_that_only_a_lesser_option_gives_does_not_pass_where_the_choice_is_clear() -> None:
    votes = [*cells(8, ("code", "fvcore")), vote("odd", "7.00", {("text", "macs"): 7, ("code", "fvcore"): 9})]
    assert JudgedPaper.of(Votes.of(votes, options())).passing == tuple(one.id for one in votes[:8])


def test_where_the_choice_is_clear_no_wrong_number_passes() -> None:
    """The values of cells() differ by more than ten last digits only between numbers; +-10 digits stay in one cell."""
    judged = JudgedPaper.of(Votes.of(cells(6, ("code", "fvcore")), options()))
    power = judged.powers["1/flops/3"]
    assert (power.one.caught, power.one.tried, power.ten.caught, power.ten.tried) == (2, 2, 20, 20)


def test_a_wrong_number_that_another_option_gives_passes_where_the_choice_is_weak() -> None:
    """10.00 under one reading and 10.03 under the other: of a single cell the wrong 10.03 would pass as well."""
    one = vote(
        "only", "10.00", {("text", "macs"): 10, ("text", "fvcore"): 10, ("code", "macs"): 10.03, ("code", "fvcore"): 11}
    )
    power = JudgedPaper.of(Votes.of([one], options())).powers["only"]
    assert (power.one.caught, power.ten.caught, power.ten.tried) == (2, 19, 20)


def test_a_column_with_few_numbers_follows_the_papers_other_columns_unless_another_option_explains_more_of_it() -> None:
    many, among = cells(8, ("code", "fvcore")), options("1/flops", "2/flops")
    agreeing = [*many, *cells(3, ("code", "fvcore"), column="2/flops")]
    group = choose(agreeing, among).conventions["2/flops"]
    assert (group.winner, group.choice, group.votes) == ("fvcore", Clarity.SHARED, 3)
    opposed = [*many, *cells(3, ("code", "macs"), column="2/flops")]
    group = choose(opposed, among).conventions["2/flops"]
    assert (group.winner, group.choice) == ("macs", Clarity.WEAK)
    tied = [
        *many,
        *cells(1, ("code", "macs"), column="2/flops"),
        vote("b", "1.00", {("code", "fvcore"): 1}, column="2/flops"),
    ]
    assert choose(tied, among).conventions["2/flops"].choice is Clarity.WEAK
    power = JudgedPaper.of(Votes.of(agreeing, among)).powers["2/flops/0"]
    assert power.ten.caught == 20


@pytest.mark.parametrize(
    ("fvcore", "macs", "choice"),
    [
        (6, 1, Clarity.SHARED),
        (5, 2, Clarity.WEAK),
        (5, 3, Clarity.WEAK),
        (4, 1, Clarity.SHARED),
        (4, 2, Clarity.WEAK),
        (7, 5, Clarity.WEAK),
    ],
)
def test_a_column_follows_the_others_only_if_they_are_clear_by_four_numbers(
    fvcore: int, macs: int, choice: Clarity
) -> None:
    """With the column's own number, 4 + 1 follow by fvcore and 1 by macs: four more; two by macs alone are too many."""
    others = [*cells(fvcore, ("code", "fvcore")), *cells(macs, ("code", "macs"))]
    votes = [*others, *cells(1, ("code", "fvcore"), column="2/flops")]
    found = choose(votes, options("1/flops", "2/flops")).conventions
    assert (found["2/flops"].winner, found["2/flops"].choice) == ("fvcore", choice)


def test_a_tie_that_chance_explains_does_not_free_a_column_from_the_papers_counter() -> None:
    """Two counters one digit apart: a wrong 10.01 in place of 10.00 would fit the other one, as shifted copies do."""
    near = {("code", "fvcore"): 10.0, ("code", "macs"): 10.01, ("text", "fvcore"): 10.02, ("text", "macs"): 10.03}
    column = [vote(name, text, near, column="2/flops") for name, text in (("a", "10.00"), ("b", "10.01"))]  # type: ignore[arg-type]
    judged = JudgedPaper.of(Votes.of([*cells(8, ("code", "fvcore")), *column], options("1/flops", "2/flops")))
    group = judged.hypothesis.conventions["2/flops"]
    assert (group.scores, group.chance >= 1) == ({"macs": 1, "fvcore": 1}, True)
    assert (group.winner, group.choice) == ("fvcore", Clarity.SHARED)
    assert "b" not in judged.passing


@pytest.mark.parametrize(
    ("off", "one", "ten"),  # last digits between the two counts of the only number, and how many wrong ones are caught
    [(0, 2, 20), (1, 1, 19), (-1, 1, 19), (2, 2, 19), (-2, 2, 19), (10, 2, 19), (-10, 2, 19), (11, 2, 20)],
)
def test_the_power_is_that_of_the_nearest_wrong_numbers_and_of_the_ten_on_each_side(
    off: int, one: int, ten: int
) -> None:
    counts = {(reading, "macs"): 10.0 for reading in READINGS} | {
        (reading, "fvcore"): 10 + off / 100 for reading in READINGS
    }
    power = JudgedPaper.of(Votes.of([vote("only", "10.00", counts)], options())).powers["only"]  # type: ignore[arg-type]
    assert (power.one.caught, power.one.tried, power.ten.caught, power.ten.tried) == (one, 2, ten, 20)


def test_numbers_that_cannot_be_printed_are_not_counted_as_caught() -> None:
    """Ten last digits below 0.04 would be negative: 3 of the 10 lower ones are left."""
    one = vote("small", "0.04", dict.fromkeys(product(READINGS, CONVENTIONS), 0.04))
    power = JudgedPaper.of(Votes.of([one], options())).powers["small"]
    assert power.ten.tried == FARTHEST + 3


def test_passes_are_counted_by_column() -> None:
    """Of three columns of 6, 5 and 4 numbers, one number each is wrong in the first and the last."""
    columns = {"1/flops": (6, 1), "2/flops": (5, 0), "3/flops": (4, 1)}
    votes = [one for name, (count, wrong) in columns.items() for one in cells(count, FITTING, column=name, wrong=wrong)]
    record = JudgedPaper.of(Votes.of(votes, options(*columns))).record({})
    assert [(one.passing, one.power.one.tried) for one in record.columns] == [(5, 10), (5, 10), (3, 6)]
    assert [one.by_chance for one in record.columns] == ["0"] * 3  # of numbers that are off, none is another's


@pytest.mark.parametrize("count", [1, 3])
def test_where_some_counter_gives_any_number_near_by_all_pass_by_chance(count: int) -> None:
    """Of so few numbers none of the 21 counters is a clear choice, and they are a last digit apart."""
    names = tuple(f"c{n}" for n in range(-FARTHEST, FARTHEST + 1))
    votes = [
        vote(f"v{n}", f"{10 + n}.00", {(None, name): 10 + n + int(name[1:]) / 100 for name in names}, family=None)
        for n in range(count)
    ]
    among = DeclaredOptions((Rounding.HALF_UP,), (None,), {"1/flops": names}, {"1/flops": "flops"})
    (column,) = JudgedPaper.of(Votes.of(votes, among)).record({}).columns
    assert (column.passing, column.by_chance, column.power.ten.caught) == (count, str(count), 0)


def test_powers_add_up() -> None:
    judged = JudgedPaper.of(Votes.of(cells(6, ("code", "fvcore"), wrong=1), options()))
    record = judged.record({})
    power = record.columns[0].power
    assert (record.columns[0].passing, power.one.tried, power.ten.caught) == (5, 10, 100)
    assert power == add_powers([judged.powers[cell] for cell in judged.passing])
    assert float(record.columns[0].by_chance) < 1
