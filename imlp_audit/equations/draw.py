"""Examples of claims, made by choices; the simplest example of each kind is the one that all choices of 0 make.

The names are those of hypothesis's strategies, which they stand in for: a claim is tried on a hundred examples, and
hypothesis takes longer to make one than the claim takes to be judged on it. An example is the same on every machine and
with every release of a library, and its choices are all that is needed to make it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar, overload

from imlp_audit.equations.choices import ChoiceList, RejectedError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
_TRIES = 100


class Strategy(Generic[T_co]):
    """A way of making an example from choices."""

    def __init__(self, draw: Callable[[ChoiceList], T_co]) -> None:
        self.draw = draw

    def map(self, function: Callable[[T_co], U]) -> Strategy[U]:
        """Apply a function to each example."""
        return Strategy(lambda choices: function(self.draw(choices)))

    def flatmap(self, function: Callable[[T_co], Strategy[U]]) -> Strategy[U]:
        """Draw from the strategy that a function makes of each example, such as of a size."""
        return Strategy(lambda choices: function(self.draw(choices)).draw(choices))

    def filter(self, condition: Callable[[T_co], object]) -> Strategy[T_co]:
        """Keep the examples that a condition holds for; an example is given up after a hundred that it does not."""

        def draw(choices: ChoiceList) -> T_co:
            for _ in range(_TRIES):
                start = choices.mark()
                example = self.draw(choices)
                if condition(example):
                    return example
                choices.take_back(start)
            raise RejectedError

        return Strategy(draw)


def just(value: T) -> Strategy[T]:
    """Return a value, always."""
    return Strategy(lambda _: value)


def sampled_from(values: Iterable[T]) -> Strategy[T]:
    """Any of some values, the simplest first; of an enum, any of its members."""
    known = tuple(values)
    if not known:
        raise ValueError("there is no value to choose from")
    return Strategy(lambda choices: known[choices.choose(len(known))])


def integers(lowest: int, highest: int) -> Strategy[int]:
    """Any whole number from the lowest to the highest; the simplest is the one nearest to 0."""
    if lowest > highest:
        raise ValueError(f"there is no number from {lowest} to {highest}")
    nearest = min(max(lowest, 0), highest)
    both, count = min(nearest - lowest, highest - nearest), highest - lowest + 1
    up = highest - nearest >= nearest - lowest

    def draw(choices: ChoiceList) -> int:
        place = choices.choose(count)
        if place <= 2 * both:
            return nearest + (place + 1) // 2 * (1 if place % 2 else -1)
        return nearest + (place - both if up else both - place)

    return Strategy(draw)


def booleans() -> Strategy[bool]:
    """Return false or true."""
    return sampled_from((False, True))


def permutations(values: Sequence[T], size: int | None = None) -> Strategy[list[T]]:
    """All of some values in any order, or only the first of them; the simplest order is the one given."""
    count = len(values) if size is None else size

    def draw(choices: ChoiceList) -> list[T]:
        order = list(values)
        for place in range(min(count, len(order) - 1)):
            other = place + choices.choose(len(order) - place)
            order[place], order[other] = order[other], order[place]
        return order[:count]

    return Strategy(draw)


def one_of(*strategies: Strategy[Any]) -> Strategy[Any]:
    """Draw from any of some strategies."""
    return Strategy(lambda choices: strategies[choices.choose(len(strategies))].draw(choices))


def builds(make: Callable[..., T], *arguments: Strategy[Any], **named: Strategy[Any]) -> Strategy[T]:
    """Call a function, such as a class, with an example of each argument."""

    def draw(choices: ChoiceList) -> T:
        return make(
            *[argument.draw(choices) for argument in arguments],
            **{name: argument.draw(choices) for name, argument in named.items()},
        )

    return Strategy(draw)


@overload
def tuples() -> Strategy[tuple[()]]: ...
@overload
def tuples(a: Strategy[A], /) -> Strategy[tuple[A]]: ...
@overload
def tuples(a: Strategy[A], b: Strategy[B], /) -> Strategy[tuple[A, B]]: ...
@overload
def tuples(a: Strategy[A], b: Strategy[B], c: Strategy[C], /) -> Strategy[tuple[A, B, C]]: ...
@overload
def tuples(a: Strategy[A], b: Strategy[B], c: Strategy[C], d: Strategy[D], /) -> Strategy[tuple[A, B, C, D]]: ...
@overload
def tuples(*each: Strategy[Any]) -> Strategy[tuple[Any, ...]]: ...
def tuples(*each: Strategy[Any]) -> Strategy[tuple[Any, ...]]:
    """Draw an example of each strategy."""
    return Strategy(lambda choices: tuple([one.draw(choices) for one in each]))
