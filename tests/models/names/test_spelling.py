"""Names as other code bases spell them."""

from __future__ import annotations

import pytest

from imlp_audit.models.names.known import Library
from imlp_audit.models.names.match import names_of
from imlp_audit.models.names.spelling import spellings

TIMM = {
    "mlp-mixer-base-p16": "mixer_b16_224", "MLP-Mixer-L/16": "mixer_l16_224", "vit-base-p32": "vit_base_patch32_224",
    "resnet50_v1d": "resnet50d", "RegNetX-4.0GF": "regnetx_040", "RegNetY-16GF": "regnety_160",
    "regnetx-400mf": "regnetx_004", "RegNetX-6.4GF": "regnetx_064", "EffNet-B3": "efficientnet_b3",
    "Eff-B4": "efficientnet_b4", "DeiT III-S": "deit3_small_patch16_224", "ResMLP-S24": "resmlp_24_224",
    "MnasNet-A1": "semnasnet_100", "MobileNetV3-Small 0.75×": "mobilenetv3_small_075",
    "MobileNetV2 (1.4)": "mobilenetv2_140", "MobileViTv2-0.5": "mobilevitv2_050", "GhostNet 1.0x": "ghostnet_100",
    "FocalNet-T (SRF)": "focalnet_tiny_srf", "DeiT-S (distilled)": "deit_small_distilled_patch16_224",
    "ConvNeXt V1-B": "convnext_base", "ResNeXt-101-32×4d": "resnext101_32x4d", "FBNet-C": "fbnetc_100",
    "TinyViT-21M": "tiny_vit_21m_224", "SwinV2-T (window 16x16)": "swinv2_tiny_window16_256",
    "Swin-B (w7)": "swin_base_patch4_window7_224", "HRNet-W18": "hrnet_w18", "ResNeXt-50 (32x4d)": "resnext50_32x4d",
    "MobileNetV2×1.0": "mobilenetv2_100", "CaiTS24": "cait_s24_224",
}  # fmt: skip


@pytest.mark.parametrize("label", TIMM)
def test_a_name_of_another_code_base_is_timms_name(label: str) -> None:
    assert names_of(spellings(label)[-1], Library.TIMM) == [TIMM[label]]


@pytest.mark.parametrize(
    "label",
    [
        "RegNetX-4.05GF", "ResNetV2-50", "ResNet-50", "Mixer-B/16", "RegNet", "P16", "", "MnasNet-A2",
        "ResMLP-B24", "RegNetY-G", "MobileNetV3 V2 1.0", "MobileNetV3 Large",
    ],
)  # fmt: skip
def test_any_other_label_stays_as_it_is(label: str) -> None:
    assert spellings(label) == (label,)


@pytest.mark.parametrize(
    ("label", "name"),
    [("RegNetY-8GF", "regnet_y_8gf"), ("EffNetV2-S", "efficientnet_v2_s")],
)
def test_an_abbreviation_is_spelt_out_for_every_library(label: str, name: str) -> None:
    assert [name] in [names_of(one, Library.TORCHVISION) for one in spellings(label)]
