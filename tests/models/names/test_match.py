"""Labels of published tables and the names they stand for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.models.names.known import Library, current_models
from imlp_audit.models.names.match import Confidence, close_models, families_in, names_of_all_sizes

TIMM, TORCHVISION, EXACT = Library.TIMM, Library.TORCHVISION, Confidence.EXACT


@pytest.mark.parametrize(
    ("label", "library", "size", "name"),
    [
        ("ResNet-50", TIMM, None, "resnet50"),
        ("DeiT-S", TIMM, None, "deit_small_patch16_224"),
        ("DeiT-Ti", TIMM, None, "deit_tiny_patch16_224"),
        ("Swin-T", TIMM, None, "swin_tiny_patch4_window7_224"),
        ("Swin-T", TORCHVISION, None, "swin_t"),
        ("Swin-B", TIMM, 384, "swin_base_patch4_window12_384"),  # its window is another at this size
        ("DeiT-S", TIMM, 384, "deit_small_patch16_224"),  # the only one; the recipe gives the size
        ("ViT-B/16", TIMM, None, "vit_base_patch16_224"),
        ("ViT-B/16", TORCHVISION, None, "vit_b_16"),
        ("PVT v2-B1", TIMM, None, "pvt_v2_b1"),
        ("PVTv2-B1", TIMM, None, "pvt_v2_b1"),
        ("CaiT-S24", TIMM, None, "cait_s24_224"),
        ("XCiT-S12/16", TIMM, None, "xcit_small_12_p16_224"),
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
    assert close_models(label, library, size) == [(name, EXACT)]


@pytest.mark.parametrize(
    "label",
    [
        "ViT-B",  # patches of 8, 16 or 32
        "MobileNetV2",  # five widths
        "DeiT-S*",
        "ResNet-50 + CBAM",
        "ResNet-50 (ours)",
        "ResNet-5",
        "ResNet50-Tiny",  # not resnet50t
        "Swin-XL",
        "RegNetY-16GF",  # timm's names have other numbers
        "ResNet",
        "Method",
        "",
        "-",
        "模型",
    ],
)
def test_a_label_that_does_not_say_enough_is_never_exact(label: str) -> None:
    assert EXACT not in dict(close_models(label, TIMM)).values()


@pytest.mark.parametrize(("label", "size"), [("LeViT", 384), ("RegNetX", 320), ("mobilenet_edgetpu", None)])
def test_a_number_at_the_end_of_a_name_that_is_no_size_of_images_is_part_of_the_name(
    label: str, size: int | None
) -> None:
    assert EXACT not in dict(close_models(label, TIMM, size)).values()


def test_close_names_come_with_the_most_similar_first() -> None:
    assert close_models("deit_tinny_patch16_224", TIMM)[0] == ("deit_tiny_patch16_224", Confidence.NEAR)
    assert [name for name, _ in close_models("ViT-B", TIMM)][:3] == [
        "vit_base_patch16_224",
        "vit_base_patch32_224",
        "vit_base_patch8_224",
    ]


@pytest.mark.parametrize(
    ("label", "size", "name", "sure"),
    [
        ("regnety_040", None, "regnety_040", Confidence.EXACT),
        ("RegNetY-040 tuned", None, "regnety_040", Confidence.NEAR),  # before regnety_040_sgn
        ("ResMLP-B24", None, "resmlp_big_24_224", Confidence.CLOSE),
        ("gMLP-S", None, "gmlp_s16_224", Confidence.CLOSE),
        ("CaiT-S48", None, "cait_s24_224", Confidence.NEAR),  # before cait_m48_448
        ("CaiT-S48", 384, "cait_s24_384", Confidence.NEAR),
        ("swin_tiny", None, "swin_tiny_patch4_window7_224", Confidence.EXACT),
    ],
)
def test_the_first_name_has_the_words_and_numbers_of_the_label_and_the_size(
    label: str, size: int | None, name: str, sure: Confidence
) -> None:
    assert close_models(label, TIMM, size)[0] == (name, sure)


@pytest.mark.parametrize("label", ["Swin-Mixer-T/D24", "ResNet-Foo-7", "BERT-base"])
def test_a_name_that_lacks_most_of_the_label_is_not_offered(label: str) -> None:
    assert close_models(label, TIMM) == []


def test_a_family_that_is_only_similar_is_not_the_label() -> None:
    assert close_models("ResNeSt-101", TORCHVISION) == []


def test_families_are_found_in_a_text() -> None:
    assert families_in("CaiT models, the CaiT and the DeiT of a test") == ["CaiT", "DeiT"]


@pytest.mark.parametrize("library", Library)
def test_every_name_stands_for_itself(library: Library) -> None:
    names = current_models(library)
    assert {name for name in names if close_models(name, library) != [(name, EXACT)]} == set()


@given(st.sampled_from(sorted(current_models(TIMM))), st.sampled_from("- _/"), st.booleans())
def test_separators_and_cases_change_nothing(name: str, separator: str, upper: bool) -> None:
    label = name.replace("_", separator)
    assert close_models(label.upper() if upper else label, TIMM) == [(name, EXACT)]


@given(st.text(max_size=30))
def test_any_text_is_answered_with_names_of_the_library(label: str) -> None:
    for library in Library:
        assert dict(close_models(label, library)).keys() <= current_models(library)


def test_text_that_no_name_has_is_no_name() -> None:
    assert names_of_all_sizes("resnet50", Library.TIMM) == ["resnet50"]
    assert names_of_all_sizes("resnet50 // 2", Library.TIMM) == []


def test_a_label_of_many_letters_is_answered() -> None:
    """Each letter is itself or a size: this one has 2^60 forms, and once all of them were made."""
    assert close_models("DeiT-S " * 60, TIMM) == []
