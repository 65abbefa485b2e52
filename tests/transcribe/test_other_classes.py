"""A table that may be about models of other classes than ImageNet's 1000 gives none; the usual tables keep theirs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from imlp_audit.models.names.data_sets import names_imagenet, other_data_sets, without_pretraining
from imlp_audit.transcribe.draft import draft_table
from imlp_audit.transcribe.write import decisions_of
from tests.transcribe.test_draft import recipes, table

_ROW = "ResNet-50 | 23.5"


def candidates(caption: str, headings: str = "Acc.") -> tuple[str, ...] | None:
    """Return what a row may be, None where it has its model."""
    cells = " | 90.1" * len(headings.split("|"))
    draft = table(f"Model | Params (M) | {headings}", f"{_ROW}{cells}", caption=caption)
    (row,) = draft.rows
    return row.model.candidates if row.model.recipe is None else None


@pytest.mark.parametrize(
    ("caption", "headings", "classes"),
    [
        ("Medical image classification: AUC on CheXpert and HAM10000.", "AUC | Acc.", [7]),
        ("Deepfake detection: frame-level accuracy on FaceForensics++.", "Acc.", [2]),
        ("Classification accuracy on our data set with 12 classes.", "Acc.", [12]),
        ("A 12-class problem", "Top-1", [12]),
        ("ImageNet-22K pre-training (21,841 classes).", "Acc.", [21841]),
        ("ImageNet-21K (21k classes).", "Acc.", [21841]),
        ("A subset of ImageNet with 100 classes", "Top-1", [100]),
        ("Comparison of our regularizer across architectures.", "C10 | C100", [10, 100]),
        ("Test accuracy on small data sets.", "C-10 | SVHN | T-ImageNet", [10, 200]),
        ("Results.", "Flowers-102 | Oxford Pets", [37, 102]),
        ("Transfer from ImageNet-21k to Flowers, Pets, Cars.", "Flowers | Pets | Cars", [37, 102, 196]),
        ("Main results.", "Acc. | CIFAR-10", [10]),
        ("ImageNet and CIFAR-100", "Top-1", [100]),
        ("Results on iNaturalist 2018 and Places365", "Top-1", [365, 8142]),
        ("Results on Tiny ImageNet", "Top-1", [200]),
        ("Results on mini-ImageNet", "Acc.", [100]),
        ("Results on ImageNet-100", "Top-1", [100]),
        ("Fine-tuned on Stanford Cars with ImageNet weights", "Acc.", [196]),
        ("Accuracy on PlantVillage", "Acc.", []),
        ("Results of our model on MegaFace", "Acc.", []),
        ("Results with weights pre-trained on ImageNet", "AUC", []),
        ("Chest X-rays", "Acc.", []),
        ("Accuracy on our dataset", "Acc.", []),
        ("Results", "F1 | Sensitivity", []),
    ],
)  # fmt: skip
def test_other_data_sets_classes_and_tasks_leave_the_models_open(
    caption: str, headings: str, classes: list[int]
) -> None:
    found = candidates(caption, headings)
    assert found is not None
    plain = [one for one in found if "classes" not in one]
    assert [f"{{timm: resnet50, classes: {number}}}" for number in classes] + plain == list(found)
    assert plain[0] == "{timm: resnet50}"


@pytest.mark.parametrize(
    ("caption", "headings"),
    [
        ("", "Top-1"),
        ("Main results.", "Acc."),
        ("Comparison with the state of the art.", "Top-1 | Top-5"),
        ("Comparison with SOTA methods on V100.", "Top-1"),
        ("Results measured on an NVIDIA A100 and on TPUv3", "Top-1"),
        ("Comparison of throughput on RTX3090", "Top-1"),
        ("Results of Our Method on ResNet-50", "Top-1"),
        ("Evaluation on ImageNet.", "Acc."),
        ("Evaluation on ILSVRC 2012.", "Acc."),
        ("IN-1K results", "Top-1"),
        ("ImageNet-1K (1000 classes)", "Top-1"),
        ("The ImageNet dataset has 1,000 classes", "Top-1"),
        ("Comparison on the ImageNet dataset at 224x224.", "Top-1"),
        ("Models pre-trained on ImageNet-21k", "Top-1"),
        ("Models pre-trained on ImageNet-22k and fine-tuned on ImageNet-1k (21,841 classes)", "Top-1"),
        ("ImageNet-1K; ImageNet-22K pre-trained weights", "Top-1"),
        ("Pre-trained on ImageNet-21k, JFT-300M and CIFAR-100", "Top-1"),
        ("Image classification", "ImageNet | CIFAR-10 | CIFAR-100 | Cars"),
        ("Results on ImageNet, transfer in the last columns", "Top-1 | C10 | Flowers"),
        ("Results on ImageNet-V2, ImageNet-ReaL and ImageNet-A", "Top-1"),
        ("Trained in 100 epochs", "Top-1"),
        ("ImageNet 100 epochs", "Top-1"),
        ("FLOPs at 224", "GFLOPs"),
    ],
)
def test_the_usual_tables_keep_their_models(caption: str, headings: str) -> None:
    assert candidates(caption, headings) is None


def test_a_heading_between_rows_may_name_a_data_set() -> None:
    lines = (
        "ImageNet |",
        "ResNet-50 | 25.6",
        "CIFAR-100 |",
        "ResNet-18 | 11.2",
        "ImageNet-21k pre-trained |",
        "DeiT-S | 22",
    )
    draft = table("Model | Params (M)", *lines, caption="Results")
    assert recipes(draft) == ["{timm: resnet50}", None, "{timm: deit_small_patch16_224}"]
    assert draft.rows[1].model.candidates[0] == "{timm: resnet18, classes: 100}"


def test_a_note_may_state_the_classes() -> None:
    found = table("Model | Params (M)† | Acc.", f"{_ROW} | 90", caption="Results").table
    assert recipes(draft_table(found)) == ["{timm: resnet50}"]
    noted = replace(found, marks=(("†", "With a head of 12 classes."),))
    assert draft_table(noted).rows[0].model.candidates[0] == "{timm: resnet50, classes: 12}"


def test_the_reason_says_how_to_give_the_classes() -> None:
    draft = table("Model | Params (M) | Acc.", f"{_ROW} | 90", caption="Accuracy on our data set with 12 classes")
    reason = draft.rows[0].model.reason
    assert reason.startswith("the table speaks of 12 classes, and the libraries' models have 1000 classes")
    assert "`--classes`" in reason
    assert "`classes:`" in reason
    assert any(reason in one for one in decisions_of(draft))


@pytest.mark.parametrize(
    ("classes", "recipe"), [(12, "{timm: resnet50, classes: 12}"), (1000, "{timm: resnet50}"), (None, None)]
)
def test_a_person_gives_the_classes(classes: int | None, recipe: str | None) -> None:
    found = table("Model | Params (M) | Acc.", f"{_ROW} | 90", caption="Accuracy on MegaFace").table
    draft = draft_table(found, classes=classes)
    assert recipes(draft) == [recipe]
    assert (f"models have {classes} classes, as --classes says" in decisions_of(draft)) == (classes is not None)


def test_classes_do_not_settle_models_of_small_images_or_of_other_tasks() -> None:
    """Models for CIFAR often begin with a convolution of 3x3 and stride 1, and detectors have other parts."""
    for caption, heading in (("Results on CIFAR-10", "Acc."), ("Results", "C10"), ("Detection on COCO", "AP")):
        found = table(f"Model | Params (M) | {heading}", f"{_ROW} | 90", caption=caption).table
        (row,) = draft_table(found, classes=10).rows
        assert row.model.recipe is None
        assert row.model.candidates[0] == "{timm: resnet50, classes: 10}"


def test_data_sets_that_models_were_only_pre_trained_on_do_not_count() -> None:
    for text in (
        "pre-trained on ImageNet-21k", "ImageNet-22K pre-training", "pretrained with the JFT-300M",
        "with CIFAR-10 weights", "initialized from ImageNet-21k", "transferred from ImageNet-21k",
    ):  # fmt: skip
        rest = without_pretraining(f"Results, {text}")
        assert not names_imagenet(rest)
        assert other_data_sets(rest) == ()


@pytest.mark.parametrize("heading", ["T-ImageNet", "Tiny-ImageNet", "IN-100 top-1", "ImageNet-100", "CIFAR-10 acc"])
def test_a_score_on_another_data_set_is_none_on_imagenet(heading: str) -> None:
    draft = table(f"Model | Params (M) | {heading}", f"{_ROW} | 90", caption="Results on ImageNet")
    assert all("imagenet-1k" not in dict(guess.fields).values() for guess in draft.columns.guesses)


_PARTS = ("Backbone", "Backbones", "Encoder", "Image encoder", "Image-Encoder†", "Feature extractor", "Visual backbone")
_WHOLE = ("Model", "Network", "Architecture", "Encoder-free model", "Method", "")


def headed(heading: str, caption: str, score: str = "Score", classes: int | None = None) -> str | None:
    """Return the recipe of a row below a heading of labels."""
    found = table(f"{heading} | Params (M) | {score}", "ResNet-50 | 32.5 | 4.6", caption=caption).table
    (row,) = draft_table(found, classes=classes).rows
    assert row.model.recipe or row.model.candidates[0] == "{timm: resnet50}"
    return row.model.recipe


@pytest.mark.parametrize("heading", _PARTS)
@pytest.mark.parametrize("caption", ["Main results.", "Grasping with networks that were pre-trained on ImageNet", ""])
def test_a_label_below_the_heading_of_a_part_may_be_a_part_of_the_model(heading: str, caption: str) -> None:
    assert headed(heading, caption) is None
    assert headed(heading, caption, score="Acc.") is None


@pytest.mark.parametrize("heading", _PARTS)
@pytest.mark.parametrize(
    ("caption", "score"),
    [("Results on ImageNet", "Acc."), ("IN-1K", "Acc."), ("ILSVRC 2012", "Acc."), ("", "ImageNet"), ("", "Top-1 (%)")],
)
def test_a_backbone_in_a_table_of_imagenet_is_the_whole_model(heading: str, caption: str, score: str) -> None:
    assert headed(heading, caption, score) == "{timm: resnet50}"


@pytest.mark.parametrize("heading", _WHOLE)
def test_a_label_below_another_heading_is_the_model(heading: str) -> None:
    assert headed(heading, "Main results.") == "{timm: resnet50}"


def test_classes_that_a_person_gives_say_that_a_backbone_is_a_classifier() -> None:
    assert headed("Backbone", "Main results.", classes=1000) == "{timm: resnet50}"
    assert headed("Backbone", "Depth estimation on KITTI", classes=1000) is None


@pytest.mark.parametrize(
    "caption",
    [
        "Monocular depth estimation on KITTI.", "Human pose estimation", "Optical flow", "Image captioning",
        "Visual question answering", "VQA v2", "Visual tracking", "Crowd counting", "Scores of 26 Atari games",
    ],
)  # fmt: skip
def test_other_tasks_leave_the_models_open(caption: str) -> None:
    assert headed("Model", caption) is None


@pytest.mark.parametrize(
    ("caption", "score"),
    [
        ("Zero-shot ImageNet accuracy", "Top-1"), ("CLIP models on ImageNet", "Top-1"), ("OpenCLIP, ImageNet", "Top-1"),
        ("SigLIP on ImageNet", "Top-1"), ("ImageNet", "Zero-shot top-1"), ("ImageNet", "CLIP top-1"),
        ("Vision-language models on ImageNet", "Top-1"), ("Image-text pairs; ImageNet", "Top-1"),
        ("Contrastive language-image models on ImageNet", "Top-1"), ("CLIP-pretrained models on ImageNet", "Top-1"),
    ],
)  # fmt: skip
def test_models_of_images_and_text_are_left_open_also_on_imagenet(caption: str, score: str) -> None:
    assert headed("Image encoder", caption, score) is None
    assert headed("Model", caption, score) is None
    assert headed("Model", caption, score, classes=1000) is None


@pytest.mark.parametrize(
    "caption",
    [
        "ImageNet, gradient clipping", "ImageNet, clip 1.0", "ImageNet. Zero-shot NAS", "ImageNet, images and text",
        "Zero-shot proxies of ImageNet accuracy", "Contrastive learning on ImageNet", "ImageNet, vision models",
    ],
)  # fmt: skip
def test_other_words_do_not_make_models_of_images_and_text(caption: str) -> None:
    assert headed("Model", caption, "Top-1") == "{timm: resnet50}"


def test_a_heading_between_rows_may_say_clip() -> None:
    lines = ("Supervised |", "ResNet-101 | 44.5", "CLIP |", "ResNet-50 | 102")
    assert recipes(table("Model | Params (M)", *lines)) == ["{timm: resnet101}", None]
