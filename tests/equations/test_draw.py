"""Examples from choices: each strategy makes what it says, the simplest first, and the same again from its choices."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from itertools import islice, permutations
from random import Random

import pytest

from imlp_audit.equations import draw as st
from imlp_audit.equations.choices import ChoiceList, RejectedError, count_through, random_choices
from imlp_audit.equations.shrink import shrink


class Colour(StrEnum):
    """Two members."""

    RED = "red"
    BLUE = "blue"


def every(strategy: st.Strategy[object]) -> list[object]:
    """Return all examples, in the order in which they are counted."""
    found = (choices for choices in count_through(strategy.draw, ChoiceList) if choices is not None)
    return [strategy.draw(ChoiceList(tuple(choices.made))) for choices in found]


@pytest.mark.parametrize(
    ("strategy", "examples"),
    [
        (st.just(7), [7]),
        (st.booleans(), [False, True]),
        (st.sampled_from(Colour), [Colour.RED, Colour.BLUE]),
        (st.sampled_from((3,)), [3]),
        (st.integers(2, 4), [2, 3, 4]),
        (st.integers(-4, -2), [-2, -3, -4]),
        (st.integers(-1, 3), [0, 1, -1, 2, 3]),
        (st.integers(-3, 1), [0, 1, -1, -2, -3]),
        (st.integers(-1, 1).map(abs), [0, 1, 1]),
        (st.integers(1, 4).filter(lambda n: n % 2), [1, 3]),
        (st.integers(1, 2).flatmap(lambda n: st.tuples(*[st.booleans()] * n)),
         [(False,), (True,), (False, False), (False, True), (True, False), (True, True)]),
        (st.one_of(st.just(1), st.integers(5, 6)), [1, 5, 6]),
        (st.builds(dict, a=st.booleans()), [{"a": False}, {"a": True}]),
        (st.permutations((1, 2, 3), 2), [[1, 2], [1, 3], [2, 1], [2, 3], [3, 2], [3, 1]]),
    ],
)  # fmt: skip
def test_all_examples_of_a_strategy_the_simplest_first(strategy: st.Strategy[object], examples: list[object]) -> None:
    assert every(strategy) == examples


def test_permutations_are_all_orders_once() -> None:
    assert sorted(every(st.permutations(range(4)).map(tuple))) == sorted(permutations(range(4)))  # type: ignore[type-var]


@pytest.mark.parametrize("make", [lambda: st.sampled_from(()), lambda: st.integers(2, 1)])
def test_a_strategy_of_nothing_is_an_error(make: object) -> None:
    with pytest.raises(ValueError, match="there is no"):
        make()  # type: ignore[operator]


def test_random_examples_reach_everything_and_are_made_again_by_their_choices() -> None:
    strategy = st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda pair: pair[0] != pair[1])
    random, found = Random(1), Counter[tuple[int, int]]()
    for _ in range(2000):
        choices = random_choices(random)
        example = strategy.draw(choices)
        found[example] += 1
        assert strategy.draw(ChoiceList(tuple(choices.made))) == example
    assert len(found) == 20
    assert min(found.values()) > 20


def test_random_vectors_often_hold_equal_numbers_and_often_zeros() -> None:
    """Of 4 numbers of 13 drawn evenly, 0.05 % would be all equal, and 0.03 % all 0."""
    strategy, random = st.tuples(*[st.integers(0, 12)] * 4), Random(0)
    drawn = [strategy.draw(random_choices(random)) for _ in range(2000)]
    assert sum(len(set(vector)) == 1 for vector in drawn) > 40
    assert sum(vector.count(0) >= 2 for vector in drawn) > 150  # evenly: 3 %


def test_choices_that_a_filter_refuses_make_no_example() -> None:
    with pytest.raises(RejectedError):
        st.integers(1, 4).filter(lambda n: n > 2).draw(ChoiceList((0,)))


def test_counting_goes_on_where_a_filter_refuses() -> None:
    found = list(islice(count_through(st.integers(1, 4).filter(lambda n: n > 2).draw, ChoiceList), 10))
    assert [choices and choices.made for choices in found] == [None, None, [2], [3]]


@pytest.mark.parametrize(
    ("start", "fails", "smallest"),
    [
        ((5, 9, 7), lambda path: sum(path) >= 6, (6,)),
        ((4, 8, 3, 3), lambda path: len(path) > 2 and path[1] > path[0], (0, 1, 0)),
        ((0, 3, 0, 3), lambda path: len(path) == 4 and sorted(path)[2:] == [3, 3], (0, 0, 3, 3)),
        ((7, 7), lambda path: len(path) == 2 and path[0] == path[1] > 0, (1, 1)),
        ((1000,), lambda path: bool(path) and path[0] >= 137, (137,)),
    ],
)
def test_a_failing_path_becomes_the_smallest(start: tuple[int, ...], fails: object, smallest: tuple[int, ...]) -> None:
    assert shrink(start, lambda path: path if fails(path) else None) == smallest  # type: ignore[operator]
