"""What is proposed first for a label: the model that was meant, or none, never another architecture or version."""

from __future__ import annotations

import pytest

from imlp_audit.models.names.known import Library
from imlp_audit.models.names.match import close_models, family_of, lost_words, same_versions, words_of

from .test_draft import table


def first_of(label: str) -> str | None:
    """Return the recipe of a row with only parameters, or what is proposed first for it."""
    (row,) = table("Model | Params (M)", f"{label} | 1.5").rows
    if row.model.recipe is not None:
        return f"model: {row.model.recipe}"
    return next(iter((*row.model.candidates, *row.model.nearest)), None)


@pytest.mark.parametrize(
    ("label", "first"),
    [
        ("CrossViT-9†", "{timm: crossvit_9_dagger_240}"),
        ("CrossViT-18†", "{timm: crossvit_18_dagger_240}"),
        ("CrossViT-18", "model: {timm: crossvit_18_240}"),
        ("CaiT-S36", "{timm: cait_s36_384, image: 224}"),
        ("CaiT-M36", "{timm: cait_m36_384, image: 224}"),
        ("CaiT-S36↑384", "model: {timm: cait_s36_384}"),
        ("cait_s36_384", "model: {timm: cait_s36_384}"),
        ("NFNet-F3", "model: {timm: nfnet_f3, image: 320}"),  # parameters are the same on all images
        ("VGG-A", "{timm: vgg11}"),
        ("VGG-B", "{timm: vgg13}"),
        ("VGG-D", "{timm: vgg16}"),
        ("VGG-E", "{timm: vgg19}"),
        ("VGG-16 (D)", "model: {timm: vgg16}"),
        ("VGG-19-E", "model: {timm: vgg19}"),
        ("Xception", "{timm: legacy_xception, image: 299}"),
        ("Xception-41", "model: {timm: xception41, image: 299}"),
        ("MobileNet", "{timm: mobilenetv1_100}"),
        ("MobileNet 1.0", "{timm: mobilenetv1_100}"),
        ("MobileNet-V1 1.0", "model: {timm: mobilenetv1_100}"),
        ("MobileNetV2", "{torchvision: mobilenet_v2}"),
        ("ResNet50v2", "{timm: resnetv2_50}"),
        ("ResNet-50-V2", "{timm: resnetv2_50}"),
        ("Res2Net-50", "{timm: res2net50_26w_4s}"),
        ("ViT-G/14", "{timm: vit_gigantic_patch14_224}"),
        ("ViT-g/14", "{timm: vit_giant_patch14_224}"),
        ("GhostNet-V1", "{timm: ghostnet_100}"),
        ("PVTv2-B2", "model: {timm: pvt_v2_b2}"),
        ("EVA-02-Ti", "{timm: eva02_tiny_patch14_224}"),
    ],
)
def test_the_model_that_was_meant_comes_first(label: str, first: str) -> None:
    assert first_of(label) == first


@pytest.mark.parametrize(
    "label",
    [
        "ShuffleNet", "ShuffleNet v1", "ShuffleNet v1 1.0x", "PVT-Small", "PVT-Tiny", "PVTv1-Tiny", "PVTv3-B2",
        "UniFormer-S", "UniFormerV2-B", "BiFormer-T", "HRFormer-S", "Conformer-S", "MViT-B", "MViTv1-B", "MPViT-T",
        "CSWin-T", "Swin-v3-T", "Swin-MLP", "DeiT-II-S", "DeiT-M", "EVA-B", "SAM-B", "EfficientNetV3-S", "Inception-v2",
        "Inception-ResNet-v1", "HRNet-V2-W18", "Visformer-V2-S", "VoVNet-V2-39", "FBNetV2", "PreResNet-50",
        "MnasNet-A3", "iResNet-50", "Res-50", "ResT-Small", "ResTv2-T", "ResNet-164", "ResNet-1001",
        "ViT-22B", "VGG-C", "Nested-S",
    ],
)  # fmt: skip
def test_no_other_architecture_version_or_size_is_proposed(label: str) -> None:
    """None of these is in timm 1.0 or torchvision; each has a name there that looks like it."""
    assert first_of(label) is None


@pytest.mark.parametrize(
    ("label", "first"),
    [
        ("CaiT-S48", "{timm: cait_s24_224}  # without '48' of the label"),
        ("DeiT-S-CBAM", "{timm: deit_small_patch16_224}  # without 'CBAM' of the label"),
        ("Swin-Mixer-B", "{timm: swin_base_patch4_window7_224}  # without 'Mixer' of the label"),
    ],
)
def test_a_proposal_says_what_of_the_label_it_lacks(label: str, first: str) -> None:
    assert first_of(label) == first


def test_images_of_nfnets_are_those_of_the_tests_or_of_training() -> None:
    """arXiv 2102.06171, Table 4 counts on those of the tests."""
    (row,) = table("Model | FLOPs (G)", "NFNet-F0 | 12.38").rows
    assert row.model.candidates == ("{timm: nfnet_f0, image: 256}", "{timm: nfnet_f0, image: 192}")
    assert "trained on images of 192 and tested on 256, and papers count either" in row.model.reason


@pytest.mark.parametrize("caption", ["ImageNet at 224^2", "Models"])
def test_a_name_for_larger_images_is_proposed_for_the_usual_ones_too(caption: str) -> None:
    (row,) = table("Model | FLOPs (G)", "CaiT-S36 | 13.9", caption=caption).rows
    assert row.model.candidates == ("{timm: cait_s36_384, image: 224}", "{timm: cait_s36_384}")
    (row,) = table("Model | Size | FLOPs (G)", "CaiT-S36 | 224^2 | 13.9").rows
    assert row.model.recipe == "{timm: cait_s36_384, image: 224}"


def test_a_model_for_one_size_of_images_is_not_proposed_for_others() -> None:
    (row,) = table("Model | FLOPs (G)", "CrossViT-9† | 2.0", caption="ImageNet at 224^2").rows
    assert row.model.candidates == ("{timm: crossvit_9_dagger_240}", "{timm: crossvit_9_240}")


@pytest.mark.parametrize(
    ("label", "name", "same"),
    [
        ("PVT-Small", "pvt_v2_b0", False),
        ("PVT v2-B9", "pvt_v2_b0", True),
        ("ResNet50v2", "resnetv2_50", True),
        ("ResNet50v2", "resnet50", False),
        ("HRNetV2-W18", "hrnet_w18_small_v2", False),
        ("ConvNeXt V1-T", "convnext_tiny", True),
        ("ViT-B/14", "vit_base_patch14_dinov2", True),
        ("DeiT-S", "deit3_small_patch16_224", False),
        ("DeiT-III-S", "deit_small_patch16_224", False),
        ("Inception-v3", "inception_v4", False),
    ],
)
def test_versions_are_those_of_a_word(label: str, name: str, same: bool) -> None:
    assert same_versions(label, name) is same


def test_words_of_a_label() -> None:
    assert words_of("MobileNetV3-L 1.0x") == ("mobilenet", "v3", "large", "1", "0", "x")
    assert family_of("mobilenetv3_large_100") == "mobilenet"
    assert family_of("Res2Net-50") == "res2net"
    assert lost_words("CaiT-S48-X", "cait_s24_224") == ["48", "X"]


def test_a_name_has_all_words_of_a_label_that_it_is_close_to() -> None:
    assert [name for name, _ in close_models("HRNet-W18", Library.TIMM)] == ["hrnet_w18"]
