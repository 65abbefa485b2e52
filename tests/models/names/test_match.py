"""Labels of published tables and the names they stand for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.models.names.known import Library, current_models
from imlp_audit.models.names.match import is_spelt, names_of, names_of_all_windows, rank, variants_of

TIMM, TORCHVISION = Library.TIMM, Library.TORCHVISION


@pytest.mark.parametrize(
    ("label", "library", "size", "name"),
    [
        ("Swin-T", TORCHVISION, None, "swin_t"),
        ("Swin-B", TIMM, 384, "swin_base_patch4_window12_384"),  # its window is another at this size
        ("DeiT-S", TIMM, 384, "deit_small_patch16_224"),  # the only one; the recipe gives the size
        ("ViT-B/16", TORCHVISION, None, "vit_b_16"),
        ("PVTv2-B1", TIMM, None, "pvt_v2_b1"),
        ("RegNetY-1.6GF", TORCHVISION, None, "regnet_y_1_6gf"),
        ("RegNetY-16GF", TORCHVISION, None, "regnet_y_16gf"),
        ("ResNeXt-101 32x8d", TORCHVISION, None, "resnext101_32x8d"),
        ("ConvNeXt-XL", TIMM, None, "convnext_xlarge"),
        ("EdgeNeXt-XXS", TIMM, None, "edgenext_xx_small"),
        ("MobileViT-XS", TIMM, None, "mobilevit_xs"),
        ("ConvNeXt V2-A", TIMM, None, "convnextv2_atto"),
        ("ConvNeXtV2-N", TIMM, None, "convnextv2_nano"),
    ],
)
def test_a_label_that_stands_for_one_name_is_exact(label: str, library: Library, size: int | None, name: str) -> None:
    assert names_of(label, library, size) == [name]


@pytest.mark.parametrize(
    "label",
    ["DeiT-S*", "ResNet-50 + CBAM", "ResNet-50 (ours)", "ResNet-5", "ResNet50-Tiny", "RegNetY-16GF", "ResNet",
     "Method", "", "-", "模型", "resnet50 // 2", "DeiT-S " * 60],
)  # fmt: skip
def test_a_label_that_says_more_or_less_is_no_name(label: str) -> None:
    assert names_of(label, TIMM) == []


@pytest.mark.parametrize(
    ("label", "names"),
    [
        ("ViT-B", {"vit_base_patch8_224", "vit_base_patch16_224", "vit_base_patch32_224"}),
        ("GhostNet", {"ghostnet_050", "ghostnet_100", "ghostnet_130"}),
        ("LeViT", {"levit_128", "levit_192", "levit_256", "levit_384", "levit_512"}),
    ],
)
def test_sizes_of_patches_and_widths_may_be_left_out(label: str, names: set[str]) -> None:
    assert set(names_of(label, TIMM)) == names


@pytest.mark.parametrize(
    ("label", "size", "first"),
    [
        ("RegNetY-040 tuned", None, "regnety_040"),  # before regnety_040_sgn
        ("ResMLP-B24", None, "resmlp_big_24_224"),
        ("CaiT-S24 tuned", 384, "cait_s24_384"),
        ("SE-ResNeXt-50", None, "seresnext50_32x4d"),
    ],
)
def test_the_first_of_similar_names_shares_most_words_and_the_size(label: str, size: int | None, first: str) -> None:
    assert rank(label, side=size)[0][1] == (TIMM, first)


@pytest.mark.parametrize("label", ["Foo", "XYZ-base", "", "-", "16", "Method"])
def test_a_label_without_a_word_of_a_family_has_no_similar_names(label: str) -> None:
    assert rank(label) == []


def test_names_that_differ_a_little_are_known() -> None:
    assert variants_of("deit_tiny_patch16_224", TIMM) == ["deit_tiny_distilled_patch16_224"]
    windows = names_of_all_windows("swin_base_patch4_window7_224", TIMM)
    assert windows == ["swin_base_patch4_window12_384", "swin_base_patch4_window7_224"]


@pytest.mark.parametrize("library", Library)
def test_every_name_stands_for_itself(library: Library) -> None:
    names = current_models(library)
    assert {name for name in names if names_of(name, library) != [name]} == set()


@given(st.sampled_from(sorted(current_models(TIMM))), st.sampled_from("- _/"), st.booleans())
def test_separators_and_cases_change_nothing(name: str, separator: str, upper: bool) -> None:
    label = name.replace("_", separator)
    assert names_of(label.upper() if upper else label, TIMM) == [name]


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_answered_with_names_of_the_libraries(label: str, context: str) -> None:
    for library in Library:
        assert set(names_of(label, library)) <= current_models(library)
    for _, (library, name) in rank(label, context):
        assert name in current_models(library)


@pytest.mark.parametrize(
    ("label", "name", "begins", "whole"),
    [
        ("Swin-T", "swin_tiny_patch4_window7_224", True, True),
        ("Swin-T with ours", "swin_tiny_patch4_window7_224", True, False),
        ("Agent-Swin-S", "swin_small_patch4_window7_224", False, False),
        ("tf_efficientnet_b5_ns *tfp", "tf_efficientnet_b5", True, True),  # weights, and a remark
        ("ShuffleNetV2", "shufflenet_v1", False, False),
    ],
)
def test_a_label_spells_a_name_from_its_first_word_on(label: str, name: str, begins: bool, whole: bool) -> None:
    assert (is_spelt(label, name), is_spelt(label, name, whole=True)) == (begins, whole)
