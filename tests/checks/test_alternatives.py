"""Numbers that differ from their row's model, and are those of its other form, or of it on other images."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from imlp_audit.checks import alternatives
from imlp_audit.models.recipe import Recipe
from imlp_audit.records.check import Check, Verdict
from tests.measured import audit_file

HEAD = """paper: p
about: {title: T, authors: A, version: v1, flops: [macs]}
tables:
  - table: "1"
    title: T
    source: {section: "1"}
    columns:
      params: {measure: parameters, unit: M, heading: Params}
      flops: {measure: flops, unit: G, heading: FLOPs}
    rows:
"""


def checks(folder: Path, model: str, params: str, flops: str) -> dict[str, Any]:
    row = f'      - {{id: a, label: A, model: {model}, printed: {{params: "{params}", flops: "{flops}"}}}}\n'
    (folder / "p.yaml").write_text(HEAD + row, encoding="utf-8")
    return {check.id.rpartition("/")[2]: check for check in audit_file(folder / "p.yaml").checks}


def hint(check: Check) -> str:
    assert check.verdict is Verdict.DIFFERS
    return check.hint_texts[0] if check.hint_texts else ""


def test_the_form_that_a_paper_counts_is_named(tmp_path: Path) -> None:
    """RepVGG-A0 in mmpretrain's documentation: 9.11 M in training and 8.31 M when it is deployed."""
    for form, params, flops, other in (
        ("training", "8.31", "1.4", "deployed"),
        ("deployed", "9.11", "1.5", "training"),
    ):
        check = checks(tmp_path, f"{{timm: repvgg_a0, form: {form}}}", params, flops)["params"]
        assert hint(check).startswith(f"as printed with `model: {{timm: repvgg_a0, form: {other}}}`")


@pytest.mark.parametrize(
    ("model", "params", "flops", "named"),
    [
        # Table 4 of arXiv 2102.06171: 132.6 M parameters and 35.54 B FLOPs, on images of 320
        ("{timm: dm_nfnet_f1}", "132.6", "35.54", "{timm: dm_nfnet_f1, image: 320}"),
        # Table 1 of arXiv 2103.14030: 88 M and 47.0 G at 384, with another window and another counter
        ("{timm: swin_base_patch4_window7_224}", "88", "47.0", "{timm: swin_base_patch4_window12_384}"),
        ("{timm: swin_base_patch4_window12_384}", "88", "15.4", "{timm: swin_base_patch4_window7_224}"),
        # regnety_160 of Table 5 of arXiv 2012.12877, at 224: another size than the weights that are here
        ("{torchvision: regnet_y_16gf, image: 384}", "83.6", "15.9", "{torchvision: regnet_y_16gf}"),
        # the smallest and the largest images that are tried: (96 / 224)^2 and (512 / 224)^2 times the convolutions
        ("{timm: resnet50}", "25.6", "0.7527", "{timm: resnet50, image: 96}"),
        ("{timm: resnet50}", "25.6", "21.36", "{timm: resnet50, image: 512}"),
    ],
)
def test_the_images_that_a_paper_counts_on_are_named(
    tmp_path: Path, model: str, params: str, flops: str, named: str
) -> None:
    found = checks(tmp_path, model, params, flops)
    assert found["params"].verdict is Verdict.REPRODUCED
    assert f"with `model: {named}`" in hint(found["flops"])
    assert found["params"].hint_texts == ()  # which the other model may well have too


def test_the_model_that_a_name_stood_for_before_is_named(tmp_path: Path) -> None:
    """ViT-Small/16 of Table 2 of arXiv 2102.12122: 48.8 M; by its sizes in timm 0.4 and a closed formula."""
    width, ratio, layers = 768, 3, 8
    block = 3 * width**2 + width**2 + width + 2 * ratio * width**2 + (ratio + 1) * width + 4 * width
    ends = 768 * width + width + 197 * width + width + 2 * width + 1000 * (width + 1)
    assert round((layers * block + ends) / 1e6, 1) == 48.8
    check = checks(tmp_path, "{timm: vit_small_patch16_224}", "48.8", "9.9")["params"]
    assert "as printed with `model: {timm: {architecture: vit_base_patch16_224, arguments: {depth: 8" in hint(check)


WITHOUT = "{architecture: %s, arguments: {aux_logits: false}}"  # the heads that only training uses


@pytest.mark.parametrize(
    ("model", "params", "flops", "named"),
    [
        # torchvision's table of weights prints 6.6 M for GoogLeNet, and 27.2 M for Inception v3
        ("torchvision: googlenet", "6.62", "1.50", f"torchvision: {WITHOUT % 'googlenet'}"),
        (f"torchvision: {WITHOUT % 'googlenet'}", "13.0", "1.50", "torchvision: googlenet"),
        (
            "torchvision: inception_v3, image: 299",
            "23.83",
            "5.71",
            f"torchvision: {WITHOUT % 'inception_v3'}, image: 299",
        ),
        ("timm: inception_v3", "27.2", "5.71", "torchvision: inception_v3"),
    ],
)
def test_a_model_without_its_auxiliary_classifiers_is_named(
    tmp_path: Path, model: str, params: str, flops: str, named: str
) -> None:
    found = checks(tmp_path, f"{{{model}}}", params, flops)
    assert found["flops"].verdict is Verdict.REPRODUCED
    assert hint(found["params"]).startswith(f"as printed with `model: {{{named}}}`")


@pytest.mark.parametrize("library", ["timm", "torchvision"])
@pytest.mark.parametrize(
    ("name", "params", "flops"),
    [
        # Table 4 of arXiv 1807.06521. Strides in the first convolutions save 3 x 77,070,336 of the work:
        # 4,089,184,256 - 231,211,008 = 3,857,973,248, and 7,801,405,440 - 231,211,008 = 7,570,194,432;
        # of a ResNeXt's, which are twice as wide, 3 x 154,140,672: 4,230,479,872 - 462,422,016 = 3,768,057,856
        ("resnet50", "25.56", "3.858"),
        ("resnet101", "44.55", "7.570"),
        ("resnext50_32x4d", "25.03", "3.768"),
    ],
)
def test_resnets_as_they_were_published_first_are_named(
    tmp_path: Path, library: str, name: str, params: str, flops: str
) -> None:
    found = checks(tmp_path, f"{{{library}: {name}, image: 224}}", params, flops)
    assert found["params"].verdict is Verdict.REPRODUCED
    first = f"{{{library}: {name}, image: 224, stride_in_1x1: true}}"
    assert hint(found["flops"]).startswith(f"as printed with `model: {first}`")


@pytest.mark.parametrize(
    ("name", "params", "flops", "form"),
    [
        # Table 4 of arXiv 2101.03697: a number fewer for each of 26,560 channels, and strides in 1x1 convolutions
        ("resnet50", "25.53", "3.9", "form: deployed, stride_in_1x1: true"),  # of 25,557,032 numbers
        ("resnext50_32x4d", "24.99", "4.2", "form: deployed"),  # 34,112 channels of 25,028,904 numbers
    ],
)
@pytest.mark.parametrize("library", ["timm", "torchvision"])
def test_resnets_whose_norms_are_folded_are_named(
    tmp_path: Path, library: str, name: str, params: str, flops: str, form: str
) -> None:
    found = checks(tmp_path, f"{{{library}: {name}, image: 224}}", params, flops)
    named = f"as printed with `model: {{{library}: {name}, image: 224, {form}}}`"
    assert hint(found["params"]).startswith(named)
    assert found["flops"].verdict is Verdict.REPRODUCED or hint(found["flops"]).startswith(named)


def test_a_form_is_named_where_no_rounding_explains_the_other(tmp_path: Path) -> None:
    """ResNet-34 in Table 4 of arXiv 2101.03697, cut off: 21.797672 M parameters, and 21.789160 M deployed."""
    (tmp_path / "p.yaml").write_text(
        HEAD.replace("flops: [macs]", "flops: [macs], rounding: [truncation]")
        + '      - {id: a, label: A, model: {timm: resnet34, image: 224}, printed: {params: "21.78", flops: "3.6"}}\n',
        encoding="utf-8",
    )
    check = audit_file(tmp_path / "p.yaml").checks[0]
    assert hint(check).startswith("as printed with `model: {timm: resnet34, image: 224, form: deployed}`")


def test_digits_that_do_not_tell_two_forms_apart_name_neither(tmp_path: Path) -> None:
    """ResNet-50 has 25.557 M parameters, and 25.530 M without its norms: 25.5 may as well be cut off."""
    check = checks(tmp_path, "{timm: resnet50, image: 224}", "25.5", "4.089")["params"]
    assert check.verdict is Verdict.DIFFERS
    assert "deployed" not in " ".join(check.hint_texts)


def test_a_relative_that_loses_another_number_of_the_row_is_not_named(tmp_path: Path) -> None:
    """On images of 384 a ViT has 380 positions more of 768 numbers: 86.9 M are not 86.6 M."""
    assert "vit_base_patch16_384" in hint(checks(tmp_path, "{timm: vit_base_patch16_224}", "86.9", "55.5")["flops"])
    assert "vit_base_patch16_384" not in hint(checks(tmp_path, "{timm: vit_base_patch16_224}", "86.6", "55.5")["flops"])


def test_nothing_is_named_where_no_size_comes_near(tmp_path: Path) -> None:
    for model in ("{timm: resnet50}", "{timm: {architecture: dm_nfnet_f1, arguments: {alpha: 0.3}}}"):
        check = checks(tmp_path, model, "25.6", "99.9")["flops"]
        assert "`model: {" not in " ".join(check.hint_texts)


def test_nothing_is_tried_of_numbers_that_belong_to_each_others_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = set[Recipe]()

    def note(recipe: Recipe) -> Iterator[Recipe]:
        tried.add(recipe)
        yield from ()

    monkeypatch.setattr(alternatives, "relatives_of", note)
    assert "25.6 fits the column 'Params'" in hint(checks(tmp_path, "{timm: resnet50}", "4.09", "25.6")["flops"])
    assert not tried
    checks(tmp_path, "{timm: resnet50}", "4.09", "25.7")
    assert tried


def test_only_the_first_rows_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alternatives, "_MOST_ROWS", 1)
    rows = [
        f'      - {{id: {name}, label: A, model: {{timm: repvgg_a0}}, printed: {{params: "8.31", flops: "1.4"}}}}\n'
        for name in "ab"
    ]
    (tmp_path / "p.yaml").write_text(HEAD + "".join(rows), encoding="utf-8")
    hinted = {
        check.id
        for check in audit_file(tmp_path / "p.yaml").checks
        if any("deployed" in hint for hint in check.hint_texts)
    }
    assert hinted == {"p/1/a/params", "p/1/a/flops"}


@pytest.mark.parametrize(
    ("title", "classes"),
    [
        ("Accuracy on our data set with 12 classes", 12),
        ("Results on CIFAR-10", 10),
        ("Results on ImageNet-21k", 21841),
        ("T", None),  # 23.53 M may be that of few classes by luck
        ("Results on ImageNet-1k with 1,000 classes", None),
        ("Results on CIFAR-100", None),
    ],
)
def test_the_classes_that_a_table_names_are_tried(tmp_path: Path, title: str, classes: int | None) -> None:
    """ResNet-50 (arXiv 1512.03385) has 23,508,032 parameters before its linear layer of 2048 features."""
    printed = f"{(23_508_032 + 2049 * (classes or 11)) / 1e6:.3f}"
    row = f'      - {{id: a, label: A, model: {{timm: resnet50}}, printed: {{params: "{printed}"}}}}\n'
    (tmp_path / "p.yaml").write_text(HEAD.replace("title: T\n", f"title: {title}\n") + row, encoding="utf-8")
    (check,) = (one for one in audit_file(tmp_path / "p.yaml").checks if one.id == "p/1/a/params")
    assert check.verdict is Verdict.DIFFERS
    named = [one for one in check.hint_texts if one.startswith("as printed with `model: {timm: resnet50, classes:")]
    told = f"as printed with `model: {{timm: resnet50, classes: {classes}}}`"
    assert [one.startswith(told) for one in named] == ([True] if classes else [])
