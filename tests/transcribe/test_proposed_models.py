"""The models that `init` proposes for a row: the likeliest first, and which labels are exactly one model's name."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from imlp_audit.models.names.known import Library, current_models, known_models
from imlp_audit.models.recipe import Recipe
from tests.transcribe.drafting import candidates, named, table

# Labels as papers and READMEs print them, and the model that each means.
MEANT = {
    "DeiT-S": "deit_small_patch16_224", "DeiT-Ti": "deit_tiny_patch16_224", "DeiT III-S": "deit3_small_patch16_224",
    "Swin-T": "swin_tiny_patch4_window7_224", "Swin Transformer-B": "swin_base_patch4_window7_224",
    "ConvNeXt-B": "convnext_base", "ConvNeXt V2-T": "convnextv2_tiny", "ResNet-50": "resnet50", "R101": "resnet101",
    "SE-ResNet-50": "seresnet50", "ECA-ResNet-50-D": "ecaresnet50d", "ResNeXt-101 (32x8d)": "resnext101_32x8d",
    "WRN-50-2": "wide_resnet50_2", "Res2Net-50": "res2net50_26w_4s", "RegNetY-16GF": "regnety_160",
    "EfficientNet-B4": "efficientnet_b4", "EfficientNetV2-S": "efficientnetv2_s", "MobileNetV2 1.4": "mobilenetv2_140",
    "MobileNetV3-Large 0.75": "mobilenetv3_large_075", "MobileNetV4-Conv-S": "mobilenetv4_conv_small",
    "PVTv2-B2": "pvt_v2_b2", "CaiT-S24": "cait_s24_224", "XCiT-S12/16": "xcit_small_12_p16_224",
    "ViT-B/16": "vit_base_patch16_224", "Vision Transformer-L/16": "vit_large_patch16_224", "MViTv2-S": "mvitv2_small",
    "BEiT-L": "beit_large_patch16_224", "BEiTv2-B": "beitv2_base_patch16_224", "EVA-02-Ti": "eva02_tiny_patch14_224",
    "CLIP RN50": "resnet50_clip", "CLIP ViT-L/14": "vit_large_patch14_clip_224", "TinyViT-21M": "tiny_vit_21m_224",
    "DINOv2 ViT-S/14": "vit_small_patch14_dinov2", "InceptionNeXt-T": "inception_next_tiny", "VOLO-D1": "volo_d1_224",
    "FocalNet-T (LRF)": "focalnet_tiny_lrf", "Twins-SVT-S": "twins_svt_small", "RepVGG-A0": "repvgg_a0",
    "PoolFormer-S12": "poolformer_s12", "CAFormer-S18": "caformer_s18", "CrossViT-S": "crossvit_small_240",
    "gMLP-S": "gmlp_s16_224", "Mixer-B/16": "mixer_b16_224", "EdgeNeXt-XXS": "edgenext_xx_small",
    "MobileViT-S": "mobilevit_s", "HRNet-W48": "hrnet_w48", "DenseNet-121": "densenet121", "VGG-16 (BN)": "vgg16_bn",
    "MambaOut-Tiny": "mambaout_tiny", "Hiera-B": "hiera_base_224", "FastViT-T8": "fastvit_t8", "NFNet-F0": "nfnet_f0",
    "AlexNet": "alexnet", "SqueezeNet 1.1": "squeezenet1_1", "ShuffleNetV2 1.0x": "shufflenet_v2_x1_0",
    "BERT-base": "BertModel", "GPT-2 small": "GPT2Model", "BiT-R50x1": "resnetv2_50x1_bit", "PiT-S": "pit_s_224",
}  # fmt: skip


def model_of(recipe: str) -> str:
    """Return the name of a recipe's model."""
    (host,) = {"timm", "torchvision", "transformers"} & yaml.safe_load(recipe).keys()
    value = yaml.safe_load(recipe)[host]
    return str(value["architecture"] if isinstance(value, dict) else value)


def test_the_first_candidate_is_the_model_that_a_label_means() -> None:
    found = dict(zip(MEANT, candidates(*MEANT), strict=True))
    wrong = {label: found[label][:1] for label, name in MEANT.items() if model_of(found[label][0]) != name}
    missing = {label for label, name in MEANT.items() if name not in map(model_of, found[label])}
    assert len(wrong) <= len(MEANT) // 20, wrong
    assert missing == set()


@pytest.mark.parametrize(
    ("label", "text", "first"),
    [
        ("Tiny", "Swin Transformer", "swin_t"),  # torchvision's: the shorter name
        ("B/16", "An image is worth 16x16 words: ViT", "vit_base_patch16_224"),
        ("xxs-24", "Class attention: CaiT", "cait_xxs24_224"),
        ("Small", "ConvNeXt V2 models", "convnextv2_small"),
    ],
)
def test_a_label_without_a_family_gets_it_from_the_title_or_the_caption(label: str, text: str, first: str) -> None:
    for found in (candidates(label, caption=text), candidates(label, title=text)):
        assert model_of(found[0][0]) == first


def test_a_family_in_a_heading_counts_too() -> None:
    assert candidates("Method") == [()]
    (row,) = table("CaiT model | Params (M)", "xxs-24 | 12.0").rows
    assert (row.proposal.recipes[0], row.proposal.named) == ("{timm: cait_xxs24_224}", False)
    (row,) = table("Model | Params (M)", "Swin Transformers |", "Tiny | 12.0").rows
    assert "{timm: swin_tiny_patch4_window7_224}" in row.proposal.recipes[:3]


@pytest.mark.parametrize(
    "label",
    ["DeiT-S", "resnet50", "DeiT-S†", "DeiT-S [12]", "DeiT-S (Touvron et al., 2021)", "Swin-B-384",
     "DeiT-B ↑384", "resnet50_gn.a1h_in1k", "convnext_base_384_in22ft1k", "resnet50_8xb32_in1k", "RegNetY-16GF",
     "timm/mobilenetv3_large_100.ra_in1k"],
)  # fmt: skip
def test_a_label_that_is_one_models_name_is_named(label: str) -> None:
    assert named(label) == [True]


@pytest.mark.parametrize(
    "label",
    ["DeiT-S (ours)", "DeiT-S + SE", "DeiT-S w/ SE", "DeiT-S w/o BN", "DeiT-S (r=0.7)", "DeiT-S pruned", "Ours", "ViT",
     "ViT-B", "MobileNetV2", "ResNet", "ResNet-50 (2016)", "ConvNeXt-B (22k)", "PVT-Small", "BERT-base", "SwinV2-T"],
)  # fmt: skip
def test_a_label_that_says_more_or_less_than_a_name_is_not(label: str) -> None:
    assert named(label) == [False]


@pytest.mark.parametrize("label", ["RepVGG-A0", "ViT-S/16", "GoogLeNet", "CoAtNet-0", "iFormer-S", "Xception"])
def test_a_name_that_papers_use_for_several_models_is_not(label: str) -> None:
    (found,) = candidates(label)
    assert found
    assert named(label) == [False]


def test_a_label_names_a_model_only_where_one_row_has_it_on_images_of_one_size() -> None:
    assert named("DeiT-S", "DeiT-S", "DeiT-Ti") == [False, False, True]
    assert named("Model | Size | Params (M)", "DeiT-S | 224 | 22", "DeiT-S | 384 | 22") == [True, True]
    assert named("Model | Method | Params (M)", "DeiT-S | EViT | 22", "DeiT-S | ToMe | 22") == [False, False]


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("Swin-B | 384", ["{timm: swin_base_patch4_window12_384}", "{torchvision: swin_b, image: 384}"]),
        ("ResNet-50 | 224x224", ["{timm: resnet50}", "{torchvision: resnet50}"]),
        ("EfficientNet-B3 | 300^2", ["{timm: efficientnet_b3, image: 300}", "{torchvision: efficientnet_b3}"]),
        ("LeViT-256 | 256", ["{timm: levit_256, image: 256}"]),
    ],
)
def test_the_size_of_the_images_stands_in_the_recipes(line: str, first: list[str]) -> None:
    (row,) = table("Model | Input size | FLOPs (G)", f"{line} | 4.1").rows
    assert list(row.proposal.recipes[: len(first)]) == first


def test_a_name_for_other_images_may_follow() -> None:
    (row,) = table("Model | Input size | FLOPs (G)", "Swin-B | 384 | 47.1").rows
    assert "{timm: swin_base_patch4_window7_224, image: 384}" in row.proposal.recipes


@pytest.mark.parametrize(
    ("label", "size"), [("ResNet-50 (256x256)", 256), ("ResNet-50 @300", 300), ("ConvNeXt-B-384", 384)]
)  # fmt: skip
def test_a_label_gives_the_size_of_images(label: str, size: int) -> None:
    assert candidates(label)[0][0].endswith(f", image: {size}}}")
    assert named(label) == [True]


@pytest.mark.parametrize("label", ["ResNet-50 (300)", "ResNet-50 (800)"])
def test_a_number_that_may_be_epochs_is_no_size_of_images(label: str) -> None:
    assert (candidates(label)[0][0], named(label)) == ("{timm: resnet50}", [False])


def test_the_sizes_that_a_table_names_are_tried_for_all_rows() -> None:
    lines = ("Model | FLOPs (G)", "DeiT-S | 4.6", "DeiT-B | 17.6", "* Models are tested at 448x448")
    assert table(*lines, caption="Models on 224^2 and 384x384").images == (224, 384, 448)
    assert table("Model | Size | FLOPs (G)", "DeiT-S | 224/384 | 4.6").images == (224, 384)
    assert table(*lines[:2], caption="With patches of 16x16").images == ()
    for heading in ("FLOPs (G) @384", "FLOPs (G) at 384"):
        (column,) = (guess for _, guess in table(f"Model | {heading}", "DeiT-S | 15.5").columns.numbers)
        assert column.fields == (("image", "384"),)


@pytest.mark.parametrize(
    ("label", "caption", "recipes"),
    [
        ("ViT-B/16 (21k)", "", ["{timm: vit_base_patch16_224}", "{timm: vit_base_patch16_224, classes: 21843}"]),
        ("ConvNeXt-T", "ImageNet-22K models", ["{timm: convnext_tiny}", "{timm: convnext_tiny, classes: 21841}"]),
        ("ResNet-50", "Results on CIFAR-100", ["{timm: resnet50, classes: 100}", "{timm: resnet50}"]),
        ("ResNet-50", "A data set of 12 classes", ["{timm: resnet50, classes: 12}", "{timm: resnet50}"]),
        ("RepVGG-A0", "", ["{timm: repvgg_a0}", "{timm: repvgg_a0, form: deployed}"]),
        ("ResNet-50", "", ["{timm: resnet50}", "{torchvision: resnet50}", "{timm: resnet50, stride_in_1x1: true}"]),
    ],
)
def test_other_heads_and_forms_are_candidates(label: str, caption: str, recipes: list[str]) -> None:
    assert list(candidates(label, caption=caption)[0][: len(recipes)]) == recipes


def test_a_vision_transformer_in_a_table_of_clip_may_be_its_two_towers() -> None:
    (row,) = table("Model | Params (M)", "ViT-B-32 | 151.28", caption="CLIP models").rows
    assert "CLIPModel" in row.proposal.recipes[0]
    assert not row.proposal.named
    assert named("ViT-B-32", caption="") == [True]


def test_what_is_added_to_a_row_has_the_candidates_of_that_row() -> None:
    rows = table("Model | Params (M)", "Swin-T | 28.3", "+ SE | 28.9").rows
    assert rows[1].proposal.recipes[0] in rows[0].proposal.recipes[:2]
    assert (rows[1].baseline, rows[1].proposal.named) == ("swin_t", False)


def test_a_model_of_no_library_has_few_candidates_and_a_vague_label_many() -> None:
    assert candidates("OurNet-S") == [()]
    (many,) = candidates("ResNet-50-foo-bar")
    assert 6 < len(many) <= 20
    assert len(candidates("ResNet-50")[0]) <= 6
    assert len(candidates("FooNet-S", caption="Compared with Swin")[0]) <= 6


@given(
    st.text(max_size=30) | st.sampled_from(sorted(current_models(Library.TIMM))), st.sampled_from(["", "224", "384²"])
)
def test_any_label_is_answered(label: str, size: str) -> None:
    """Every candidate is a recipe; that of a label that is a name is a model of its library; none has more than 20."""
    for row in table("Model | Size | Params (M)", f"{label.replace('|', '')} | {size} | 5").rows:
        assert len(row.proposal.recipes) <= 20
        for recipe in row.proposal.recipes:
            Recipe.model_validate(yaml.safe_load(recipe))
        if row.proposal.named:
            name = re.sub(r"\..*", "", model_of(row.proposal.recipes[0]))
            assert name in known_models(Library.TIMM) | known_models(Library.TORCHVISION)
