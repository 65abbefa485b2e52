"""Where a hint at another model begins, to a single parameter or operation; counts stand in place of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from imlp_audit.checks.alternatives import alternatives_needed, name_alternatives
from imlp_audit.checks.context import Context
from imlp_audit.checks.judged_under import with_hypotheses
from imlp_audit.checks.run import models_needed, papers_to_judge, run_check
from imlp_audit.count.facts import Facts, Failure, ModelKey, Need
from imlp_audit.spec.plan import plan
from tests.checks.papers import Count, Spec, write

Counts = Mapping[str, tuple[int, int]]  # parameters and multiply-accumulates, by the model as a spec writes it

REPVGG, DEPLOYED = "timm: repvgg_a0", "timm: repvgg_a0, form: deployed"


def facts_of(counts: Counts, needed: Mapping[ModelKey, Need]) -> Facts:
    named = {key: (counts.get(str(key.recipe)), need) for key, need in needed.items()}
    return {
        key: Failure("no model") if found is None else Count(found[0], macs=found[1]).facts(need)
        for key, (found, need) in named.items()
    }


def judge(root: Path, printed: str, counts: Counts) -> tuple[dict[str, bool], dict[str, str]]:
    """Judge a row of the first model.

    Returns the other models that are tried, each with whether its work is counted, and the hints at models by column.
    """
    model = next(iter(counts))
    row = f"{{id: a, label: A, model: {{{model}}}, printed: {{{printed}}}}}"
    selection = write(root, Spec((row,), about="flops: [macs]"))
    plans = plan(selection.papers[0], selection.known)
    context = with_hypotheses(Context(facts_of(counts, models_needed(plans, Context({})))), papers_to_judge(plans))
    checks = [run_check(one, context) for one in plans]
    needed = alternatives_needed(plans, checks, context)
    whole = replace(context, facts={**facts_of(counts, needed), **context.facts})
    made = name_alternatives(plans, checks, whole)
    hints = {check.id.rpartition("/")[2]: [one for one in check.hint_texts if "with `model:" in one] for check in made}
    tried = {str(key.recipe): need.work for key, need in needed.items()}
    return tried, {name: "; ".join(found) for name, found in hints.items() if found}


@pytest.mark.parametrize(
    ("ours", "theirs", "hint"),
    [
        (5_500_000, 5_099_999, f"with `model: {{{DEPLOYED}}}` the gap is 2 %: is that model meant?"),
        (5_500_000, 5_100_000, ""),  # 2 % are not near
        (5_250_000, 5_049_999, f"with `model: {{{DEPLOYED}}}` the gap is 1 %: is that model meant?"),
        (5_250_000, 5_050_000, ""),  # five times nearer, and not more
    ],
)
def test_a_model_that_does_not_fit_is_named_below_2_percent_and_a_fifth_of_the_gap(
    tmp_path: Path, ours: int, theirs: int, hint: str
) -> None:
    counts = {REPVGG: (ours, 1), DEPLOYED: (theirs, 1)}
    assert judge(tmp_path, "params: 5.00", counts)[1] == ({"params": hint} if hint else {})


@pytest.mark.parametrize(("macs", "told"), [(1_599_999_999, True), (1_600_000_000, False), (400_000_001, True)])
def test_a_model_as_far_from_the_rows_worst_number_is_not_named(tmp_path: Path, macs: int, told: bool) -> None:
    """The row's own FLOPs are 60 % more than printed; the other model's parameters fit, its FLOPs are as far or not."""
    hints = judge(
        tmp_path, "params: 5.00, flops: 1.00", {REPVGG: (5_500_000, 1_600_000_000), DEPLOYED: (5_000_000, macs)}
    )[1]
    assert ("params" in hints) == told


@pytest.mark.parametrize(
    ("printed", "tried"),
    [
        ("params: 5.00, flops: 1.00", {}),  # both follow
        ("params: 6.00", {DEPLOYED: False}),  # whose operations say nothing of the row
        ("params: 6.00, flops: 1.00", {DEPLOYED: True}),
        ("params: 5.00, flops: 2.0", {DEPLOYED: True}),
        # twice the work is that of images of 317, or of smaller ones with attention
        ("params: 5.00, flops: 2.00", {DEPLOYED: True} | {f"{REPVGG}, image: {n}": True for n in (272, 288, 304, 320)}),
    ],
)
def test_other_models_are_counted_only_where_a_number_differs(
    tmp_path: Path, printed: str, tried: dict[str, bool]
) -> None:
    assert judge(tmp_path, printed, {REPVGG: (5_000_000, 10**9)}) == (tried, {})
