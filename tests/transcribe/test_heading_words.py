"""A column of parameters or FLOPs is taken only where its heading names nothing besides the row's model."""

from __future__ import annotations

from pathlib import Path

import pytest

from imlp_audit.transcribe.draft import draft_table
from imlp_audit.transcribe.sources import read_source
from imlp_audit.transcribe.write import decisions_of
from tests.transcribe.test_draft import recipes, table

OTHERS = {  # a heading, and what it names
    "SENet GFLOPs": "SENet", "SE GFLOPs": "SE", "SE Params (M)": "SE", "SE-ResNet GFLOPs": "SE-ResNet",
    "ResNeXt GFLOPs": "ResNeXt", "ResNet-50 GFLOPs": "ResNet-50", "Swin-B FLOPs (G)": "Swin-B", "B FLOPs (G)": "B",
    "Mask R-CNN GFLOPs": "Mask R-CNN", "Student GFLOPs": "Student", "Teacher GFLOPs": "Teacher",
    "Train GFLOPs": "Train", "FLOPs (train)": "train", "Baseline GFLOPs": "Baseline", "Pruned FLOPs": "Pruned",
    "Detector Params (M)": "Detector", "Head Params (M)": "Head", "Backbone Params (M)": "Backbone",
    "Encoder_params": "Encoder", "Trainable params": "Trainable", "Add. Params (M)": "Add", "Active params": "Active",
    "10-crop FLOPs (G)": "10-crop", "GFLOPs 50": "50", "FLOPs (G) v2": "v2", "Params (50%)": "50%",
    "ImageNet-21K Params (M)": "ImageNet-21K", "CIFAR-10 Params (M)": "CIFAR-10", "骨干网络 Params (M)": "骨干网络",
}  # fmt: skip
PLAIN = (
    "Params", "Params (M)", "Params. (M)", "#param.", "#Params", "# params (x10^6)", "#P", "#P (M)", "num_params",
    "params_b", "Number of parameters", "No. of Params", "# of Params", "nb params (×10^6)", "Parameters [millions]",
    "Million Parameters", "Params (1000)", "Params (×1e6)", "Param. (×10^{6})", "Params [12, 13] (M)", "Params^†",
    "Params (M)*", "Model size (M params)",
    "#Params / model size (M)", "Weights (M)", "Total Params", "Orig. Params (M)", "Params of model",
    "Cost Params (M)", "ImageNet Params (M)", "ImageNet-1K Params (M)", "Anzahl Parameter", "参数量 Params (M)",
    "FLOPs", "GFLOPs", "Flops (G)", "FLOPs (G)↓", "FLOPs (×10⁹)", "FLOPs (10^9)", "FLOPs (G) Original", "M MACs",
    "MACs (G)", "GMACs", "MAdds", "#MAdd (M)", "Mult-Adds (M)", "Million Mult-Adds", "Multi-Adds",
    "Multiply-accumulates (G)",
    "Comp. (GFLOPs)", "Computational cost (GMACs)", "Theo FLOPs (B)", "Theoretical FLOPs", "FLOPs in B",
    "Inference FLOPs", "Single-crop GFLOPs", "FLOPs per image", "FLOPs/image (G)", "FLOPs (thop)",
    "FLOPs (224×224)", "FLOPs (x10^9) @384", "FLOPs (G) ↑384", "FLOPs at 448 (G)", "FLOPs at input size 224^2",
)  # fmt: skip


@pytest.mark.parametrize(("heading", "named"), OTHERS.items())
def test_a_heading_that_names_more_than_the_model_leaves_its_column_out(heading: str, named: str) -> None:
    draft = table(f"Model | {heading} | Top-1", "ResNet-50 | 4.1 | 76.1", "VGG-16 | 15.5 | 71.6")
    assert list(draft.columns.slugs.values()) == ["top1"]
    assert f"{heading!r} is left out: its heading names more than the model: {named!r}" in decisions_of(draft)


def test_a_size_beside_another_word_is_that_of_the_column_to_add() -> None:
    lines = ("Model | GFLOPs @384/8 | SE GFLOPs", "XCiT-N12 | 6.4 | 6.5")
    first, second = (one for one in decisions_of(table(*lines)) if "names more than the model" in one)
    assert first.endswith(
        "'/8'; if it is of the rows' models, add the column with `image: 384` (docs/spec-format.md, Columns)"
    )
    assert second.endswith("'SE'")


@pytest.mark.parametrize("heading", ["Model size (M)", "Size (M)", "Model Size [M]", "Model_size (M) ↓", "Size, M"])
def test_a_size_in_m_may_be_megabytes(heading: str) -> None:
    draft = table(f"Model | {heading} | Top-1", "ResNet-18 | 46.8 | 69.8", "ResNet-50 | 97.8 | 76.1")
    assert list(draft.columns.slugs.values()) == ["top1"]
    assert recipes(draft) == ["{timm: resnet18}", "{timm: resnet50}"]
    (doubt,) = (one for one in decisions_of(draft) if heading in one)
    assert "may be in megabytes or in millions of parameters" in doubt


@pytest.mark.parametrize("heading", PLAIN)
def test_a_heading_of_the_measure_alone_is_taken(heading: str) -> None:
    draft = table(f"Model | {heading}", "ResNet-50 | 4.1", "VGG-16 | 15.5")
    assert set(draft.columns.slugs.values()) < {"params", "flops"}
    assert draft.columns.slugs


def test_the_models_own_column_stays_beside_that_of_another_model() -> None:
    draft = table("Model | GFLOPs | SENet GFLOPs", "ResNet-50 | 4.1 | 4.1", "VGG-16 | 15.5 | 15.5")
    assert draft.columns.slugs == {1: "flops"}
    assert [row.numbers.printed for row in draft.rows] == [{"flops": "4.1"}, {"flops": "15.5"}]


@pytest.mark.parametrize(("over", "columns"), [("ImageNet", ["params", "flops"]), ("SENet", []), ("COCO", [])])
def test_a_heading_over_several_columns_may_name_another_model(tmp_path: Path, over: str, columns: list[str]) -> None:
    source = tmp_path / "x.html"
    source.write_text(
        f"<table><tr><th rowspan=2>Model<th colspan=2>{over}</tr><tr><th>Params (M)<th>FLOPs (G)</tr>"
        "<tr><td>ResNet-50<td>25.6<td>4.1</tr><tr><td>VGG-16<td>138.4<td>15.5</tr></table>"
    )
    (found,) = read_source(source).tables
    assert found.headings == ("Model", f"{over} Params (M)", f"{over} FLOPs (G)")
    assert list(draft_table(found).columns.slugs.values()) == columns


@pytest.mark.parametrize(
    ("heading", "size"),
    [
        ("FLOPs @384", 384), ("FLOPs (384^2)", 384), ("FLOPs (384)", 384), ("FLOPs (G) ↑384²", 384),
        ("FLOPs at 448 (G)", 448), ("FLOPs 384×384 (G)", 384), ("FLOPs (1000)", None), ("FLOPs (10^9)", None),
    ],
)  # fmt: skip
def test_a_heading_of_flops_gives_the_size_of_the_images(heading: str, size: int | None) -> None:
    assert table(f"Model | {heading}", "DeiT-B | 55.5").columns.sizes == {"flops": size}


@pytest.mark.parametrize("size", ["↑ 384", "↑ 384^2", "↑384²", "↑ 384×384", "@384^2", "@ 384", "384x384", "384²"])
def test_a_label_gives_the_size_of_the_images(size: str) -> None:
    draft = table("Model | FLOPs (G)", f"DeiT-B {size} | 55.5")
    assert recipes(draft) == ["{timm: deit_base_patch16_384}"]


@pytest.mark.parametrize("size", ["↑ 384×224", "@384x288"])
def test_images_that_are_not_square_leave_the_row_without_a_model(size: str) -> None:
    assert recipes(table("Model | FLOPs (G)", f"DeiT-B {size} | 55.5")) == [None]


@pytest.mark.parametrize("heading", ["Params (%)", "FLOPs %", "FLOPs (×)", "Params (x)"])
def test_a_share_of_another_number_is_no_total(heading: str) -> None:
    draft = table(f"Model | {heading} | Top-1", "ResNet-50 | 51.4 | 76.1", "VGG-16 | 15.5 | 71.6")
    assert list(draft.columns.slugs.values()) == ["top1"]
    assert f"{heading!r} is left out: it is a share of another number, and not a total" in decisions_of(draft)
