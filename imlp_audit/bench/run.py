"""Times rows' models against their baselines or alone, and judges the printed numbers; a failure becomes an error."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import TypeAlias, TypeVar

import torch
from torch import nn

from imlp_audit import __version__
from imlp_audit.bench.planning import RowComparison
from imlp_audit.bench.setup import Setup, hardware
from imlp_audit.bench.timing import (
    Forward,
    forward_of,
    images_for,
    in_turns,
    macs_by_kind,
    prepare_model,
    seconds,
    seconds_by_kind,
    with_threads,
)
from imlp_audit.bench.verdict import METHOD, BenchConditions, MedianEstimate, Timed, estimate_median, judge, make_check
from imlp_audit.checks.context import Conventions
from imlp_audit.count.facts import Failure, ModelKey
from imlp_audit.count.outside import rehearse
from imlp_audit.errors import BuildError, UsageError, did_you_mean
from imlp_audit.models.reading import PaperReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import EXACT, decimal_text
from imlp_audit.records.check import NO_MODEL, Check, Verdict
from imlp_audit.records.evidence import Spent, Throughput
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.paper import Paper, RowRef, paper_head

Announce = Callable[[int], Callable[[str], None]]
Result = TypeVar("Result")


@dataclass(frozen=True)
class ComparedTimes:
    """The result of one comparison at one batch size."""

    base: Timed
    variant: Timed
    evidence: Throughput


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

    def against(self, comparison: RowComparison, base: RowRef) -> list[ComparedTimes]:
        """Time a row's model against another's, both in memory at once, at every batch size."""
        with self._models(base, comparison.cell.row) as models:
            return [self._compare(comparison, base, models, batch) for batch in self.setup.batches]

    def alone(self, row: RowRef) -> list[Timed]:
        """Time a row's model at every batch size."""
        with self._models(row) as (model,):
            return [self._alone(row, model, batch) for batch in self.setup.batches]

    @contextmanager
    def _models(self, *rows: RowRef) -> Iterator[tuple[nn.Module, ...]]:
        with with_threads(self.threads), ExitStack() as stack:
            keys = [ModelKey.of(_recipe(row), self.reading) for row in rows]
            for failure in (self.known_to_fail[key] for key in keys if key in self.known_to_fail):
                raise BuildError(failure.message)
            yield tuple(stack.enter_context(prepare_model(k.recipe, k.reading, self.setup)) for k in keys)

    def _alone(self, row: RowRef, model: nn.Module, batch: int) -> Timed:
        (forward,) = self._warm(batch, model)
        times = []
        for _ in range(self.setup.pairs):
            self.announce(f"{row.row.id}, batch size {batch}")
            times.append(seconds(forward, self.threads))
        return Timed(batch, estimate_median([batch / time for time in times]))

    def _compare(
        self, comparison: RowComparison, base: RowRef, models: tuple[nn.Module, ...], batch: int
    ) -> ComparedTimes:
        one, other = self._warm(batch, *models)
        announce = partial(self.announce, f"{comparison.cell.row.row.id} against {base.row.id}, batch size {batch}")
        pairs = in_turns(one, other, self.setup.pairs, partial(seconds, threads=self.threads), announce)
        first = Timed(batch, estimate_median([batch / taken for taken, _ in pairs]))
        ratio = estimate_median([base_took / took for base_took, took in pairs])
        second = Timed(batch, estimate_median([batch / taken for _, taken in pairs]), ratio)
        return ComparedTimes(first, second, self._evidence(comparison, base, models, first, second, ratio))

    def _warm(self, batch: int, *models: nn.Module) -> tuple[Forward, ...]:
        """Return the calls to time, after a first call of each, which compiles and chooses kernels."""
        if self.setup.compiled:
            torch.compiler.reset()  # torch stops compiling what it has often compiled for other models
        forwards = tuple(forward_of(model, images_for(model, self.setup, batch), self.setup) for model in models)
        with torch.inference_mode():
            for forward in forwards:
                forward()
        return forwards

    def _evidence(
        self,
        comparison: RowComparison,
        base: RowRef,
        models: tuple[nn.Module, ...],
        first: Timed,
        second: Timed,
        ratio: MedianEstimate,
    ) -> Throughput:
        return Throughput(
            batch=first.batch,
            pairs=self.setup.pairs,
            baseline=decimal_text(first.own.value, EXACT),
            variant=decimal_text(second.own.value, EXACT),
            ratio=decimal_text(ratio.value, EXACT),
            low=decimal_text(ratio.low, EXACT),
            high=decimal_text(ratio.high, EXACT),
            hardware=hardware(self.setup.device),
            stated=comparison.cell.column.needs or "",
            settings={"against": base.id, **self._settings()},
            spent=self._modules((base, comparison.cell.row), models, first.batch),
        )

    def _settings(self) -> dict[str, str]:
        setup = self.setup
        return {
            "device": setup.device,
            "threads": str(self.threads),
            "dtype": setup.dtype,
            "layout": "channels last" if setup.channels_last else "contiguous",
            "compiled": "yes" if setup.compiled else "no",
            "reading": self.reading_name or "none",
            "interval": METHOD,
            "torch": version("torch"),
        }

    def _modules(self, rows: tuple[RowRef, RowRef], models: tuple[nn.Module, ...], batch: int) -> tuple[Spent, ...]:
        """Return what modules of each kind do and take for one image, the slowest first."""
        recipes = [_recipe(row) for row in rows]
        macs = [macs_by_kind(recipe, recipe.part_of(self.reading)) for recipe in recipes]
        times = [seconds_by_kind(model, images_for(model, self.setup, batch)) for model in models]
        kinds = sorted({*times[0], *times[1]}, key=lambda kind: (-sum(one.get(kind, 0) for one in times), kind))
        return tuple(
            Spent(
                modules=kind,
                baseline_macs=macs[0].get(kind, 0),
                variant_macs=macs[1].get(kind, 0),
                baseline_seconds=f"{times[0].get(kind, 0) / batch:.12f}",
                variant_seconds=f"{times[1].get(kind, 0) / batch:.12f}",
            )
            for kind in kinds
        )


def _recipe(row: RowRef) -> Recipe:
    if row.row.model is None:
        raise BuildError(f"{row.id} has no model in its spec, so it cannot be timed")
    return row.row.model


@dataclass(frozen=True)
class RowTimes:
    """A row's throughput at every batch size, and the evidence of its comparison, if any."""

    timed: tuple[Timed, ...]
    evidence: tuple[Throughput, ...] = ()


Outcomes: TypeAlias = Mapping[str, RowTimes | Failure]


def bench(paper: Paper, comparisons: Sequence[RowComparison], setup: Setup, announce: Announce) -> AuditResult:
    """Time the models of all cells, and judge their printed numbers. Raises UsageError for an unknown reading."""
    declared = Conventions(paper.about.value, setup.reading).readings
    if setup.reading is not None and setup.reading not in declared:
        hint = did_you_mean(setup.reading, [str(name) for name in declared if name], "declared here")
        raise UsageError(f"no reading is called {setup.reading!r}; {hint}")
    name, reading = next(iter(declared.items()))
    failing = rehearse(ModelKey.of(recipe, reading) for recipe in _recipes(comparisons))
    outcomes = _outcomes(comparisons, Bench(setup, name, reading, announce(_measurements(comparisons, setup)), failing))
    conditions = BenchConditions(hardware(setup.device), setup.same_hardware, name)
    checks = tuple(_check(comparison, outcomes.get(comparison.cell.row.id), conditions) for comparison in comparisons)
    versions = {"imlp_audit": __version__, **{library: version(library) for library in ("torch", "timm")}}
    return AuditResult(papers=(paper_head(paper),), versions=versions, checks=checks)


def _runnable(comparisons: Sequence[RowComparison]) -> list[RowComparison]:
    return [comparison for comparison in comparisons if comparison.cell.row.row.model is not None]


def _recipes(comparisons: Sequence[RowComparison]) -> list[Recipe]:
    rows = (row for one in _runnable(comparisons) for row in (one.cell.row, one.base) if row is not None)
    return [row.row.model for row in rows if row.row.model is not None]


def _measurements(comparisons: Sequence[RowComparison], setup: Setup) -> int:
    bases = {comparison.base.id for comparison in comparisons if comparison.base}
    runs = [
        comparison for comparison in _runnable(comparisons) if comparison.base or comparison.cell.row.id not in bases
    ]
    return len(runs) * len(setup.batches) * setup.pairs


def _outcomes(comparisons: Sequence[RowComparison], ring: Bench) -> Outcomes:
    """Time each row against its base, which times the base too; then time the remaining rows alone."""
    found: dict[str, RowTimes | Failure] = {}
    for comparison in _runnable(comparisons):
        row, base = comparison.cell.row, comparison.base
        if base is None:
            continue
        results = _attempt(partial(ring.against, comparison, base), ring.setup)
        if isinstance(results, Failure):
            found[row.id] = results
            continue
        found[row.id] = RowTimes(tuple(b.variant for b in results), tuple(b.evidence for b in results))
        found.setdefault(base.id, RowTimes(tuple(b.base for b in results)))
    for comparison in _runnable(comparisons):
        row = comparison.cell.row
        if row.id not in found:
            timed = _attempt(partial(ring.alone, row), ring.setup)
            found[row.id] = timed if isinstance(timed, Failure) else RowTimes(tuple(timed))
    return found


def _attempt(run: Callable[[], Result], setup: Setup) -> Result | Failure:
    """Run work that builds and times models; a failure becomes the row's result."""
    try:
        return run()
    except BuildError as error:
        return Failure(str(error))
    except Exception as error:  # whatever a host's code, a kernel or a compiler raises
        return Failure(_describe_failure(error, setup))
    finally:
        gc.collect()  # the command line turns automatic collection off, and compiled models are full of cycles
        torch.cuda.empty_cache()


def _describe_failure(error: Exception, setup: Setup) -> str:
    """Say what failed, and what to do about it."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError) or "can't allocate memory" in str(error):
        sizes = ", ".join(map(str, setup.batches))
        return f"memory ran out at batch size {sizes}; give a smaller --batch-size"
    first = next(iter(str(error).splitlines()), "")
    advice = "; try it without --compile" if setup.compiled else ""
    return f"the model could not be timed: {type(error).__name__}: {first}{advice}"


def _check(comparison: RowComparison, found: RowTimes | Failure | None, conditions: BenchConditions) -> Check:
    match found:
        case None:
            return make_check(comparison, Verdict.UNVERIFIABLE, f"needs {comparison.cell.column.needs}; {NO_MODEL}")
        case Failure(message):
            return make_check(comparison, Verdict.ERROR, message)
        case RowTimes(timed, evidence):
            return judge(comparison, timed, conditions, evidence)
