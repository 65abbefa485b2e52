"""Testing a claim: every example counts, the counterexample is small, and equal searches are equal."""

from __future__ import annotations

import time

import pytest

from imlp_audit.claims.settings import Limits
from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.search import search
from imlp_audit.equations.strategies import Vector, numbers, vectors

HERE = Arithmetic()


def claim_that(bound: float) -> Claim[Vector]:
    """Claims that no vector's sum is above a bound."""
    return Claim(vectors(2, st.integers(0, 100).map(float)), lambda x, _: Trial(sum(x) <= bound, {"x": x}))


def test_a_true_claim_is_tried_on_every_example() -> None:
    assert search(claim_that(1000), HERE, Limits(37)).examples == 37
    assert search(claim_that(1000), HERE, Limits(37)).counterexample == ()


def test_a_space_smaller_than_the_examples_is_searched_whole() -> None:
    seen = set()
    claim = Claim(st.sampled_from([1, 2, 3]), lambda x, _: Trial(not seen.add(x)))  # type: ignore[func-returns-value]
    assert search(claim, HERE, Limits(100)).examples == 3
    assert seen == {1, 2, 3}


def test_a_counterexample_is_the_smallest_whatever_the_seed() -> None:
    found = {search(claim_that(99), HERE, Limits(200, seed)).counterexample for seed in range(5)}
    assert found == {("x = [0, 100]",)}


def drawn(limits: Limits) -> list[Vector]:
    """The examples that a search tries, in order."""
    own: list[Vector] = []

    def judge(x: Vector, _: Arithmetic) -> Trial:
        own.append(x)
        return Trial(True)

    search(Claim(vectors(3), judge), HERE, limits)
    return own


def test_equal_searches_are_equal() -> None:
    assert drawn(Limits(50, 3)) == drawn(Limits(50, 3))
    assert len(drawn(Limits(50, 3))) == 50


def test_another_seed_is_another_search() -> None:
    assert drawn(Limits(20, 0)) != drawn(Limits(20, 1))


def test_what_cannot_be_judged_is_a_problem_and_no_verdict() -> None:
    def judge(x: float, _: Arithmetic) -> Trial:
        raise ZeroDivisionError("division by zero")

    found = search(Claim(numbers(), judge), HERE, Limits(10))
    assert found.problem == "ZeroDivisionError: division by zero"
    assert found.counterexample == ()


def slow(x: int, _: Arithmetic) -> Trial:
    time.sleep(0.01)
    return Trial(True)


def test_a_search_out_of_time_says_how_far_it_got() -> None:
    found = search(Claim(st.integers(0, 10**9), slow), HERE, Limits(100_000, seconds=0.2))
    assert found.problem == f"only {found.examples} of 100000 examples were run in 0.2 s; none was false"
    assert 1 <= found.examples < 100


def test_time_that_runs_out_before_the_smallest_is_reported() -> None:
    def judge(x: int, _: Arithmetic) -> Trial:
        time.sleep(0.05)
        return Trial(x < 10, {"x": x})

    found = search(Claim(st.integers(0, 10**9), judge), HERE, Limits(50, seconds=0.3))
    assert found.problem is not None
    assert "before the smallest counterexample was found; so far: x = " in found.problem


def test_a_share_of_the_examples_for_what_takes_long() -> None:
    claim = Claim(st.integers(0, 10**9), lambda x, _: Trial(True), share=0.1)
    assert search(claim, HERE, Limits(50)).examples == 5
    assert search(claim, HERE, Limits(1)).examples == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "x = 0.5"), (-0.0, "x = 0"), (1 / 3, "x = 0.333333"), ((1.0, (2.5,)), "x = [1, [2.5]]"), ("a", "x = a")],
)
def test_how_a_counterexample_is_written(value: object, text: str) -> None:
    claim = Claim(st.just(None), lambda _, __: Trial(False, {"x": value}))
    assert search(claim, HERE, Limits(1)).counterexample == (text,)


def test_a_strategy_that_makes_nothing_is_a_problem() -> None:
    never: Claim[int] = Claim(st.integers(1, 9).filter(lambda _: False), lambda _, __: Trial(True))
    assert search(never, HERE, Limits(10)).problem == "its strategy makes no example"


def test_no_example_is_tried_twice() -> None:
    few = Claim(st.tuples(*[st.integers(0, 2)] * 5), lambda x, _: Trial(not seen.append(x)))  # type: ignore[func-returns-value]
    seen: list[tuple[int, ...]] = []
    assert search(few, HERE, Limits(200)).examples == 200
    assert len(set(seen)) == len(seen) == 200
    assert seen[0] == (0,) * 5  # the simplest comes first
