"""Explanations of checks of every kind: the record that is made, and how it reads on a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from imlp_audit.checks.context import Conventions
from imlp_audit.claims.settings import Settings
from imlp_audit.errors import UsageError
from imlp_audit.explain.cells import cell_facts
from imlp_audit.explain.explain import cells_needed, explain, find_plan
from imlp_audit.explain.explanation_document import explanation_document
from imlp_audit.numbers.printed import Rounding
from imlp_audit.pipeline import Options, audit, audit_equations
from imlp_audit.records.check import CellCheck, Verdict
from imlp_audit.records.explanation import (
    Amount,
    Breakdown,
    Causes,
    Explanation,
    MeasuredValue,
    Measurements,
    RowByRow,
)
from imlp_audit.records.result import AuditResult
from imlp_audit.report.terminal import Surface, render_terminal
from imlp_audit.spec.load import Selection, load
from imlp_audit.spec.plan import CellPlan, EquationPlan
from tests.explain.papers import ALEXNET, DEIT, IMLP, paper, row
from tests.measured import STORE

DEIT_B = "imlp/1/deit_b_imlp/params"
S = TypeVar("S")


BUNDLED = ("imlp", "iffn_poster", "mixer_gmlp_coursework", "resmlp")


@pytest.fixture(scope="module")
def bundled() -> Selection:
    return load(BUNDLED)


@cache
def audited(paper: str) -> AuditResult:
    """Audit the numbers of a bundled paper; a number is judged together with all others, so all are counted anyway."""
    options = Options(only=(f"{paper}/*",), skip=("*/equations/*",), store=STORE)
    return audit(load(BUNDLED), options, lambda _: lambda name: None)


def explained(selection: Selection, check_id: str) -> Explanation:
    plan = find_plan(selection, check_id)
    if isinstance(plan, EquationPlan):
        result = audit_equations(selection, (plan.id,), Settings(), lambda _: lambda name: None)
    elif len(selection.papers) == len(BUNDLED):
        result = audited(plan.id.partition("/")[0])
    else:
        result = audit(selection, Options(only=(plan.id, *cells_needed(plan))), lambda _: lambda name: None)
    return explain(plan, result)


def text_of(explanation: Explanation, width: int = 120) -> str:
    return render_terminal(explanation_document(explanation), Surface(width))


def facts(explanation: Explanation) -> dict[str, str]:
    return {fact.label: fact.text for fact in explanation.facts}


def section(explanation: Explanation, kind: type[S]) -> S:
    """Return the only section of a kind."""
    (found,) = (one for one in explanation.sections if isinstance(one, kind))
    return found


def amounts(listed: Sequence[Amount]) -> dict[str, tuple[int, int]]:
    return {one.name: (one.baseline or 0, one.amount) for one in listed}


@pytest.fixture(scope="module")
def deit_b(bundled: Selection) -> Explanation:
    return explained(bundled, DEIT_B)


def test_a_cell_says_what_is_printed_and_measured(deit_b: Explanation) -> None:
    assert deit_b.check.id == DEIT_B
    about = facts(deit_b)
    assert about["printed"].startswith("73.66 M in Table 1, DeiT-B + IMLP*, Parameters (M); specs/imlp/table1.yaml:")
    assert about["stands for"] == "any number from 73 655 000 to below 73 665 000 (rounded half up)"
    assert section(deit_b, Measurements).values == (
        MeasuredValue(name="as_written", convention="all", measured="73573096", gap="-8.7"),
        MeasuredValue(name="released", convention="all", measured="73663720", gap="+0.4", prints_by=Rounding.HALF_UP),
    )


def test_the_reading_says_on_what_it_departs_and_by_which_source(deit_b: Explanation) -> None:
    departs = facts(deit_b)["released"]
    assert departs.startswith("departs from as_written: concat_norm layer (released code, Mlp.ln1; in no paper text), ")
    assert "fc1_bias" not in departs


def test_savings_add_up_by_part(deit_b: Explanation) -> None:
    parts = section(deit_b, Breakdown).parts
    assert (sum(one.baseline or 0 for one in parts), sum(one.amount for one in parts)) == (86567656, 73663720)


LINES = """\
imlp/1/deit_b_imlp/params: reproduced under reading released
stands for  any number from 73 655 000 to below 73 665 000 (rounded half up)
released     all          73 663 720   +0.4   prints as 73.66
All parameters, reading released, against DeiT-B:
other parts, all unchanged           1 397 992    1 397 992             0
total                               86 567 656   73 663 720   -12 903 936
The total changes by -12 903 936 (-14.9 %). Some parts save 14 175 744; others add 1 271 808, 9 % of that.
"""


def test_an_explanation_reads_well_on_a_terminal(deit_b: Explanation) -> None:
    lines = text_of(deit_b).splitlines()
    words = [line.split() for line in lines]
    assert [line for line in LINES.splitlines() if line.split() not in words] == []
    assert len(lines) <= 100
    assert max(map(len, lines)) <= 120


KINDS: dict[str, tuple[str, ...]] = {
    "imlp/1/swin_ti_imlp/flops": ("FLOPs by fitted, reading released, against Swin-Ti:",),
    "resmlp/2/vit_s8/flops": ("Multiply-accumulates alone:", "total 22 405 742 592"),
    "imlp/1/lvt_r1_imlp/params": ("lvt_r1_imlp/params: differs, known", "in all ten MLPs"),
    "imlp/1/deit_ti_imlp/params.delta.measured": (
        "the change from DeiT-Ti to DeiT-Ti + IMLP, computed from the two models' counts",
        "released all -12.5797 +0.2 prints as -12.6%",
        "imlp/1/deit_ti_imlp/params 5.00 M reproduced under reading released",
    ),
    "imlp/1/deit_ti_imlp/params.delta": (
        "from the two printed numbers, each of which can be any number",
        "imlp/1/deit_ti/params 5.72 M",
        "imlp/1/deit_ti_imlp/params 5.00 M",
    ),
    "resmlp/repeats/1/deit_b/params": ("86.57 in imlp, Table 1, DeiT-B, Parameters (M)", "imlp/1/deit_b/params"),
    "imlp/marks/1/deit_ti_imlp": ("* stands for: we use n = 5", "kernel 3 released 4 998 184 -0.2", "5 145 640"),
    "imlp/columns/8": ("5.72 under flops is params", "imlp/8/deit_softplus/flops 5.72 G"),
    "mixer_gmlp_coursework/claims/from_scratch_loses_15_to_20_percent": ("difference of pets -13.7 ± 0.1, ",),
    "imlp/claims/sums_reference": ("whether the cells stand in the table that the text points to",),
    "imlp/claims/mlp_share_of_params_grows": ("deit_ti: 62.099, deit_s: 64.301, deit_b: 65.462",),
}


@pytest.mark.slow
@pytest.mark.parametrize("check", KINDS)
def test_every_kind_of_check_is_explained(bundled: Selection, check: str) -> None:
    text = " ".join(text_of(explained(bundled, check), 200).split())
    assert [words for words in KINDS[check] if words not in text] == []


@pytest.mark.parametrize(
    ("rounding", "words"),
    [(None, "72.15 to below 72.25 (rounded half up)"), ("truncation", "72.2 to below 72.3 (cut off)")],
)
def test_a_number_stands_for_what_it_was_judged_by(bundled: Selection, rounding: str | None, words: str) -> None:
    plan = find_plan(bundled, "imlp/1/deit_ti/top1")
    assert isinstance(plan, CellPlan)
    check = CellCheck(id=plan.id, verdict=Verdict.DIFFERS, reason="-", source=plan.source, rounding=rounding)
    result = AuditResult(papers=(), versions={}, checks=(check,))
    found = cell_facts(plan, check, Conventions(bundled.papers[0].about.value), result)
    assert {fact.label: fact.text for fact in found}["stands for"] == f"any number from {words}"


def test_a_score_says_what_is_missing(bundled: Selection) -> None:
    explanation = explained(bundled, "imlp/1/deit_ti/top1")
    lines = text_of(explanation).splitlines()
    assert re.sub(r":\d+$", "", lines[2]) == (
        "printed     72.2 % in Table 1, DeiT-Ti, Top-1 Accuracy (%); specs/imlp/table1.yaml"
    )
    assert [lines[0], *lines[3:]] == [
        "imlp/1/deit_ti/top1: unverifiable",
        "stands for  any number from 72.15 to below 72.25 (rounded half up)",
        "because     needs trained weights of the row's model and the ImageNet-1k validation images",
    ]


def test_a_claim_is_explained_row_by_row(bundled: Selection) -> None:
    explanation = explained(bundled, "imlp/claims/no_accuracy_compromised")
    assert facts(explanation)["because"] == "it holds in 7 of 15 rows and cannot be decided in 5"
    rows = {name: (values, outcome) for name, values, outcome in section(explanation, RowByRow).rows}
    assert rows["swin_b_imlp"] == (
        "difference of params -12.32 ± 0.01, difference of flops -2.1 ± 0.01, difference of top1 -0.1 ± 0.1",
        "does not hold",
    )
    assert rows["deit_b_imlp"][1] == "open"
    assert facts(explanation)["compared"].endswith(", of params (below 0), flops (below 0), top1 (at least 0)")
    assert "\nThere are 90 of them.\n" in text_of(explanation)


def test_claims_about_an_order_list_the_values(bundled: Selection) -> None:
    explanation = explained(bundled, "imlp/claims/profit_becomes_marginal")
    assert facts(explanation)["because"].endswith("(must be decreasing): n3: 0.6 ± 0.1, n5: 0.2 ± 0.1, n7: 0.1 ± 0.1")


@pytest.mark.slow
def test_an_equation_shows_its_counterexample(bundled: Selection) -> None:
    explanation = explained(bundled, "imlp/equations/eq6_inner")
    text = text_of(explanation)
    assert "The statement is false for these numbers, the smallest that were found:\n\nx = [1]\n" in text
    assert "what holds is imlp/equations/eq6_inner_corrected" in text
    assert "because" not in facts(explanation)
    holds = facts(explained(bundled, "imlp/equations/eq6_inner_corrected"))
    assert holds["corrected"]
    assert str(holds["because"]).startswith("holds on ")


def test_a_model_that_failed_has_only_its_reason(tmp_path: Path) -> None:
    selection = paper(tmp_path, row("typo", "Typo", "{timm: deit_tinny}", "params: 5.72"))
    explanation = explained(selection, "small/1/typo/params")
    assert explanation.check.verdict == "error"
    assert "timm has no model 'deit_tinny'" in facts(explanation)["because"]
    assert explanation.sections == ()


@pytest.mark.slow
def test_a_baseline_that_failed_leaves_the_row_explained(tmp_path: Path) -> None:
    selection = paper(
        tmp_path,
        row("base", "Base", "{timm: deit_tinny}", "params: 5.72"),
        row("block", "Block", IMLP, "params: 5.00", "baseline: base, "),
    )
    explanation = explained(selection, "small/1/block/params")
    breakdown = section(explanation, Breakdown)
    assert breakdown.failure is not None
    assert breakdown.failure.startswith("timm has no model 'deit_tinny'")
    assert sum(one.amount for one in breakdown.parts) == 4998184
    assert "\nThe baseline could not be counted: timm has no model" in text_of(explanation)


def test_a_number_that_differs_has_causes(tmp_path: Path) -> None:
    """A distilled DeiT has a second token with its position and a second classifier head."""
    selection = paper(tmp_path, row("one", "One", DEIT, "params: 5.91"), row("two", "Two", DEIT, "params: 5.72"))
    explanation = explained(selection, "small/1/one/params")
    (causes,) = (one for one in explanation.sections if isinstance(one, Causes))
    first = causes.number.causes[0]
    more = 2 * 192 + 192 * 1000 + 1000
    assert (first.text, first.value) == ("timm:deit_tiny_distilled_patch16_224 in its place", str(5_717_416 + more))
    assert first.chance <= 0.05
    assert "What would give the printed number" in text_of(explanation)
    assert not any(isinstance(one, Causes) for one in explained(selection, "small/1/two/params").sections)


def test_one_cause_of_a_column_comes_first(tmp_path: Path) -> None:
    """Two digits decide little in one row; the classifier is left out in both that differ."""
    rows = (
        row("one", "One", ALEXNET, "params: 57"),
        row("two", "Two", "{torchvision: vgg11}", "params: 128.8"),
        row("three", "Three", ALEXNET, "params: 61"),
    )
    explanation = explained(paper(tmp_path, *rows), "small/1/one/params")
    (causes,) = (one for one in explanation.sections if isinstance(one, Causes))
    first = causes.number.causes[0]
    assert (first.text, first.explains) == ("without the classifier", ("57", "128.8 of two"))
    assert "gives 57 and 128.8 of two" in text_of(explanation)


def test_causes_of_a_model_with_other_mlps_are_its_parts_and_factors(tmp_path: Path) -> None:
    selection = paper(tmp_path, row("one", "One", IMLP, "params: 9.99"))
    (whole,) = audit(selection, Options(), lambda _: lambda name: None).of_kind(CellCheck)
    thrice = f"{3 * int(str(whole.measured)) / 10**6:.3f}"
    selection = paper(tmp_path, row("one", "One", IMLP, f"params: {thrice}"))
    (causes,) = (one for one in explained(selection, "small/1/one/params").sections if isinstance(one, Causes))
    assert causes.number.causes[0].text == "times 3"


def test_values_that_a_spec_says_to_try_are_causes(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("from torch import nn\ndef net(width=8):\n    return nn.Linear(width, 1000)\n")
    model = "{python: {file: net.py, name: net, tokens: 8, try: {width: [11, 300]}}}"
    selection = paper(tmp_path, row("one", "One", model, "params: 0.301"), trusted=True)
    (causes,) = (one for one in explained(selection, "small/1/one/params").sections if isinstance(one, Causes))
    assert causes.number.causes[0].text == "width=300"


def test_a_finding_is_shown_with_its_check(tmp_path: Path) -> None:
    paper(tmp_path, row("base", "Base", ALEXNET, "params: 61.11"))
    finding = (
        "findings:\n  - {id: size, title: The size is wrong, kind: misprint, why: It is 61.10.,"
        " checks: [small/1/base/params]}\n"
    )
    with (tmp_path / "paper.yaml").open("a", encoding="utf-8") as file:
        file.write(finding)
    text = text_of(explained(load([str(tmp_path)]), "small/1/base/params"))
    assert text.startswith("small/1/base/params: differs\n")
    assert "Finding: The size is wrong\n" in text
    assert "It is 61.10." in text


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("imlp/1/deit_b_implp/params", "did you mean 'imlp/1/deit_b_imlp/params'?"),
        ("imlp/1/deit_b", "imlp/1/deit_b is not a check; checks below it: imlp/1/deit_b/params, imlp/1/deit_b/flops"),
        ("imlp/1", "and "),
        ("", "no check has the id ''"),
        ("mine/1/a/params", "the paper 'mine' is not among those looked at (imlp, iffn_poster,"),
    ],
)
def test_ids_that_name_no_check_are_rejected(bundled: Selection, wrong: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        find_plan(bundled, wrong)
    assert message in str(raised.value)
