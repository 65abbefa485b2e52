from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from imlp_audit.audit import Options, audit, audit_equations
from imlp_audit.equations.settings import Settings
from imlp_audit.errors import UsageError
from imlp_audit.explain.explain import explain, rests_on
from imlp_audit.explain.find import find_plan
from imlp_audit.explain.layout import WIDTH
from imlp_audit.records.check import Check
from imlp_audit.spec.library import Selection, load
from imlp_audit.spec.plan import EquationPlan
from tests.explain.papers import DEIT, IMLP, paper, row


@pytest.fixture(scope="module")
def bundled() -> Selection:
    return load(["imlp", "iffn_poster", "mixer_gmlp_coursework", "resmlp"])


def checked(selection: Selection, check_id: str) -> Mapping[str, Check]:
    plan = find_plan(selection, check_id)
    if isinstance(plan, EquationPlan):
        result = audit_equations(selection, (plan.id,), Settings(), lambda _: lambda name: None)
    else:
        result = audit(selection, Options(only=(plan.id, *rests_on(plan))), lambda _: lambda name: None)
    return {check.id: check for check in result.checks}


def text_of(selection: Selection, check_id: str) -> str:
    plan = find_plan(selection, check_id)
    return explain(plan, checked(selection, plan.id), selection.known)


def rows(text: str, after: str) -> dict[str, list[int]]:
    """Return the numbers of a table's rows by their names; the table begins below a line."""
    found: dict[str, list[int]] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(after):
            break
    for line in lines:
        if not line.strip():
            break
        name, *cells = re.split(r" {2,}", line.strip())
        numbers = [cell.replace(" ", "").lstrip("+") for cell in cells]
        found[name] = [int(number) for number in numbers if re.fullmatch(r"-?\d+", number)]
    return found


DEIT_B = "imlp/1/deit_b_imlp/params"


@pytest.fixture(scope="module")
def deit_b(bundled: Selection) -> str:
    return text_of(bundled, DEIT_B)


def test_a_cell_says_what_is_printed_and_measured(deit_b: str) -> None:
    lines = deit_b.splitlines()
    assert lines[0] == f"{DEIT_B}: reproduced under reading released"
    assert lines[1].startswith(
        "  printed    73.66 M in Table 1, DeiT-B + IMLP, Parameters (M); specs/imlp/table1.yaml:"
    )
    assert lines[2] == "  stands for any number from 73 655 000 to below 73 665 000 (rounded half up)"
    measured = rows(deit_b, "Measured under each reading")
    assert (measured["as_written"], measured["released"]) == ([73573096], [73663720])
    assert "  released    all         73 663 720  +0.4  prints as 73.66" in lines


def test_savings_add_up_by_part_and_by_kind(deit_b: str) -> None:
    for table in (rows(deit_b, "Where the number comes from"), rows(deit_b, "  kind of parameter")):
        parts = [numbers for name, numbers in table.items() if name not in ("total",) and len(numbers) == 3]
        assert [sum(column) for column in zip(*parts, strict=True)] == table["total"]
        assert table["total"] == [86567656, 73663720, -12903936]


def test_the_formula_ends_at_the_measured_number(deit_b: str) -> None:
    assert "  one block                     n² C' + 3/2 C C' + 3 C + 19/2 C'" in deit_b.splitlines()
    assert re.search(r"\n  12 blocks +768  3 072  5  3 647 232 +43 766 784\n", deit_b)
    assert re.search(r"\n  sum +73 663 720  as measured\n", deit_b)


def test_the_nearest_readings_are_told_with_their_reasons(deit_b: str) -> None:
    assert "  32 of 2 304 readings do. From as_written, at least 3 axes must change, in one of 4 ways:" in deit_b
    assert "    73 663 720  +0.4  concat_norm layer, output_norm layer, class_token removed\n" in deit_b
    assert "layer in released (released code, Mlp.ln1; in no paper text)" in deit_b


def test_an_explanation_fits_a_screen_or_two(deit_b: str) -> None:
    lines = deit_b.splitlines()
    assert len(lines) <= 65
    assert max(map(len, lines)) <= WIDTH


def test_the_readme_s_excerpt_is_of_this_explanation(deit_b: str) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    excerpt = readme.partition(f"$ imlp-audit explain {DEIT_B}\n")[2].partition("```")[0].splitlines()
    told = {re.sub(r":\d+$", "", line) for line in (*deit_b.splitlines(), "  ...")}  # but for the line of the spec
    assert len(excerpt) > 20
    assert [line for line in excerpt if re.sub(r":\d+$", "", line) not in told] == []


def test_work_is_explained_by_the_convention_that_decides(bundled: Selection) -> None:
    text = text_of(bundled, "imlp/1/swin_b_imlp/flops")
    assert "against Swin-B (FLOPs by fvcore, reading as_written)" in text
    assert rows(text, "  class of work")["batch norm affine"] == [0, 12443648, 12443648]
    assert re.search(r"\n  sum +13 275 787 264  as measured\n", text)  # multiply-accumulates
    assert "  as_written does as it is, and so do " in text


def test_a_row_without_axes_has_only_its_parts(bundled: Selection) -> None:
    text = text_of(bundled, "resmlp/2/vit_s8/flops")
    assert rows(text, "Where the number comes from (multiply-accumulates)")["total"] == [22405742592]
    assert "closed form" not in text
    assert "Which readings" not in text


def test_a_text_model_has_a_formula_and_a_second_search_over_its_width(bundled: Selection) -> None:
    text = text_of(bundled, "mixer_gmlp_coursework/6/product/params")
    assert "The parameters in closed form\n  V = 30 000 words, C = 512 channels, D_C = 3 072 hidden" in text
    assert "  one layer                     n² + 2 C D_C + n + 3 C + 3 D_C" in text
    assert re.search(r"\n  sum +129 882 416  as measured\n", text)
    assert "  None of all 640 readings gives 92." in text
    assert "  With the row's D_C open as well:\n" in text
    assert "    92 023 088  0.0  ffn_width 2048\n" in text


def test_a_waived_finding_says_why_it_is_known(bundled: Selection) -> None:
    text = text_of(bundled, "imlp/1/lvt_r1_imlp/params")
    assert text.startswith("imlp/1/lvt_r1_imlp/params: differs, a finding that the spec declares as known\n")
    assert "  waived     With all ten MLPs replaced" in text
    assert "    4 980 020  0.0  depthwise_activation agelu\n" in text


def test_a_score_says_what_is_missing(bundled: Selection) -> None:
    text = text_of(bundled, "imlp/1/deit_ti/top1")
    assert text.splitlines() == [
        "imlp/1/deit_ti/top1: unverifiable",
        "  printed    72.2 % in Table 1, DeiT-Ti, Top-1 Accuracy (%); specs/imlp/table1.yaml:27",
        "  stands for any number from 72.15 to below 72.25 (rounded half up)",
        "  because    needs trained weights of the row's model and the ImageNet-1k validation images",
    ]


def test_a_measured_change_shows_both_counts(bundled: Selection) -> None:
    text = text_of(bundled, "imlp/1/deit_ti_imlp/params.delta.measured")
    assert "  compared   the change from DeiT-Ti to DeiT-Ti + IMLP in the two models' counts" in text
    assert "  released    all         5 717 416     4 998 184  -12.5797  +0.2  prints as -12.6%" in text
    assert "  imlp/1/deit_ti_imlp/params  5.00  M  reproduced under reading released" in text


def test_a_printed_change_and_a_repeat_point_to_both_places(bundled: Selection) -> None:
    change = text_of(bundled, "imlp/1/deit_ti_imlp/params.delta")
    assert "in the two printed numbers, each any number" in change
    assert "\n  imlp/1/deit_ti/params       5.72  M\n" in change
    repeat = text_of(bundled, "resmlp/repeats/1/deit_b/params")
    assert "  compared   86.57 in imlp, Table 1, DeiT-B, Parameters (M)\n" in repeat
    assert "  imlp/1/deit_b/params    86.57  M\n" in repeat


def test_a_mark_shows_both_kernels(bundled: Selection) -> None:
    text = text_of(bundled, "imlp/marks/1/deit_ti_imlp")
    assert "  the mark   * stands for: we use n = 5" in text
    assert "  kernel 3 released    4 998 184   -0.2  prints as 5.00\n" in text
    assert "  kernel 5 released    5 145 640" in text


def test_columns_say_what_was_exchanged(bundled: Selection) -> None:
    text = text_of(bundled, "imlp/columns/8")
    assert "5.72 under flops is params" in " ".join(text.split())
    assert "`imlp-audit list --only 'imlp/8/*'`" in text


def test_a_claim_is_told_row_by_row(bundled: Selection) -> None:
    text = text_of(bundled, "imlp/claims/no_accuracy_compromised")
    assert "  because    7 of 15 rows hold, 5 are left open\n" in text
    assert re.search(r"\n  swin_b_imlp +-12.32 ± 0.01 +-2.1 ± 0.01 +-0.1 ± 0.1  does not hold\n", text)
    assert re.search(r"\n  deit_b_imlp .* 0 ± 0.1  open\n", text)
    assert "It rests on 90 printed numbers" in text


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        (
            "mixer_gmlp_coursework/claims/from_scratch_loses_15_to_20_percent",
            "difference of pets against vit_b16_scratch        -13.7 ± 0.1  at most -14.5  does not hold\n",
        ),
        ("imlp/claims/profit_becomes_marginal", "\n  n3  0.6 ± 0.1\n  n5  0.2 ± 0.1\n  n7  0.1 ± 0.1\n"),
        ("imlp/claims/sums_reference", "  judged by  whether the cells stand in the table that the text points to\n"),
        ("imlp/claims/mlp_share_of_params_grows", "deit_ti: 62.099, deit_s: 64.301, deit_b: 65.462"),
    ],
)
def test_claims_of_every_form_say_how_they_were_judged(bundled: Selection, claim: str, told: str) -> None:
    assert told in text_of(bundled, claim)


def test_an_equation_shows_its_counterexample(bundled: Selection) -> None:
    text = text_of(bundled, "imlp/equations/eq6_inner")
    assert "It is false for these numbers, the smallest that were found\n  x = [1]\n" in text
    assert "what holds is imlp/equations/eq6_inner_corrected" in text
    assert "because" not in text
    holds = text_of(bundled, "imlp/equations/eq6_inner_corrected")
    assert "  corrected  " in holds
    assert "  because    holds on 10 examples" in holds


def test_a_model_that_failed_says_so_and_no_more(tmp_path: Path) -> None:
    selection = paper(tmp_path, row("typo", "Typo", "{timm: deit_tinny}", "params: 5.72"))
    text = text_of(selection, "small/1/typo/params")
    assert text.startswith("small/1/typo/params: error\n")
    assert "timm has no model 'deit_tinny'" in text
    assert "\n\n" not in text


def test_a_baseline_that_failed_leaves_the_row_explained(tmp_path: Path) -> None:
    selection = paper(
        tmp_path,
        row("base", "Base", "{timm: deit_tinny}", "params: 5.72"),
        row("block", "Block", IMLP, "params: 5.00", "baseline: base, "),
    )
    text = text_of(selection, "small/1/block/params")
    assert "  The baseline could not be counted: BuildError: timm has no model 'deit_tinny'" in text
    assert rows(text, "Where the number comes from")["total"] == [4998184]


def test_a_model_that_not_every_reading_can_build_is_explained_without_the_search(tmp_path: Path) -> None:
    distilled = "{timm: deit_tiny_distilled_patch16_224, mlp: {imlp: {}}}"
    selection = paper(tmp_path, row("one", "One", distilled, "params: 5.17"))
    text = text_of(selection, "small/1/one/params")
    assert "Where the number comes from (all parameters, reading as_written)" in text
    assert "  That could not be searched: deit_tiny_distilled_patch16_224 could not be built or counted:" in text


def test_a_waiver_that_no_longer_holds_is_told(tmp_path: Path) -> None:
    selection = paper(tmp_path, row("base", "Base", DEIT, "params: 5.72"))
    waived = "waivers:\n  - reason: known\n    checks: [{id: small/1/base/params, verdict: differs, printed: 5.72}]\n"
    with (tmp_path / "paper.yaml").open("a", encoding="utf-8") as file:
        file.write(waived)
    selection = load([str(tmp_path)])
    text = text_of(selection, "small/waivers/1/base/params")
    assert text.startswith("small/1/base/params: reproduced\n")
    assert "\nsmall/waivers/1/base/params: differs\n" in text
    assert "take the waiver out or mend it" in " ".join(text.split())


def test_equal_checks_are_explained_alike(bundled: Selection, deit_b: str) -> None:
    assert text_of(bundled, DEIT_B) == deit_b


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("imlp/1/deit_b_implp/params", "did you mean 'imlp/1/deit_b_imlp/params'?"),
        ("imlp/1/deit_b", "imlp/1/deit_b is no check, but there are imlp/1/deit_b/params, imlp/1/deit_b/flops"),
        ("imlp/1", "and "),
        ("", "no check has the id ''"),
    ],
)
def test_ids_that_name_no_check_are_refused(bundled: Selection, wrong: str, told: str) -> None:
    with pytest.raises(UsageError) as refused:
        find_plan(bundled, wrong)
    assert told in str(refused.value)


def test_a_waiver_s_id_stands_for_its_check(bundled: Selection) -> None:
    assert find_plan(bundled, "imlp/waivers/1/deit_b/flops").id == "imlp/1/deit_b/flops"
