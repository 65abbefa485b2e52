"""Timing one row's model, against its baseline or alone: from seconds to throughput, ratio and evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

import torch
from torch import nn

from imlp_audit.bench.modules import macs_by_kind, seconds_by_kind
from imlp_audit.bench.planning import RowComparison
from imlp_audit.bench.setup import Setup, hardware
from imlp_audit.bench.statistics import METHOD, MedianEstimate, estimate_median
from imlp_audit.bench.timing import Forward, forward_of, images_for, in_turns, prepare_model, seconds, with_threads
from imlp_audit.bench.verdict import Timed
from imlp_audit.count.facts import Failure, ModelKey
from imlp_audit.errors import BuildError
from imlp_audit.models.reading import PaperReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import EXACT, decimal_text
from imlp_audit.records.evidence import Spent, Throughput
from imlp_audit.spec.paper import RowRef


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
