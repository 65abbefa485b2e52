"""Times rows' models against their baselines or alone, and judges the printed numbers; a failure becomes an error."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from typing import TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from imlp_audit import __version__
from imlp_audit.bench.planning import RowComparison, Setup, hardware
from imlp_audit.bench.verdict import METHOD, BenchConditions, Timed, estimate_median, judge
from imlp_audit.checks.context import Conventions
from imlp_audit.checks.judged_under import record_cell
from imlp_audit.count.facts import Failure, ModelKey
from imlp_audit.count.measuring import rehearse
from imlp_audit.errors import BuildError, UsageError, did_you_mean
from imlp_audit.models.build import Builder
from imlp_audit.models.readings import AnyReading, PaperReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs
from imlp_audit.models.torch_modes import with_threads
from imlp_audit.numbers.interval import EXACT, decimal_text
from imlp_audit.processes.limits import is_of_memory
from imlp_audit.records.check import NO_MODEL, Check, Throughput, Verdict
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.paper import Paper, RowRef, paper_head

LEAST = 0.2  # seconds that one measurement takes at least

Announce: TypeAlias = Callable[[int], Callable[[str], None]]
Forward: TypeAlias = Callable[[], object]
Result = TypeVar("Result")


def seconds(forward: Forward, threads: int) -> float:
    """Return the seconds per call: torch's Timer warms up, chooses how many calls to time, and waits for CUDA.

    The median over the blocks of calls that fill `LEAST`, or one call if that takes longer.
    """
    # importing the timer logs that there is no GPU if a CUDA compiler is installed without one
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
    from torch.utils.benchmark import Timer

    timer = Timer("forward()", globals={"forward": forward}, num_threads=threads)
    with torch.inference_mode():
        return float(timer.blocked_autorange(min_run_time=LEAST).median)


def in_turns(
    base: Forward, variant: Forward, pairs: int, measure: Callable[[Forward], float], announce: Callable[[], None]
) -> list[tuple[float, float]]:
    """Measure two models in pairs, and return each pair's (base, variant).

    The order alternates, so that slowdowns and warm-up of the machine favour neither. `announce` is called before each
    pair.
    """
    times = []
    for number in range(pairs):
        announce()
        order = (base, variant) if number % 2 == 0 else (variant, base)
        one, other = (measure(model) for model in order)
        times.append((one, other) if number % 2 == 0 else (other, one))
    return times


@contextmanager
def prepare_model(recipe: Recipe, reading: AnyReading | None, setup: Setup) -> Iterator[nn.Module]:
    """Yield a model with fresh weights, in evaluation mode, on the setup's device and in its type.

    Each call builds its own host, so that a baseline and its variant can exist at once. Raises BuildError.
    """
    with Builder(setup.device).variant(recipe, reading) as variant:
        yield variant.model.to(_dtype(setup))


def images_for(model: nn.Module, setup: Setup) -> tuple[Tensor, ...]:
    """Return a batch to run a model on: noise, since a GPU multiplies zeros faster than images; token ids stay 0."""
    with torch.device(setup.device):
        inputs = example_inputs(model, setup.batch)
    return tuple(_noise(one, setup) if one.is_floating_point() else one for one in inputs)


def _noise(like: Tensor, setup: Setup) -> Tensor:
    source = torch.Generator(like.device).manual_seed(0)
    return torch.randn(like.shape, generator=source, device=like.device).to(_dtype(setup))


def _dtype(setup: Setup) -> torch.dtype:
    found: torch.dtype = getattr(torch, setup.dtype)
    return found


@dataclass(frozen=True)
class Bench:
    """How and under which reading models are timed; `announce` takes a line for each pair before it is timed.

    Models that are `known_to_fail` are not built.
    """

    setup: Setup
    reading_name: str | None
    reading: PaperReading
    announce: Callable[[str], None]
    known_to_fail: Mapping[ModelKey, Failure]

    @property
    def threads(self) -> int:
        """The threads that torch computes with."""
        return self.setup.threads or torch.get_num_threads()

    def against(self, row: RowRef, base: RowRef, stated: str) -> tuple[Timed, Timed]:
        """Time another row's model and a row's in turns, both in memory at once; `stated` is the paper's hardware."""
        setup = self.setup
        with self._models(base, row) as (one, other):
            announce = partial(self.announce, f"{row.row.id} against {base.row.id}, batch size {setup.batch}")
            pairs = in_turns(one, other, setup.pairs, partial(seconds, threads=self.threads), announce)
        first = self._timed([taken for taken, _ in pairs])
        second = self._timed([taken for _, taken in pairs])
        ratio = estimate_median([base_took / took for base_took, took in pairs])
        evidence = Throughput(
            batch=setup.batch,
            pairs=setup.pairs,
            baseline=decimal_text(first.own.value, EXACT),
            variant=decimal_text(second.own.value, EXACT),
            ratio=decimal_text(ratio.value, EXACT),
            low=decimal_text(ratio.interval.low, EXACT),
            high=decimal_text(ratio.interval.high, EXACT),
            hardware=hardware(setup.device),
            stated=stated,
            settings={"against": base.id, **self._settings()},
        )
        return first, replace(second, ratio=ratio, evidence=evidence)

    def alone(self, row: RowRef) -> Timed:
        """Time a row's model."""
        times = []
        with self._models(row) as (forward,):
            for _ in range(self.setup.pairs):
                self.announce(f"{row.row.id}, batch size {self.setup.batch}")
                times.append(seconds(forward, self.threads))
        return self._timed(times)

    def _timed(self, times: Sequence[float]) -> Timed:
        batch = self.setup.batch
        return Timed(batch, estimate_median([batch / time for time in times]))

    @contextmanager
    def _models(self, *rows: RowRef) -> Iterator[tuple[Forward, ...]]:
        """Yield the calls to time, after a first call of each, which chooses kernels."""
        with with_threads(self.threads), ExitStack() as stack:
            keys = [ModelKey.of(_recipe(row), self.reading) for row in rows]
            for failure in (self.known_to_fail[key] for key in keys if key in self.known_to_fail):
                raise BuildError(failure.message)
            models = [stack.enter_context(prepare_model(k.recipe, k.reading, self.setup)) for k in keys]
            forwards = tuple(partial(model, *images_for(model, self.setup)) for model in models)
            with torch.inference_mode():
                for forward in forwards:
                    forward()
            yield forwards

    def _settings(self) -> dict[str, str]:
        setup = self.setup
        return {
            "device": setup.device,
            "threads": str(self.threads),
            "dtype": setup.dtype,
            "reading": self.reading_name or "none",
            "interval": METHOD,
            "torch": version("torch"),
        }


def _recipe(row: RowRef) -> Recipe:
    if row.row.model is None:
        raise BuildError(f"{row.id} has no model in its spec, so it cannot be timed")
    return row.row.model


def bench(paper: Paper, comparisons: Sequence[RowComparison], setup: Setup, announce: Announce) -> AuditResult:
    """Time the models of all cells, and judge their printed numbers. Raises UsageError for an unknown reading."""
    declared = Conventions(paper.about.value, setup.reading).readings
    if setup.reading is not None and setup.reading not in declared:
        hint = did_you_mean(setup.reading, [str(name) for name in declared if name], "declared here")
        raise UsageError(f"no reading is called {setup.reading!r}; {hint}")
    name, reading = next(iter(declared.items()))
    runnable = [one for one in comparisons if one.cell.row.row.model is not None]
    rows = [row for one in runnable for row in (one.base, one.cell.row) if row is not None]
    failing = rehearse(ModelKey.of(_recipe(row), reading) for row in rows)
    bases = {one.base.id for one in runnable if one.base is not None}
    runs = sum(one.base is not None or one.cell.row.id not in bases for one in runnable)
    outcomes = _time_all(runnable, Bench(setup, name, reading, announce(runs * setup.pairs), failing))
    conditions = BenchConditions(hardware(setup.device), setup.same_hardware, name)
    checks = tuple(_check(comparison, outcomes.get(comparison.cell.row.id), conditions) for comparison in comparisons)
    versions = {"imlp_audit": __version__, **{library: version(library) for library in ("torch", "timm")}}
    return AuditResult(papers=(paper_head(paper),), versions=versions, checks=checks)


def _time_all(runnable: Sequence[RowComparison], ring: Bench) -> Mapping[str, Timed | Failure]:
    """Time each row against its base, which times the base too; then time the remaining rows alone."""
    found: dict[str, Timed | Failure] = {}
    for row, base, cell in ((one.cell.row, one.base, one.cell) for one in runnable):
        if base is not None:
            times = _attempt(partial(ring.against, row, base, cell.column.needs or ""), ring.setup)
            if not isinstance(times, Failure):
                found.setdefault(base.id, times[0])
            found[row.id] = times if isinstance(times, Failure) else times[1]
    for row in (one.cell.row for one in runnable):
        if row.id not in found:
            found[row.id] = _attempt(partial(ring.alone, row), ring.setup)
    return found


def _attempt(run: Callable[[], Result], setup: Setup) -> Result | Failure:
    """Run work that builds and times models; a failure becomes the row's result."""
    try:
        return run()
    except BuildError as error:
        return Failure(str(error))
    except Exception as error:  # whatever a host's code or a kernel raises
        if is_of_memory(error):
            return Failure(f"memory ran out at batch size {setup.batch}; give a smaller --batch-size")
        first = next(iter(str(error).splitlines()), "")
        return Failure(f"the model could not be timed: {type(error).__name__}: {first}")
    finally:
        gc.collect()  # the command line turns automatic collection off
        torch.cuda.empty_cache()


def _check(comparison: RowComparison, found: Timed | Failure | None, conditions: BenchConditions) -> Check:
    match found:
        case None:
            lack = f"needs {comparison.cell.column.needs}; {NO_MODEL}"
            return record_cell(comparison.cell, Verdict.UNVERIFIABLE, lack)
        case Failure(message):
            return record_cell(comparison.cell, Verdict.ERROR, message)
        case Timed():
            return judge(comparison, found, conditions)
