"""Checks of footnote marks: does a marked row need the kernel that the mark stands for, and no other row?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.fit import Comparison, compare
from imlp_audit.checks.printed import NO_MODEL
from imlp_audit.models.recipe import Recipe
from imlp_audit.numbers.interval import readable
from imlp_audit.records.check import PASSES, Check, Verdict
from imlp_audit.spec.plan import MarkPlan
from imlp_audit.spec.tables import Footnote


def with_kernel(recipe: Recipe, kernel: int) -> Recipe:
    """Return the recipe with another kernel in its IMLP blocks."""
    assert recipe.mlp is not None
    assert recipe.mlp.imlp is not None
    block = recipe.mlp.imlp.model_copy(update={"kernel": kernel})
    return recipe.model_copy(update={"mlp": recipe.mlp.model_copy(update={"imlp": block})})


def kernels(footnote: Footnote, *, marked: bool) -> tuple[int, int]:
    """Return the kernel that a row must need, and the one that must not do."""
    pair = (footnote.kernel, footnote.otherwise)
    return pair if marked else (pair[1], pair[0])


def check_mark(plan: MarkPlan, context: Context) -> Check:
    """Judge, under each declared reading, which of the two kernels the row's printed number needs."""
    footnote, row = plan.row.table.value.footnote, plan.row.row
    assert footnote is not None, "spec.plan has seen to it"
    meant, other = kernels(footnote, marked=footnote.mark in row.mark)
    printed = f"{'marked ' + footnote.mark if row.mark else 'no mark'}: kernel {meant}"
    if row.model is None:
        return _check(plan, Verdict.UNVERIFIABLE, NO_MODEL, printed)
    found = {kernel: _outcomes(plan, context, row.model, kernel) for kernel in sorted((meant, other))}
    readings = context.conventions(plan.row.paper).readings
    verdict, under = _verdict([(name, found[meant].get(name), found[other].get(name)) for name in readings])
    failed = [told for k in found for told in context.failures(plan.row.paper, with_kernel(row.model, k))]
    if failed and verdict not in PASSES:
        raise NotMeasuredError(failed[0])
    column = plan.row.table.value.columns[footnote.decided_by].heading
    told = [f"under {name} kernel {_fitting(found, name)} fits" for name in readings]
    values = [
        f"kernel {kernel} {name}: {readable(outcome.deciding.value)}"
        for kernel, outcomes in found.items()
        for name, outcome in outcomes.items()
    ]
    return _check(plan, verdict, f"{column}: {', '.join(told)}", printed, ", ".join(values), under)


def _outcomes(plan: MarkPlan, context: Context, recipe: Recipe, kernel: int) -> dict[str | None, Comparison]:
    """Compare the printed number with the row's model of this kernel, under each reading that could be built."""
    footnote = plan.row.table.value.footnote
    assert footnote is not None, "spec.plan has seen to it"
    cell = plan.row.cell(footnote.decided_by)
    assert cell is not None, "spec.plan has seen to it"
    declared, _ = context.measurements(plan.row, with_kernel(recipe, kernel), cell.column)
    roundings = context.conventions(plan.row.paper).roundings
    names = dict.fromkeys(one.reading for one in declared)
    return {name: compare(cell.printed, [m for m in declared if m.reading == name], roundings) for name in names}


def _fitting(found: Mapping[int, Mapping[str | None, Comparison]], reading: str | None) -> str:
    fitting = [str(k) for k, outcomes in found.items() if reading in outcomes and outcomes[reading].verdict in PASSES]
    return " and ".join(fitting) or "neither"


def _verdict(
    found: Sequence[tuple[str | None, Comparison | None, Comparison | None]],
) -> tuple[Verdict, tuple[str, ...]]:
    """Judge the readings, each with what the meant kernel and the other one give (None where it failed).

    A reading decides where the meant kernel fits and the other certainly does not.
    """
    for position, (name, meant, other) in enumerate(found):
        if meant and other and meant.verdict in PASSES and other.verdict is Verdict.DIFFERS:
            under = (*((f"reading {name}",) if position else ()), *meant.under)
            return (Verdict.REPRODUCED_UNDER if under else Verdict.REPRODUCED), under
    undecided = any(
        outcome is not None and outcome.verdict is Verdict.UNVERIFIABLE
        for _, *outcomes in found
        for outcome in outcomes
    )
    both_fit = any(meant is not None and meant.verdict in PASSES for _, meant, _ in found)
    return (Verdict.UNVERIFIABLE if undecided or both_fit else Verdict.DIFFERS), ()


def _check(
    plan: MarkPlan,
    verdict: Verdict,
    reason: str,
    printed: str,
    measured: str | None = None,
    under: tuple[str, ...] = (),
) -> Check:
    return Check(
        id=plan.id, kind=plan.kind, verdict=verdict, reason=reason, source=plan.source,
        printed=printed, measured=measured, under=under,
    )  # fmt: skip
