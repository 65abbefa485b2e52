"""Names as other code bases spell them."""

from __future__ import annotations

import pytest

from imlp_audit.models.names.known import Library
from imlp_audit.models.names.match import Confidence, close_models
from imlp_audit.models.names.spelling import respell


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("mlp-mixer-base-p16", "mixer_b16_224"),
        ("MLP-Mixer-L/16", "mixer_l16_224"),
        ("vit-base-p32", "vit_base_patch32_224"),
        ("resnetv1d50", "resnet50d"),
        ("resnetv1c101", "resnet101c"),
        ("resnet50_v1d", "resnet50d"),
        ("RegNetX-4.0GF", "regnetx_040"),
        ("RegNetY-16GF", "regnety_160"),
        ("regnetx-400mf", "regnetx_004"),
        ("RegNetX-6.4GF", "regnetx_064"),
    ],
)
def test_a_name_of_another_code_base_is_timms_name(label: str, name: str) -> None:
    assert close_models(respell(label), Library.TIMM) == [(name, Confidence.EXACT)]


@pytest.mark.parametrize("label", ["RegNetX-4.05GF", "ResNetV2-50", "ResNet-50", "Mixer-B/16", "RegNet", "P16", ""])
def test_any_other_label_stays_as_it_is(label: str) -> None:
    assert respell(label) == label
