"""What testing a claim gave. Torch-free: it crosses processes, and checks are made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Outcome:
    """How many examples were run, and the smallest one that the claim is false on, if any.

    `counterexample` are texts "symbol = value". `problem` says why a claim could not be tested to the end.
    """

    examples: int
    counterexample: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def holds(self) -> bool:
        """Whether it was tested to the end and no example is false."""
        return not self.counterexample and self.problem is None


@dataclass(frozen=True)
class NotRun:
    """The claim's Python was not run, and why."""

    reason: str


AnyOutcome: TypeAlias = Outcome | NotRun
