"""Rows with candidates: numbers identify them, proposals accuse nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from imlp_audit.records.check import PASSES, CellCheck, Identified, Verdict
from tests.measured import audit_file

HEAD = """\
paper: t
about: {title: T, authors: A, version: v1, parameters: [all, no_head, with_buffers]}
tables:
  - table: "1"
    title: Models
    source: {section: Table 1, file: t.md}
    columns:
      params: {measure: parameters, unit: M, heading: Params (M)}
      flops: {measure: flops, unit: G, heading: FLOPs (G)}
    rows:
"""
# Name, label, parameters in M and FLOPs in G as fvcore counts them: with 4.09 G multiply-accumulates, 4.11 G.
TRUE = [
    ("resnet18", "ResNet-18", "11.69", "1.82"),
    ("resnet34", "ResNet-34", "21.80", "3.67"),
    ("resnet50", "ResNet-50", "25.56", "4.11"),
    ("resnet101", "ResNet-101", "44.55", "7.83"),
    ("resnet152", "ResNet-152", "60.19", "11.56"),
]


def row(model: str, label: str, params: str, flops: str, *, named: bool = True, others: Sequence[str] = ()) -> str:
    listed = ", ".join(f"{{timm: {one}}}" for one in (model, *others))
    key = label.lower().replace("-", "_").replace(" ", "_").replace(".", "_")
    name = "named: true, " if named else ""
    printed = f"printed: {{params: {params}, flops: {flops}}}"
    return f"      - {{id: {key}, label: {label}, {name}candidates: [{listed}], {printed}}}\n"


def checks_of(tmp_path: Path, *rows: str) -> dict[str, CellCheck]:
    (tmp_path / "t.yaml").write_text(HEAD + "".join(rows))
    result = audit_file(tmp_path / "t.yaml")
    return {check.id.removeprefix("t/1/"): check for check in result.of_kind(CellCheck)}


@pytest.mark.parametrize(
    ("others", "which"), [((), "that it is resnet18"), (("resnet26",), "which of 2 candidates it is, if any")]
)
def test_a_row_that_no_candidate_explains_says_so(tmp_path: Path, others: Sequence[str], which: str) -> None:
    found = checks_of(tmp_path, row("resnet18", "Ours", "99.99", "9.99", named=False, others=others))
    assert f"its numbers do not tell {which}; the nearest: " in found["ours/params"].reason


def test_names_with_the_tag_of_their_weights_are_names(tmp_path: Path) -> None:
    names = ("resnet18.a1_in1k", "resnet34.bt_in1k", "resnet50.a1_in1k")
    rows = [row(name, name, *one[2:], others=["resnet26.bt_in1k"]) for name, one in zip(names, TRUE, strict=False)]
    assert {check.verdict for check in checks_of(tmp_path, *rows).values()} <= set(PASSES)


def test_rows_follow_from_the_candidates_that_have_their_numbers(tmp_path: Path) -> None:
    found = checks_of(tmp_path, *(row(*one, others=["resnet26", "resnet50d"]) for one in TRUE))
    assert {check.verdict for check in found.values()} <= set(PASSES)
    assert {check.model for check in found.values()} == {f"timm: {name}" for name, *_ in TRUE}
    assert all(check.under == ("convention fvcore",) for name, check in found.items() if name.endswith("flops"))


@pytest.mark.parametrize(("params", "flops", "wrong"), [("25.56", "4.71", "flops"), ("21.56", "4.11", "params")])
def test_a_wrong_number_of_an_identified_row_differs(tmp_path: Path, params: str, flops: str, wrong: str) -> None:
    rows = [row(*one) for one in TRUE]
    rows[2] = row("resnet50", "ResNet-50", params, flops)
    found = checks_of(tmp_path, *rows)
    assert [name for name, check in found.items() if check.verdict is Verdict.DIFFERS] == [f"resnet_50/{wrong}"]


@pytest.mark.parametrize(
    ("params", "verdict"),
    [("24.56", Verdict.UNVERIFIABLE), ("68.26", Verdict.UNVERIFIABLE), ("52.19", Verdict.DIFFERS)],
)  # 23 508 032 and 2049 for each of 512, 21 841 and 14 000 classes, which no weights have
def test_parameters_that_a_published_head_would_give_are_a_lead(tmp_path: Path, params: str, verdict: Verdict) -> None:
    rows = [row(*one) for one in TRUE]
    rows[2] = row("resnet50", "ResNet-50", params, "4.11")
    check = checks_of(tmp_path, *rows)["resnet_50/params"]
    assert (check.verdict, check.lead) == (verdict, verdict is Verdict.UNVERIFIABLE)


def of_variant(text: str, variant: str) -> str:
    return text.replace("printed:", f"variant: {variant}, printed:")


@pytest.mark.parametrize(("others", "verdict"), [(0, Verdict.UNVERIFIABLE), (3, Verdict.DIFFERS)])
def test_a_row_that_is_set_apart_accuses_only_beside_others_of_its_kind(
    tmp_path: Path, others: int, verdict: Verdict
) -> None:
    rows = [row(*one) for one in TRUE[:3]]
    rows += [of_variant(row(*one).replace("id: ", "id: x_"), "Sparsity 50%") for one in TRUE[:others]]
    rows.append(of_variant(row("resnet101", "ResNet-101", "44.55", "3.90"), "Sparsity 50%"))
    check = checks_of(tmp_path, *rows)["resnet_101/flops"]
    assert (check.verdict, check.lead) == (verdict, verdict is Verdict.UNVERIFIABLE)


def test_numbers_of_a_sibling_identify_no_row_whose_label_denies_it(tmp_path: Path) -> None:
    """Printed as PVTv2-B2's: 25.4 M and 4.0 G."""
    b5 = row("pvt_v2_b5", "PVT v2 large b5", "25.36", "4.05", named=False, others=["pvt_v2_b2"])
    found = checks_of(tmp_path, *(row(*one) for one in TRUE), b5)
    assert found["pvt_v2_large_b5/params"].identified is Identified.NO
    b2 = row("pvt_v2_b5", "PVT v2 large", "25.36", "4.05", named=False, others=["pvt_v2_b2"])
    assert checks_of(tmp_path, *(row(*one) for one in TRUE), b2)["pvt_v2_large/params"].model == "timm: pvt_v2_b2"


def test_a_label_that_says_more_than_a_name_accuses_nothing(tmp_path: Path) -> None:
    rows = [row(*one) for one in TRUE] + [row("resnet50", "ResNet-50 ours", "25.56", "3.01", named=False)]
    check = checks_of(tmp_path, *rows)["resnet_50_ours/flops"]
    assert check.verdict is Verdict.UNVERIFIABLE
    assert "label" in check.reason


@pytest.mark.parametrize("label", ["Agent-ResNet-50", "T2T-ResNet-50", "ResNetV2-50", "Slide ResNet-50"])
@pytest.mark.parametrize("flops", ["4.11", "3.01"])
def test_a_label_that_begins_with_another_word_is_known_by_no_name(tmp_path: Path, label: str, flops: str) -> None:
    other = row("resnet50", label, "26", flops, named=False).replace("id: ", "id: x_")
    (params, work) = [
        one for name, one in checks_of(tmp_path, *(row(*one) for one in TRUE), other).items() if "x_" in name
    ]
    assert (params.identified, params.lead, work.lead) == (Identified.NO, False, False)


def test_a_number_that_is_a_models_but_for_one_digit_is_a_lead(tmp_path: Path) -> None:
    text = HEAD.replace("unit: M", 'unit: ""') + row("resnet50", "ResNet-50 (b)", '"25,557,832"', "9", named=False)
    (tmp_path / "t.yaml").write_text(text.replace("id: resnet_50_(b)", "id: b"))
    (first, _) = audit_file(tmp_path / "t.yaml").of_kind(CellCheck)
    assert first.lead
    assert "is it resnet50? Then 25 557 032 parameters, not 25,557,832" in first.reason


def test_parameters_of_another_model_accuse_no_work_that_is_the_labels_own(tmp_path: Path) -> None:
    rows = [row(*one) for one in TRUE[:4]] + [row(*TRUE[4], others=["resnet26"]).replace("60.19", "16.00")]
    found = checks_of(tmp_path, *rows)
    assert found["resnet_152/flops"].verdict in PASSES
    assert found["resnet_152/params"].verdict is Verdict.DIFFERS or found["resnet_152/params"].lead


def test_a_number_that_no_counter_comes_near_is_a_lead_where_two_others_of_its_column_follow(tmp_path: Path) -> None:
    odd = [row("resnet101", "ResNet-101", "44.55", "70.83"), row("resnet152", "ResNet-152", "60.19", "11.99")]
    found = checks_of(tmp_path, *(row(*one) for one in TRUE[:2]), *odd)
    assert [name for name, check in found.items() if check.lead] == ["resnet_101/flops"]


def test_a_table_whose_rows_have_none_of_the_numbers_that_their_names_have_is_of_other_things(tmp_path: Path) -> None:
    found = checks_of(
        tmp_path, *(row(model, label, f"{n}7.3", f"9{n}8") for n, (model, label, *_) in enumerate(TRUE, 3))
    )
    assert not any(check.lead for check in found.values())


def test_an_uncertain_table_accuses_nothing(tmp_path: Path) -> None:
    rows = [row(*one) for one in TRUE]
    rows[2] = "      - {id: given, label: R, model: {timm: resnet50}, printed: {params: 26.56, flops: 4.11}}\n"
    (tmp_path / "t.yaml").write_text(
        HEAD.replace("    rows:", "    uncertain: two numbers in a cell\n    rows:") + "".join(rows)
    )
    found = {check.id: check for check in audit_file(tmp_path / "t.yaml").of_kind(CellCheck)}
    assert Verdict.DIFFERS not in {check.verdict for check in found.values()}
    assert found["t/1/given/params"].lead


def test_a_match_of_seven_digits_is_no_luck(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(HEAD.replace("unit: M", 'unit: ""') + row("resnet18", "A", "11689512", "1.8"))
    checks = audit_file(tmp_path / "t.yaml").of_kind(CellCheck)
    assert [check.weak for check in checks] == [False, True]


def test_labels_of_other_rows_identify_nothing_and_one_that_names_a_model_is_a_lead(tmp_path: Path) -> None:
    shuffled = [(*mine[:2], *other[2:]) for mine, other in zip(TRUE, [*TRUE[1:], TRUE[0]], strict=True)]
    found = checks_of(tmp_path, *(row(*one) for one in shuffled))
    assert {check.verdict for check in found.values()} == {Verdict.UNVERIFIABLE}
    assert all(check.lead and check.identified is Identified.NO for check in found.values())
    assert (
        "is it resnet18? Then 11 689 512 parameters, not 21.80 M, 3 628 146 688 FLOPs by torch, not 3.67 G"
        in found["resnet_18/params"].reason
    )


def test_a_candidate_that_cannot_be_built_is_none(tmp_path: Path) -> None:
    model = "{timm: swin_tiny_patch4_window7_224, image: 225}"
    broken = f"      - {{id: x, label: X, candidates: [{model}], printed: {{params: 28.3}}}}\n"
    found = checks_of(tmp_path, *(row(*one) for one in TRUE), broken)
    assert found["x/params"].verdict is Verdict.UNVERIFIABLE
    assert found["resnet_50/params"].verdict is Verdict.REPRODUCED


AT_384 = [
    ("resnet18", "ResNet-18", "11.69", "5.33"), ("resnet34", "ResNet-34", "21.80", "10.77"),
    ("resnet50", "ResNet-50", "25.56", "12.01"), ("resnet101", "ResNet-101", "44.55", "22.92"),
]  # fmt: skip


def at_384(tmp_path: Path, rows: Sequence[tuple[str, str, str, str]]) -> Sequence[CellCheck]:
    text = "".join(row(*one) for one in rows)
    (tmp_path / "t.yaml").write_text(HEAD.replace("    rows:", "    images: [384]\n    rows:") + text)
    return audit_file(tmp_path / "t.yaml").of_kind(CellCheck)


def test_numbers_choose_the_size_of_the_images(tmp_path: Path) -> None:
    """FLOPs of convolutions grow as the area: 4.09 G at 224 are 12.0 G at 384, by a factor of (384 / 224)^2 = 2.94."""
    found = at_384(tmp_path, AT_384)
    assert {check.model for check in found} == {f"timm: {name}, image: 384" for name, *_ in AT_384}
    assert {check.verdict for check in found} <= set(PASSES)


def test_a_wrong_number_is_judged_on_the_images_of_its_column(tmp_path: Path) -> None:
    wrong = [one for one in AT_384 if one[0] != "resnet50"] + [("resnet50", "ResNet-50", "25.56", "13.01")]
    (check,) = [one for one in at_384(tmp_path, wrong) if one.verdict not in PASSES]
    assert (check.id, check.model) == ("t/1/resnet_50/flops", "timm: resnet50, image: 384")


@pytest.mark.parametrize(
    ("printed", "known"),
    [
        (["11689500", "21797700", "25557000", "44549200", "60192800"], True),  # six significant digits each
        (["11689500", "21797700", "25557030", "44549200", "60192800"], True),  # one of them has more
        (["11689500", "21797670", "25557030", "44549200", "60192800"], False),  # seven digits: 11 689 512 is not so
        (["11690000", "21800000", "25560000", "44550000", "60190000"], True),
    ],
)
def test_integers_of_few_significant_digits_are_rounded(tmp_path: Path, printed: list[str], *, known: bool) -> None:
    head = HEAD.replace("unit: M", 'unit: ""')
    rows = [row(model, label, params, flops) for (model, label, _, flops), params in zip(TRUE, printed, strict=True)]
    (tmp_path / "t.yaml").write_text(head + "".join(rows))
    checks = audit_file(tmp_path / "t.yaml").of_kind(CellCheck)
    first = next(one for one in checks if one.id == "t/1/resnet_18/params")
    assert (first.identified is not Identified.NO) is known
    assert Verdict.DIFFERS not in {one.verdict for one in checks if one.printed in printed}


SWIN_T = row("swin_tiny_patch4_window7_224", "Swin-T", "28", "4.6", others=["swin_s3_tiny_224"])
SWIN_S = row("swin_small_patch4_window7_224", "Swin-S", "50", "8.7")
CONVNEXTS = [row("convnext_tiny", "ConvNeXt-T", "29", "4.5"), row("convnext_small", "ConvNeXt-S", "50", "8.7")]
MOBILEONES = [
    row(f"mobileone_s{n}", f"MobileOne-S{n}", params, flops, others=[f"mobileone_s{n}, form: deployed"])
    for n, params, flops in ((2, "7.8", "1.30"), (3, "10.1", "1.90"), (4, "14.8", "2.98"))
]


@pytest.mark.parametrize(
    ("rows", "cell", "model", "verdict"),
    [
        (  # the number is Swin-S3-T's, whose name the label is not
            [
                row("swin_tiny_patch4_window7_224", "Swin-T", "28", "4.6", others=["swin_s3_tiny_224"]),
                SWIN_S,
                *CONVNEXTS,
            ],
            "swin_t/flops",
            "timm: swin_tiny_patch4_window7_224",
            Verdict.UNVERIFIABLE,
        ),
        (  # patches of 8 and 16 have the same parameters: the work says which
            [
                row("xcit_tiny_12_p8_224", "XCiT-T12", "6.7", "1.30", others=["xcit_tiny_12_p16_224"]),
                *(row(*one) for one in TRUE),
            ],
            "xcit_t12/params",
            "timm: xcit_tiny_12_p16_224",
            Verdict.REPRODUCED,
        ),
        # 7.88 M is 7.8 cut off, the deployed form's 7.81 M rounded
        (MOBILEONES, "mobileone_s2/params", "timm: mobileone_s2, form: deployed", Verdict.REPRODUCED),
    ],
)
def test_of_several_models_of_a_size_that_one_is_meant_which_the_label_and_the_work_speak_for(
    tmp_path: Path, rows: Sequence[str], cell: str, model: str, verdict: Verdict
) -> None:
    check = checks_of(tmp_path, *rows)[cell]
    assert (check.model, check.verdict) == (model, verdict)


def test_one_row_alone_is_no_table_of_other_models(tmp_path: Path) -> None:
    """Of two names or more, none of which has its numbers, the table may be of detectors; one may be wrong."""
    alone = checks_of(tmp_path, row("resnet50", "ResNet-50", "99.99", "9.99"))
    assert {one.lead for one in alone.values()} == {True}
    several = checks_of(
        tmp_path, row("resnet50", "ResNet-50", "99.99", "9.99"), row("resnet34", "ResNet-34", "88", "8")
    )
    assert {one.lead for one in several.values()} == {False}


# Of timm with in_chans=1 and 2 classes, in M and G.
GRAY = [
    ("resnet18", "ResNet-18", "11.2", "1.7"), ("resnet34", "ResNet-34", "21.3", "3.6"),
    ("resnet50", "ResNet-50", "23.5", "4.0"), ("resnet101", "ResNet-101", "42.5", "7.7"),
    ("densenet121", "DenseNet-121", "6.9", "2.8"), ("vit_base_patch16_224", "ViT-B-16", "85.4", "17.5"),
]  # fmt: skip


def test_classes_and_channels_that_explain_a_whole_table_accuse_none_of_its_numbers(tmp_path: Path) -> None:
    """A first convolution of 64 kernels of 7 x 7 has 6272 weights less; ViT-B/16's patches have 393 216 less."""
    found = checks_of(tmp_path, *(row(*one) for one in GRAY))
    assert {check.verdict for check in found.values()} == {Verdict.REPRODUCED_UNDER}
    assert found["vit_b_16/params"].under == ("in_chans 1", "classes 2")


WORK = (1_819_065_856, 3_671_262_720, 4_111_512_576, 7_833_969_664, 11_558_835_200)  # by fvcore


@pytest.mark.parametrize(("unit", "scale"), [("M", 10**6), ("k", 10**3)])
def test_numbers_tell_the_unit_that_a_heading_does_not(tmp_path: Path, unit: str, scale: int) -> None:
    head = HEAD.replace("FLOPs (G)", "FLOPs")
    rows = [row(*one[:3], str(round(work / scale))) for one, work in zip(TRUE, WORK, strict=True)]
    (tmp_path / "t.yaml").write_text(head + "".join(rows))
    flops = [one for one in audit_file(tmp_path / "t.yaml").of_kind(CellCheck) if one.id.endswith("flops")]
    assert {(check.unit, check.identified) for check in flops} == {(unit, Identified.NUMBERS)}


def test_a_number_that_another_usual_number_of_channels_explains_is_a_lead(tmp_path: Path) -> None:
    """ResNet-18 of gray images has 2 * 64 * 7 * 7 = 6272 weights less: 11 683 240 of 11 689 512."""
    rows = [row(*one).replace(f"params: {one[2]}", f"params: {n}") for one, n in zip(TRUE, FULL, strict=True)]
    rows[0] = rows[0].replace("11689512, flops: 1.82", "11683240")
    (tmp_path / "t.yaml").write_text(HEAD.replace("unit: M", 'unit: ""') + "".join(rows))
    check = next(one for one in audit_file(tmp_path / "t.yaml").of_kind(CellCheck) if one.id == "t/1/resnet_18/params")
    assert (check.verdict, check.lead) == (Verdict.UNVERIFIABLE, True)


FULL = ("11689512", "21797672", "25557032", "44549160", "60192808")


def test_a_head_of_other_classes_is_one_more_or_less_for_each(tmp_path: Path) -> None:
    """A class is a row of the last layer, of 512 or 2048 weights and a bias; gray images take 6272 weights away."""
    sizes = [int(n) - 6272 - 900 * (width + 1) for n, width in zip(FULL, (512, 512, 2048, 2048, 2048), strict=True)]
    rows = [row(*one[:2], str(n), "9") for one, n in zip(TRUE, sizes, strict=True)]
    (tmp_path / "t.yaml").write_text(HEAD.replace("unit: M", 'unit: ""') + "".join(rows))
    sized = [one for one in audit_file(tmp_path / "t.yaml").of_kind(CellCheck) if one.id.endswith("params")]
    assert {(one.verdict, one.under) for one in sized} == {
        (Verdict.REPRODUCED_UNDER, ("in_chans 1", "classes 100")),
    }


def test_a_number_that_the_model_has_cut_off_is_not_said_to_be_anothers(tmp_path: Path) -> None:
    """11 689 512 cut off is 11.68."""
    rows = [row(*one) for one in TRUE]
    rows[0] = row("resnet18", "ResNet-18", "11.68", "1.82").replace(
        "[{timm: resnet18}]", "[{timm: resnet18}, {torchvision: resnet18}]"
    )
    assert "another candidate" not in checks_of(tmp_path, *rows)["resnet_18/params"].reason


def test_a_label_that_is_a_name_alone_is_not_said_to_be_more(tmp_path: Path) -> None:
    rows = [row(model, label, params, "9.99") for model, label, params, _ in TRUE]
    reasons = [check.reason for name, check in checks_of(tmp_path, *rows).items() if name.endswith("flops")]
    assert len(reasons) == len(TRUE)
    assert not any("label is not its name" in reason for reason in reasons)


# On images of 256 x 256, as torchvision's own models have them: 4 089 184 256 multiply-accumulates at 224 are 5 340 M.
AT_256 = [
    ("resnet18", "ResNet-18", "11.69", "2.37"), ("resnet34", "ResNet-34", "21.80", "4.79"),
    ("resnet50", "ResNet-50", "25.56", "5.34"), ("resnet101", "ResNet-101", "44.55", "10.19"),
]  # fmt: skip


def test_a_size_of_images_that_nothing_names_is_found_and_accuses_nothing(tmp_path: Path) -> None:
    found = checks_of(tmp_path, *(row(*one) for one in AT_256), row("resnet152", "ResNet-152", "60.19", "16.04"))
    wrong = found.pop("resnet_152/flops")
    assert {check.verdict for check in found.values()} <= set(PASSES)
    assert "image 256" in found["resnet_50/flops"].under
    assert (wrong.verdict, wrong.lead) == (Verdict.UNVERIFIABLE, True)
    assert "write `images: [SIDE]`" in wrong.reason


def test_a_model_of_other_positions_is_not_judged_on_the_images_of_its_column(tmp_path: Path) -> None:
    """ViT-B/16 has 86 859 496 parameters for images of 384, of which 577 * 768 are positions."""
    vit = row("vit_base_patch16_384", "ViT-B16", "86.86", "33.03")
    found = checks_of(tmp_path, *(row(*one) for one in TRUE), vit)
    assert found["vit_b16/params"].verdict is Verdict.REPRODUCED
    assert found["vit_b16/flops"].model == "timm: vit_base_patch16_384"


def test_a_number_that_differs_is_said_with_its_counter_and_the_nearest_of_the_models_sizes(tmp_path: Path) -> None:
    """timm's EfficientNet-B4 is for images of 320 in training, and of 384 then."""
    b4 = row("efficientnet_b4", "EfficientNet-B4", "19.34", "4.99")
    reason = checks_of(tmp_path, *(row(*one) for one in TRUE), b4)["efficientnet_b4/flops"].reason
    assert "by fvcore on images of 384 x 384: " in reason


def test_a_few_numbers_of_another_unit_do_not_change_that_of_a_column(tmp_path: Path) -> None:
    """One number is in G and four in M, where five for each one in G would tell that all are."""
    printed = ["1.82", *(str(round(work / 10**6)) for work in WORK[1:]), "5.05", "6.06", "7.07", "8.08"]
    names = [one[:3] for one in TRUE] + [("resnet26", "ResNet-26", "16.00"), ("resnet14t", "ResNet-14-T", "10.08")]
    names += [("resnet26d", "ResNet-26-D", "16.01"), ("resnet50d", "ResNet-50-D", "25.58")]
    rows = [row(*one, flops) for one, flops in zip(names, printed, strict=True)]
    (tmp_path / "t.yaml").write_text(HEAD.replace("FLOPs (G)", "FLOPs") + "".join(rows))
    checks = audit_file(tmp_path / "t.yaml").of_kind(CellCheck)
    assert {check.unit for check in checks if check.id.endswith("flops")} == {"G"}


def test_a_name_whose_last_candidate_has_a_number_of_the_row_is_no_evidence(tmp_path: Path) -> None:
    odd = row("resnet26", "ResNet-26", "21.80", "9.99", others=["resnet34"])
    found = checks_of(tmp_path, *(row(*one) for one in TRUE), odd)
    assert {found[f"resnet_26/{column}"].verdict for column in ("params", "flops")} == {Verdict.UNVERIFIABLE}
