"""The choices that make an example: drawn at random, counted through, or those of an earlier example again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TypeVar

Path = tuple[int, ...]
Kind = TypeVar("Kind", bound="ChoiceList")


class RejectedError(Exception):
    """The choices make no example that the claim is about."""


class ChoiceList:
    """Choices of one of `count` things each, as numbers from 0; 0 is the simplest.

    The first ones are those of a `path`; more are drawn by `pick`, and without it they are 0.
    """

    def __init__(self, path: Path = (), pick: Callable[[int, list[int]], int] | None = None) -> None:
        self._path, self._pick = path, pick
        self.made: list[int] = []
        self.counts: list[int] = []
        self.plain = False

    def choose(self, count: int) -> int:
        """Choose one of some things. Where there is only one, nothing is chosen."""
        if count == 1:
            return 0
        place = len(self.made)
        if place < len(self._path):
            choice = min(self._path[place], count - 1)
        else:
            choice = self._pick(count, self.made) if self._pick else 0
        self.made.append(choice)
        self.counts.append(count)
        return choice

    def number(self, plain: Sequence[float], wide: Sequence[float]) -> float:
        """Choose one of some plain numbers or, if not only `plain` ones are wanted, of others too."""
        count = len(plain) if self.plain else len(plain) + len(wide)
        place = self.choose(count)
        return plain[place] if place < len(plain) else wide[place - len(plain)]

    def mark(self) -> int:
        """Return where the next choice stands."""
        return len(self.made)

    def take_back(self, start: int) -> None:
        """Take back choices that make no example, so that others are drawn in their place."""
        if self._pick is None or start < len(self._path):
            raise RejectedError
        del self.made[start:], self.counts[start:]


def random_choices(random: Random) -> ChoiceList:
    """Return choices of one example: all alike; mostly equal to earlier ones; or mostly the simpler things.

    Errors often show only where two things are equal, or where one is 0.
    """
    rand, style = random.random, random.random()

    def pick(count: int, made: list[int]) -> int:
        if style < 0.25 and made and rand() < 0.5:
            earlier = made[int(rand() * len(made))]
            if earlier < count:
                return earlier
        elif style > 0.75:
            return int(rand() * rand() * count)
        return int(rand() * count)

    return ChoiceList(pick=pick)


def count_through(draw: Callable[[Kind], object], kind: Callable[[Path], Kind]) -> Iterator[Kind | None]:
    """Yield all choices that there are, in order; None for those that make no example."""
    path: Path | None = ()
    while path is not None:
        choices = kind(path)
        try:
            draw(choices)
        except RejectedError:
            yield None
        else:
            yield choices
        path = _next(choices.made, choices.counts)


def _next(made: Sequence[int], counts: Sequence[int]) -> Path | None:
    """Return the choices that follow: the last one that can be is raised, and those behind it are left open."""
    for place in range(len(made) - 1, -1, -1):
        if made[place] + 1 < counts[place]:
            return (*made[:place], made[place] + 1)
    return None
