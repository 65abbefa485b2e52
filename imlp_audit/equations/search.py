"""Testing one claim: on examples and, where one fails, on smaller ones that fail too."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from random import Random
from typing import Generic, TypeVar

from imlp_audit.claims.settings import Limits, Outcome
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.choices import ChoiceList, Path, RejectedError, count_through, random_choices
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.shrink import shrink

Case = TypeVar("Case")
_WHOLE = 1000  # spaces of no more examples are searched whole
_MISSES = 1000  # choices in a row that make no new example: there are few more, or none


class _OutOfTimeError(Exception):
    """Time is up."""


def search(
    claim: Claim[Case], arithmetic: Arithmetic, limits: Limits, beat: Callable[[], None] = lambda: None
) -> Outcome:
    """Test a claim on examples; equal arguments give equal outcomes, unless time runs out.

    `beat` is called before each example.
    """
    wanted = max(1, round(limits.examples * claim.share))
    run = _Run(claim, arithmetic, limits, beat)
    try:
        for path in _paths(claim, wanted, limits):
            run.tried += 1
            if run.fails(path) is not None:
                shrink(path, run.fails)
                break
    except _OutOfTimeError:
        return Outcome(run.tried - 1, problem=_late(run.tried - 1, wanted, run.failed, limits))
    except Exception as error:
        return Outcome(run.tried, problem=f"{type(error).__name__}: {error}")
    if not run.tried:
        return Outcome(0, problem="its strategy makes no example")
    if run.failed is None:
        return Outcome(run.tried)
    return Outcome(run.tried, write_shown(run.failed.shown))


class _Run(Generic[Case]):
    """The examples of a claim that were judged."""

    def __init__(self, claim: Claim[Case], arithmetic: Arithmetic, limits: Limits, beat: Callable[[], None]) -> None:
        self._claim, self._arithmetic, self._beat = claim, arithmetic, beat
        self._deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
        self.tried = 0
        self.failed: Trial | None = None
        self.smallest: Path | None = None
        self.last: Path | None = None

    def fails(self, path: Path) -> Path | None:
        """Judge the example of some choices; return those that it used if the claim is false on it."""
        choices = ChoiceList(path)
        try:
            case = self._claim.cases.draw(choices)
        except RejectedError:
            return None
        self.last = tuple(choices.made)
        self._beat()
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise _OutOfTimeError
        trial = self._claim.judge(case, self._arithmetic)
        if trial.holds:
            return None
        used = self.last
        if self.smallest is None or (len(used), used) < (len(self.smallest), self.smallest):
            self.smallest, self.failed = used, trial
        return used


def _paths(claim: Claim[Case], wanted: int, limits: Limits) -> Iterator[Path]:
    """Yield the choices of examples that differ: of all that there are, if these are no more than wanted.

    Otherwise of the simplest, and then of any.
    """
    draw, most = claim.cases.draw, min(wanted, _WHOLE)
    counted = list(islice(count_through(draw, ChoiceList), most + 1))
    if len(counted) <= most:
        yield from (tuple(choices.made) for choices in counted if choices is not None)
        return
    random, seen, misses = Random(limits.seed), set[Path](), 0
    choices = ChoiceList()
    while len(seen) < wanted and misses < _MISSES:
        with suppress(RejectedError):
            draw(choices)
            path = tuple(choices.made)
            if path not in seen:
                misses = 0
                seen.add(path)
                yield path
        misses += 1
        choices = random_choices(random)


def _late(tried: int, wanted: int, failed: Trial | None, limits: Limits) -> str:
    if failed:
        found = "; ".join(write_shown(failed.shown))
        return f"{limits.seconds:g} s ran out before the smallest counterexample was found; so far: {found}"
    return f"only {tried} of {wanted} examples were run in {limits.seconds:g} s; none was false"


def write_shown(shown: Mapping[str, object]) -> tuple[str, ...]:
    """Write what a trial shows, as texts "symbol = value"."""
    return tuple(f"{name} = {_text(value)}" for name, value in shown.items())


def _text(value: object) -> str:
    """Write a value to six digits: as much as a person checks, and the same on every machine."""
    if isinstance(value, float):
        return f"{value + 0.0:.6g}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_text, value))}]"
    return str(value)
