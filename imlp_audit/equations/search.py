"""Testing one claim: hypothesis makes examples and, where one fails, smaller ones that fail too."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.hypothesis_shim import no_literals
from imlp_audit.equations.outcome import Outcome
from imlp_audit.equations.settings import Limits

Case = TypeVar("Case")


class FalseOnExampleError(Exception):
    """The claim does not hold on an example."""


class _OutOfTimeError(BaseException):
    """Time is up. No Exception: hypothesis would take it for a failing example and shrink it."""


def search(
    claim: Claim[Case], arithmetic: Arithmetic, limits: Limits, beat: Callable[[], None] = lambda: None
) -> Outcome:
    """Test a claim on examples; equal arguments give equal outcomes, unless time runs out.

    `beat` is called before each example.
    """
    tried, failed = 0, list[Trial]()
    wanted = max(1, round(limits.examples * claim.share))
    deadline = None if limits.seconds is None else time.monotonic() + limits.seconds

    @seed(limits.seed)
    @settings(
        max_examples=wanted,
        phases=(Phase.generate, Phase.shrink),
        database=None,
        deadline=None,
        derandomize=False,  # the seed says it all; hypothesis's own would hang on this file's text
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
    )
    @given(claim.cases)
    def holds(case: Case) -> None:
        nonlocal tried
        beat()
        if deadline is not None and time.monotonic() > deadline:
            raise _OutOfTimeError
        tried += not failed  # what follows a failure makes it smaller
        trial = claim.judge(case, arithmetic)
        if not trial.holds:
            failed.append(trial)
            raise FalseOnExampleError

    with no_literals():
        try:
            with suppress(FalseOnExampleError):
                holds()
        except _OutOfTimeError:
            return Outcome(tried, problem=_late(tried, wanted, failed, limits))
        except Exception as error:
            return Outcome(tried, problem=f"{type(error).__name__}: {error}")
    return Outcome(tried, _texts(failed[-1].shown) if failed else ())


def _late(tried: int, wanted: int, failed: list[Trial], limits: Limits) -> str:
    if failed:
        found = "; ".join(_texts(failed[-1].shown))
        return f"{limits.seconds:g} s ran out before the smallest counterexample was found; so far: {found}"
    return f"only {tried} of {wanted} examples were run in {limits.seconds:g} s; none was false"


def _texts(shown: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(f"{name} = {_text(value)}" for name, value in shown.items())


def _text(value: object) -> str:
    """Write a value to six digits: as much as a person checks, and the same on every machine."""
    if isinstance(value, float):
        return f"{value + 0.0:.6g}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_text, value))}]"
    return str(value)
