"""Testing one claim in this process: hypothesis draws its arguments, and makes what it is false on simpler."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from math import ceil, prod
from pathlib import Path
from random import Random
from typing import TypeAlias
from zlib import crc32

import torch
from hypothesis import HealthCheck, Phase, Verbosity, assume, find, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import HypothesisException, NoSuchExample, Unsatisfiable
from hypothesis.strategies import DrawFn, SearchStrategy
from torch import Tensor, nn

from imlp_audit.claims.catalogue import ClaimCode
from imlp_audit.claims.language import Claim, Combination, combination_of, find_difference, load_claim
from imlp_audit.claims.settings import Outcome, Settings
from imlp_audit.models.torch_modes import with_threads
from imlp_audit.processes.code import locate_error

_MOST_COMBINATIONS = 64  # of the values of choices; of more a sample is tried
_QUIET = settings(
    database=None, deadline=None, derandomize=False, report_multiple_bugs=False, print_blob=False,
    phases=[Phase.generate, Phase.shrink], verbosity=Verbosity.quiet, suppress_health_check=[*HealthCheck],
)  # fmt: skip
_NOWHERE = Path(__file__) / "nowhere"  # no folder can be made in a file: hypothesis goes on without
_MOST_SHOWN, _SOME = 64, 4  # numbers of a tensor: of a larger one some are shown
Arguments: TypeAlias = dict[str, object]
gc.freeze()  # hypothesis searches all objects for its own at its first example: half a second with those of torch


def run_claim(code: ClaimCode, settings: Settings, beat: Callable[[], None] = lambda: None) -> Outcome:
    """Test a claim; `beat` is called when it is loaded, and as it goes on, each hundredth of the patience."""
    with _the_same_everywhere(settings.device):
        try:
            claim = load_claim(code)
        except (Exception, SystemExit) as error:
            place = locate_error(error, code.folder, code.shown_as) or code.file
            return Outcome(0, problem=f"{place}: {type(error).__name__}: {error}")
        beat()
        return _Run(claim, code, settings, beat).outcome()


@contextmanager
def _the_same_everywhere(device: str) -> Iterator[None]:
    """Compute with float64 on one core, from the same random numbers; hypothesis keeps no files."""
    with ExitStack() as stack:
        stack.callback(set_hypothesis_home_dir, None)
        stack.callback(torch.set_default_dtype, torch.get_default_dtype())
        stack.enter_context(with_threads(1))
        stack.enter_context(torch.random.fork_rng())
        if device != "cpu":  # every call of torch takes longer in this context
            stack.enter_context(torch.device(device))
        set_hypothesis_home_dir(_NOWHERE)
        torch.set_default_dtype(torch.float64)
        yield


class _Run:
    """The examples of a claim that were judged, and the smallest one that it is false on or cannot be judged on."""

    def __init__(self, claim: Claim, code: ClaimCode, settings: Settings, beat: Callable[[], None]) -> None:
        self._claim, self._code, self._seconds = claim, code, settings.seconds
        self._beat, self._rhythm, self._last_beat = beat, settings.patience / 100, time.monotonic()
        # torch.manual_seed takes 2 ms, as it tells every device
        self._restart = torch.default_generator.manual_seed if settings.device == "cpu" else torch.manual_seed
        self._arguments = st.fixed_dictionaries(dict(claim.strategies))
        self._others = _without_simplest(self._arguments)
        self._wanted = max(1, round(settings.examples * claim.share))
        self._deadline = None if settings.seconds is None else time.monotonic() + settings.seconds
        self._seed = crc32(f"{code.function} {settings.seed}".encode())
        self._late = False
        self._tried = 0
        self._false: tuple[str, ...] = ()
        self._problem: str | None = None

    def outcome(self) -> Outcome:
        """Test the claim on its own examples, and then on drawn ones of each combination of choices."""
        for one in self._claim.examples:
            if not self._is_decided():
                self._run({}, st.builds(deepcopy, st.just(dict(one))), 1)
        if not self._is_decided():
            self._run_combinations()
        if self._late and self._problem is None:
            self._problem = self._explain_lateness()
        elif not (self._tried or self._problem):
            self._problem = f"{self._line()}: its strategies make no example"
        return Outcome(self._tried, () if self._problem else self._false, self._problem)

    def _is_decided(self) -> bool:
        return bool(self._late or self._false or self._problem)

    def _run_combinations(self) -> None:
        """Run the simplest example, unless the claim is long, and at least one other of each combination of choices."""
        long = self._claim.share < 1
        choices = self._run({}, self._others if long else self._arguments, 1)
        count = prod(len(one.values) for one in choices)
        each = max(1, ceil((self._wanted - 1) / min(count, _MOST_COMBINATIONS)))
        sample = _sample(choices, Random(self._seed)) if count > _MOST_COMBINATIONS else []
        places = sample.pop(0) if sample else _next(choices) if long and self._wanted <= count else {}
        while self._claim.strategies and places is not None and not self._is_decided():
            used = self._run(places, self._others, each)
            places = (sample.pop(0) if sample else None) if count > _MOST_COMBINATIONS else _next(used)

    def _run(self, places: Combination, arguments: SearchStrategy[Arguments], examples: int) -> Combination:
        """Judge some examples, under some values of the choices; return all choices that were made."""
        self._seed += 1
        with combination_of(places) as self._combination:
            try:
                limited = settings(_QUIET, max_examples=examples)
                find(arguments, self._fails, settings=limited, random=Random(self._seed))
            except (NoSuchExample, Unsatisfiable):
                pass
            except (Exception, SystemExit) as error:  # of a strategy, mostly
                if not self._is_decided():
                    self._problem = self._write_error(error)
        return self._combination

    def _fails(self, arguments: Arguments) -> bool:
        """Judge one example; return whether the claim is false on it or cannot be judged, as on the first that was."""
        now = time.monotonic()
        if self._late or (self._deadline is not None and now > self._deadline):
            self._late = True
            return True  # which ends the search; what was found before stays
        if now - self._last_beat > self._rhythm:
            self._last_beat = now
            self._beat()
        self._restart(0)
        before = list_parts(arguments)
        false: tuple[str, ...] = ()
        problem: str | None = None
        try:
            difference = find_difference(self._claim, self._claim(**arguments))
            changed = find_change(before, arguments)
            if changed is not None:
                raise ValueError(f"it changes its argument {changed}")
            if difference is not None:
                false = (*self._write(before), *write_all(difference))
        except HypothesisException:  # of `assume`
            raise
        except (Exception, SystemExit) as error:
            problem = self._write_error(error, before)
        if not self._is_decided():
            self._tried += 1
        elif bool(false) != bool(self._false):  # it fails in another way, which is not followed
            return False
        if false or problem:
            self._false, self._problem = false, problem
        return bool(false or problem)

    def _write(self, arguments: Sequence[Leaf]) -> tuple[str, ...]:
        names = {part.name for part in arguments}
        chosen = self._combination.items()
        values = {one.name: one.values[place] for one, place in chosen if one.name not in names}
        return (*write_all(values), *write_all({part.name: part.value for part in arguments}))

    def _write_error(self, error: BaseException, arguments: Sequence[Leaf] = ()) -> str:
        place = locate_error(error, self._code.folder, self._code.shown_as) or self._line()
        on = f" (for {'; '.join(self._write(arguments))})" if arguments else ""
        return f"{place}: {type(error).__name__}: {error}{on}"

    def _line(self) -> str:
        return f"{self._code.file}:{self._claim.function.__code__.co_firstlineno}"

    def _explain_lateness(self) -> str:
        if self._false:
            found = "; ".join(self._false)
            return f"{self._seconds:g} s ran out before the smallest counterexample was found; so far: {found}"
        return f"only {self._tried} of {self._wanted} examples were run in {self._seconds:g} s; none was false"


@st.composite
def _without_simplest(draw: DrawFn, arguments: SearchStrategy[Arguments]) -> Arguments:
    """Examples without the one that hypothesis begins with, in which all that it draws is simplest."""
    assume(draw(st.booleans()))
    return draw(arguments)


def _next(places: Combination) -> Combination | None:
    """Return the combination that follows: the last choice that can be is raised, and those after it are left open."""
    names = [*places]
    for at, one in reversed([*enumerate(names)]):
        if places[one] + 1 < len(one.values):
            return {**{name: places[name] for name in names[:at]}, one: places[one] + 1}
    return None


def _sample(choices: Combination, random: Random) -> list[Combination]:
    """Return some combinations, in which each value of each choice is about as frequent; the smallest first."""
    most = _MOST_COMBINATIONS
    columns = [random.sample([place % len(one.values) for place in range(most)], most) for one in choices]
    rows = sorted({*zip(*columns, strict=True)}, key=lambda row: (sum(row), row))
    return [dict(zip(choices, row, strict=True)) for row in rows]


@dataclass(frozen=True)
class Leaf:
    """A tensor, or another value, of an argument; `fixed` unless a module in training mode updates it."""

    name: str
    value: object
    fixed: bool = True


def list_parts(arguments: Mapping[str, object]) -> list[Leaf]:
    """Return copies of what the arguments hold: a module's state, the fields of a dataclass, what is in a sequence."""
    return [
        replace(part, value=part.value.clone()) if isinstance(part.value, Tensor) else part
        for part in _parts(arguments)
    ]


def _parts(arguments: Mapping[str, object]) -> Iterator[Leaf]:
    for name, value in arguments.items():
        if isinstance(value, Tensor):
            yield Leaf(name, value.detach())
        elif isinstance(value, nn.Module):
            yield from (Leaf(f"{name}.{own}", held.detach()) for own, held in value.named_parameters())
            for own, held in value.named_buffers():
                owner = value.get_submodule(own.rpartition(".")[0])
                yield Leaf(f"{name}.{own}", held.detach(), fixed=not owner.training)
        elif is_dataclass(value) and not isinstance(value, type):
            yield from _parts({f"{name}.{field.name}": getattr(value, field.name) for field in fields(value)})
        elif isinstance(value, Mapping):
            yield from _parts({f"{name}[{key}]": one for key, one in value.items()})
        elif isinstance(value, list | tuple) and not all(isinstance(one, str | float | int) for one in value):
            yield from _parts({f"{name}[{place}]": one for place, one in enumerate(value, start=1)})
        else:
            yield Leaf(name, tuple(value) if isinstance(value, list) else value)


def find_change(before: Sequence[Leaf], arguments: Mapping[str, object]) -> str | None:
    """Return the name of a part that is another now."""
    after = {part.name: part.value for part in _parts(arguments)}
    return next((one.name for one in before if one.fixed and not _same(one.value, after.get(one.name))), None)


def _same(one: object, other: object) -> bool:
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.shape == other.shape and bool(((one == other) | (one.isnan() & other.isnan())).all())
    return one is other or (type(one) is type(other) and one == other)


def write_all(values: Mapping[str, object]) -> tuple[str, ...]:
    """Write values by their names, as texts "symbol = value"."""
    return tuple(f"{name} = {write(value)}" for name, value in values.items())


def write(value: object) -> str:
    """Write a value, numbers to six digits: as much as a person checks, and the same on every machine."""
    if isinstance(value, Tensor):
        if value.numel() <= _MOST_SHOWN:
            return write(value.tolist())
        some = ", ".join(map(write, value.flatten()[:_SOME].tolist()))
        return f"[{some}, ...] of shape {write(list(value.shape))}"
    if isinstance(value, float):
        return f"{value + 0.0:.6g}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(write, value))}]"
    if isinstance(value, Enum):
        return value.name.lower()
    text = getattr(value, "__name__", None) or str(value)
    return type(value).__name__ if " at 0x" in text else text
