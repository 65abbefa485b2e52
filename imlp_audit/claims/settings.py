"""How claims are to be tested, and what that gives. Torch-free: both cross processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Settings:
    """How many examples each claim is tried on, from which seed, and the seconds after which it is an error.

    A process that imports a claim, or tries one example, for longer than `patience` seconds is ended. `jobs` other
    processes share the claims. With `trust_code` the Python of any folder is run, and not only that of trusted ones.
    """

    examples: int = 5
    seed: int = 0
    seconds: float | None = None
    patience: float = 120.0
    device: str = "cpu"
    jobs: int = 0
    trust_code: bool = False


@dataclass(frozen=True)
class Outcome:
    """How many examples were run, and the smallest one that the claim is false on, if any.

    `counterexample` are texts "symbol = value". `problem` says why a claim could not be tested to the end.
    """

    examples: int
    counterexample: tuple[str, ...] = ()
    problem: str | None = None


@dataclass(frozen=True)
class NotRun:
    """The claim's Python was not run, and why."""

    reason: str


AnyOutcome: TypeAlias = Outcome | NotRun
