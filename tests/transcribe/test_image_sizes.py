"""Where the size of a row's images comes from: a column, the caption, or nowhere."""

from __future__ import annotations

import pytest

from imlp_audit.transcribe.draft import draft_table
from imlp_audit.transcribe.sides import find_oblong, find_size
from imlp_audit.transcribe.write import DraftPaper, decisions_of, write_spec
from tests.transcribe.test_draft import recipes, table

ROWS = ("DeiT-S | 224 | 4.6", "Swin-B | 384 | 47.1", "ResNet-50 | 224 | 4.1")
SIZED = ["{timm: deit_small_patch16_224}", "{timm: swin_base_patch4_window12_384}", "{timm: resnet50, image: 224}"]


@pytest.mark.parametrize("odd", ["224 / 384", "224/384", "224→384", "224^2, 384^2", "224 and 384", "multi", "2242"])
def test_a_cell_that_is_not_one_size_leaves_only_its_row_open(odd: str) -> None:
    draft = table("Model | Size | FLOPs (G)", *ROWS, f"Swin-T | {odd} | 4.5")
    assert recipes(draft) == [*SIZED, None]
    assert draft.rows[3].model.reason == f"the column 'Size' says {odd!r}, which is not one size of images"
    assert "{timm: swin_tiny_patch4_window7_224}" in draft.rows[3].model.candidates
    assert draft.unsized == frozenset()


def test_a_row_of_several_sizes_is_proposed_for_each() -> None:
    draft = table("Model | Size | FLOPs (G)", *ROWS, "Swin-B | 224/384 | 15.4", caption="At 512^2")
    assert draft.rows[3].model.candidates == (
        "{timm: swin_base_patch4_window7_224}", "{timm: swin_base_patch4_window12_384}"
    )  # fmt: skip


def test_a_row_without_a_size_does_not_keep_the_others_from_being_checked() -> None:
    draft = table("Model | Size | FLOPs (G)", *ROWS, "Swin-T | - | 4.5")
    assert recipes(draft) == [*SIZED, None]
    assert "--image 224" in draft.rows[3].model.reason
    assert draft.unsized == frozenset()
    given = draft_table(draft.table, given=224)
    assert recipes(given) == [*SIZED, "{timm: swin_tiny_patch4_window7_224}"]
    few = table("Model | Size | FLOPs (G)", "DeiT-S | 224 | 4.6", "ResNet-50 | | 4.1", "Swin-T | | 4.5")
    assert few.unsized == {"flops"}  # one decision for all of them


@pytest.mark.parametrize(
    "heading",
    ["Res.", "Res (px)", "Res. (pixels)", "Resolution [px]", "Input (px)", "Img. size", "Test res.", "im. res", "Px"],
)
def test_a_heading_of_pixels_is_that_of_sizes(heading: str) -> None:
    draft = table(f"Model | {heading} | FLOPs (G)", *ROWS, "ResNet-50 | 384 | 12.1")
    assert recipes(draft) == [*SIZED, "{timm: resnet50, image: 384}"]
    assert decisions_of(draft) == []


def test_a_column_of_small_sizes_may_be_one_of_parameters() -> None:
    draft = table("Model | Size | FLOPs (G)", "ConvNeXt-T | 28 | 4.5", "ConvNeXt-B | 198 | 34.4")
    assert draft.columns.size is None
    assert "columns that were not understood: Size" in decisions_of(draft)
    assert table("Model | Image size | FLOPs (G)", "ResNet-18 | 32 | 0.04").columns.size == 1


@pytest.mark.parametrize(
    ("caption", "size"),
    [
        ("Results on ImageNet at 224.", 224),
        ("Top-1 at resolution 224, after 300 epochs", 224),
        ("with an input resolution of 224 and 300 epochs", 224),
        ("Models with inputs of 224 pixels (Table 3)", 224),
        ("ImageNet-1K, 224x224 images, batch size 256", 224),
        ("Trained in 2021 at 224.", 224),
        ("Patches of 16x16, images of 384^2", 384),
        ("FLOPs on images of size 224", 224),
        ("with inputs of size 224 and 300 epochs", 224),
        ("at 224, except where noted", 224),
        ("for 224-pixel images", 224),
        ("with 224-sized inputs", 224),
        ("a 224 center crop", 224),
        ("at resolution 256^2", 256),
        ("(224x224 input)", 224),
        ("for 256 images in a batch", None),
        ("512 input channels", None),
        ("16-pixel patches", None),
        ("Trained at 224 and tested at 384", None),
        ("At 224 and 384", None),
        ("At 224/384", None),
        ("Resolution 224, ↑384 is larger", None),
        ("Accuracy at 300 epochs", None),
        ("Throughput at 256 on one GPU", None),
        ("ImageNet with a batch size of 256", None),
        ("CNNs at 600M and at 400 MFLOPs", None),
        ("ViTs with 32x32 patches", None),
        ("Images of 1000 classes", None),
        ("ImageNet-1K. Throughput is measured on 224x224 images.", None),
        ("Latency on a V100 with 384^2 images", None),
        ("FLOPs and throughput are measured on 224x224 images.", 224),
        ("Throughput and FLOPs are measured on 224x224 images.", 224),
        ("Models tested at 224x224; throughput on a V100.", 224),
        ("Throughput on a V100. FLOPs on 224x224 images.", 224),
        ("Images of 224x192", None),
    ],
)
def test_a_caption_gives_a_size_where_it_gives_one_alone(caption: str, size: int | None) -> None:
    assert find_size(caption) == size


def test_several_flops_of_a_label_are_not_called_sizes() -> None:
    """Sizes would be taken for those of images."""
    (first, _) = table("Model | FLOPs (G)", "ViT-B/16 | 17.6", "ViT-B/16 | 55.5").rows
    assert first.model.reason == (
        "the source prints several FLOPs for 'ViT-B/16' (17.6, 55.5), so it is not one model on images of one size"
    )


_OPEN = ("VGG-16 | 0.31 | 15.0", "ResNet-50 | 1.30 | 23.5")


def test_flops_of_rows_with_candidates_alone_need_the_size_too() -> None:
    draft = table("Model | FLOPs (G) | Params (M)", *_OPEN, caption="Results on CIFAR-10")
    assert recipes(draft) == [None, None]
    assert draft.unsized == {"flops"}
    assert draft_table(draft.table, given=32).unsized == frozenset()
    assert table("Model | FLOPs (G) | Params (M)", *_OPEN, caption="CIFAR-10 at 32x32").unsized == frozenset()


def test_flops_of_rows_without_any_candidate_of_images_need_no_size() -> None:
    draft = table("Model | FLOPs (G)", "BERT-Large | 300", "MyNet | 4.1", caption="Models")
    assert recipes(draft) == [None, None]
    assert draft.unsized == frozenset()


def test_a_few_open_rows_do_not_keep_flops_from_being_checked() -> None:
    draft = table("Model | FLOPs (G)", "DeiT-S@224 | 4.6", "DeiT-B@384 | 55.5", "ResNet-50† | 4.1")
    assert draft.unsized == frozenset()
    assert recipes(draft)[2] is None


@pytest.mark.parametrize(
    ("caption", "sides"),
    [
        ("The GFLOPs is calculated on the input size 1024 ×2048.", (1024, 2048)),
        ("FLOPs at 800x1280", (800, 1280)),
        ("FLOPs at 800x1280, trained at 512^2", None),
        ("FLOPs at 800x1280 and at 1024x2048", None),
        ("FLOPs at 224x224", None),
        ("Throughput is measured at 800x1280", None),
        ("Patches of 128x256", None),
        ("8x16 GPUs and 4x100 epochs", None),
        ("Volumes of 128x128x64 or 160x192x224", None),
    ],
)
def test_a_caption_may_give_images_that_are_not_square(caption: str, sides: tuple[int, int] | None) -> None:
    assert find_oblong(caption) == sides


def test_flops_on_images_that_are_not_square_have_a_column_of_them() -> None:
    caption = "ImageNet models; FLOPs at 512x1024"
    draft = table(
        "Model | Params (M) | FLOPs (G)", "ResNet-50 | 25.6 | 42.8", "ResNet-18 | 11.7 | 18.9", caption=caption
    )
    assert recipes(draft) == ["{timm: resnet50}", "{timm: resnet18}"]
    assert draft.unsized == frozenset()
    text = write_spec(draft, DraftPaper("a", "A", "B", "v1"))
    assert "flops: {measure: flops, unit: G, heading: FLOPs (G), image: [512, 1024]}" in text
    assert "params: {measure: parameters, unit: M, heading: Params (M)}" in text
    assert decisions_of(draft) == [
        "FLOPs are counted on images of 512 x 1024, the size that the caption gives, for all rows"
    ]
    given = draft_table(draft.table, given=224)
    assert recipes(given)[0] == "{timm: resnet50, image: 224}"
    assert "image: [" not in write_spec(given, DraftPaper("a", "A", "B", "v1"))


@pytest.mark.parametrize("heading", ["Finetune res.", "Fine-tuning resolution", "Ft. size", "Pretrain res."])
def test_models_are_counted_on_the_images_of_the_last_training(heading: str) -> None:
    head = f"Model | Pretrain resolution | {heading} | FLOPs (G)"
    draft = table(head, "ViT-B/16 | 224 | 384 | 55.5", "Swin-B | 224 | 384 | 47.1")
    fine = not heading.startswith("Pre")
    assert recipes(draft) == (
        ["{timm: vit_base_patch16_384}", "{timm: swin_base_patch4_window12_384}"] if fine else [None, None]
    )
