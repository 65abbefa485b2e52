"""Measures the planned cells and returns checks with evidence; a model that fails becomes an error check."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import TypeAlias, TypeVar

import torch

from imlp_audit import __version__
from imlp_audit.bench.compare import Bench
from imlp_audit.bench.planning import RowComparison
from imlp_audit.bench.setup import Setup, hardware
from imlp_audit.bench.verdict import BenchConditions, Timed, judge, make_check
from imlp_audit.checks.context import Conventions
from imlp_audit.count.facts import Failure, ModelKey
from imlp_audit.count.outside import rehearse
from imlp_audit.errors import BuildError, UsageError, did_you_mean
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.check import NO_MODEL, Check, Verdict
from imlp_audit.records.evidence import Throughput
from imlp_audit.records.result import AuditResult
from imlp_audit.spec.paper import Paper, paper_head

Announce = Callable[[int], Callable[[str], None]]
Result = TypeVar("Result")


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
