"""Checks of footnote marks: does a marked row need the kernel that the mark stands for, and no other row?"""

from __future__ import annotations

from imlp_audit.checks.context import Context, NotMeasuredError
from imlp_audit.checks.numbers import NO_MODEL
from imlp_audit.models.recipe import Imlp, Recipe, Replacement
from imlp_audit.result import Check, Verdict
from imlp_audit.spec.plan import MarkPlan
from imlp_audit.spec.schema import Footnote


def with_kernel(recipe: Recipe, kernel: int) -> Recipe:
    """Return the recipe with another kernel in its IMLP blocks."""
    assert recipe.mlp is not None
    block = Imlp(ratio=recipe.mlp.imlp.ratio, kernel=kernel, part=recipe.mlp.imlp.part)
    return Recipe(timm=recipe.timm, activation=recipe.activation, mlp=Replacement(imlp=block))


def kernels(footnote: Footnote, *, marked: bool) -> tuple[int, int]:
    """Return the kernel that a row must need, and the one that must not do."""
    pair = (footnote.kernel, footnote.otherwise)
    return pair if marked else (pair[1], pair[0])


def check_mark(plan: MarkPlan, context: Context) -> Check:
    """Judge, under each declared reading, which of the two kernels the row's printed number needs."""
    footnote, row = plan.row.table.value.footnote, plan.row.row
    assert footnote is not None
    meant, other = kernels(footnote, marked=footnote.mark in row.mark)
    printed = f"{'marked ' + footnote.mark if row.mark else 'no mark'}: kernel {meant}"
    if row.model is None:
        return _check(plan, Verdict.UNVERIFIABLE, NO_MODEL, printed)
    found = {
        reading: tuple(k for k in sorted((meant, other)) if reading in _fitting(plan, context, k))
        for reading in context.conventions(plan.row.paper).readings
    }
    verdict, reading = _verdict(found, meant)
    failed = context.failures(plan.row.paper, row.model)
    if verdict is Verdict.DIFFERS and failed:
        raise NotMeasuredError(failed[0])
    fits = {name: " and ".join(map(str, ks)) or "neither" for name, ks in found.items()}
    column = plan.row.table.value.columns[footnote.decided_by].heading
    reason = f"{column}: " + ", ".join(f"under {name} kernel {ks} fits" for name, ks in fits.items())
    return _check(plan, verdict, reason, printed, fits[reading], reading)


def _fitting(plan: MarkPlan, context: Context, kernel: int) -> set[str | None]:
    """Return the readings under which the row with this kernel has the printed number."""
    footnote, recipe = plan.row.table.value.footnote, plan.row.row.model
    assert footnote is not None
    assert recipe is not None
    cell = plan.row.cell(footnote.decided_by)
    assert cell is not None
    declared, _ = context.measured(plan.row.paper, with_kernel(recipe, kernel), cell.column.measure)
    intervals = [cell.printed.interval(rule) for rule in context.conventions(plan.row.paper).roundings]
    return {one.reading for one in declared if not one.uncounted and any(one.value in i for i in intervals)}


def _verdict(found: dict[str | None, tuple[int, ...]], meant: int) -> tuple[Verdict, str | None]:
    """Return the verdict, and the reading that decides it: the default, unless only another one fits."""
    default = next(iter(found))
    decided = [name for name, kernels in found.items() if kernels == (meant,)]
    if decided:
        verdict = Verdict.REPRODUCED if decided[0] == default else Verdict.REPRODUCED_UNDER
        return verdict, decided[0]
    undecided = any(meant in kernels for kernels in found.values())
    return (Verdict.UNVERIFIABLE if undecided else Verdict.DIFFERS), default


def _check(
    plan: MarkPlan,
    verdict: Verdict,
    reason: str,
    printed: str,
    measured: str | None = None,
    reading: str | None = None,
) -> Check:
    return Check(
        id=plan.id, kind=plan.kind, verdict=verdict, reason=reason, source=plan.source,
        printed=printed, measured=measured, reading=reading,
        under=(f"reading {reading}",) if verdict is Verdict.REPRODUCED_UNDER else (),
    )  # fmt: skip
