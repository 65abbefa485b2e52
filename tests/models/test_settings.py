"""Hyper-parameters read off models are those that the models' papers print."""

from __future__ import annotations

import pytest
import timm
import torch
from timm.layers import Attention, Mlp
from torch import Tensor, nn

from imlp_audit.models.available_hosts import Bert, Gmlp, GmlpText, Mixer, ResMlp
from imlp_audit.models.blocks import Communication
from imlp_audit.models.build import Builder
from imlp_audit.models.host import Setting
from imlp_audit.models.readings import (
    OutputLayer,
    Presence,
    ResMlpForm,
    SpatialMatrix,
    TextReading,
)
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import settings_of

TEXT = TextReading(
    vocabulary=30,
    sequence_length=16,
    ffn_width=12,
    spatial_matrix=SpatialMatrix.FULL,
    gate_norm=Presence.YES,
    output_layer=OutputLayer.TIED,
    pooler=Presence.NO,
)


def named(layers: int, image: int, patch: int, width: int, tokens: int, **hidden: int) -> dict[Setting, int]:
    """The settings of a model of equal blocks on images."""
    found = {"layers": layers, "image": image, "patch": patch, "width": width, "tokens": tokens, **hidden}
    return {Setting(name): value for name, value in found.items()}


def of(recipe: Recipe) -> dict[Setting, int]:
    with Builder().variant(recipe, TEXT if recipe.family == "text" else None) as variant:
        return dict(settings_of(variant.model))


# arXiv 2105.01601, Table 1 (timm lacks H/14); 2105.08050, Table 1; 2105.03404, Sec. 2; 2012.12877.
PUBLISHED = {
    "mixer_s32_224": named(8, 224, 32, 512, 49, tokens_hidden=256, channels_hidden=2048),
    "mixer_s16_224": named(8, 224, 16, 512, 196, tokens_hidden=256, channels_hidden=2048),
    "mixer_b32_224": named(12, 224, 32, 768, 49, tokens_hidden=384, channels_hidden=3072),
    "mixer_b16_224": named(12, 224, 16, 768, 196, tokens_hidden=384, channels_hidden=3072),
    "mixer_l32_224": named(24, 224, 32, 1024, 49, tokens_hidden=512, channels_hidden=4096),
    "mixer_l16_224": named(24, 224, 16, 1024, 196, tokens_hidden=512, channels_hidden=4096),
    "gmlp_ti16_224": named(30, 224, 16, 128, 196, channels_hidden=768),
    "gmlp_s16_224": named(30, 224, 16, 256, 196, channels_hidden=1536),
    "gmlp_b16_224": named(30, 224, 16, 512, 196, channels_hidden=3072),
    "resmlp_12_224": named(12, 224, 16, 384, 196, channels_hidden=1536),
    "resmlp_24_224": named(24, 224, 16, 384, 196, channels_hidden=1536),
    "resmlp_big_24_224": named(24, 224, 8, 768, 784, channels_hidden=3072),
    "deit_tiny_patch16_224": named(12, 224, 16, 192, 196, channels_hidden=768),
    "vit_base_patch32_384": named(12, 384, 32, 768, 144, channels_hidden=3072),
    "vit_huge_patch14_224": named(32, 224, 14, 1280, 256, channels_hidden=5120),
    "cait_s24_224": named(24, 224, 16, 384, 196, channels_hidden=1536),
}


@pytest.mark.daily(4)
@pytest.mark.parametrize("name", PUBLISHED)
def test_settings_of_timms_models_are_the_published_ones(name: str) -> None:
    assert of(Recipe.of(timm=name)) == PUBLISHED[name]


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        (
            Recipe.of(mixer=Mixer(layers=3, patch=4, width=20, tokens_hidden=7, channels_hidden=9), image=32),
            named(3, 32, 4, 20, 64, tokens_hidden=7, channels_hidden=9),
        ),
        (
            Recipe.of(mixer=Mixer(layers=32, patch=14, width=1280, tokens_hidden=640, channels_hidden=5120)),
            named(32, 224, 14, 1280, 256, tokens_hidden=640, channels_hidden=5120),
        ),
        (
            Recipe.of(gmlp=Gmlp(layers=2, patch=16, width=12, hidden=10)),
            named(2, 224, 16, 12, 196, channels_hidden=10),
        ),
        (
            Recipe.of(resmlp=ResMlp(layers=2, width=12, patch=14, form=ResMlpForm.ALGORITHM)),
            named(2, 224, 14, 12, 256, channels_hidden=48),
        ),
        (
            Recipe.of(resmlp=ResMlp(layers=2, width=12, form=ResMlpForm.EQUATIONS), image=64),
            named(2, 64, 16, 12, 16, channels_hidden=48),
        ),
        (
            Recipe.of(
                resmlp=ResMlp(
                    layers=2, width=12, form=ResMlpForm.ALGORITHM, communication=Communication.MLP, expansion=2
                )
            ),
            named(2, 224, 16, 12, 196, tokens_hidden=392, channels_hidden=48),
        ),
        (Recipe.of(gmlp_text=GmlpText(layers=3, width=6)), {Setting.LAYERS: 3}),
        (Recipe.of(bert=Bert(layers=2, width=8, heads=2, hidden=12)), {Setting.LAYERS: 2}),
    ],
    ids=str,
)
def test_settings_of_our_models_are_those_of_their_recipes(recipe: Recipe, expected: dict[Setting, int]) -> None:
    assert of(recipe) == expected


@pytest.mark.parametrize(
    ("recipe", "side"), [(Recipe.of(timm="resnet18", image=64), 64), (Recipe.of(timm="resnet18"), 224)]
)
def test_any_model_of_images_has_their_side(recipe: Recipe, side: int) -> None:
    assert of(recipe) == {Setting.IMAGE: side}


@pytest.mark.parametrize(
    ("name", "side"), [("efficientnet_b0", 224), ("swin_tiny_patch4_window7_224", 224), ("poolformer_s12", 224)]
)
def test_models_of_unequal_stages_have_no_depth_or_width(name: str, side: int) -> None:
    assert of(Recipe.of(timm=name)) == {Setting.IMAGE: side}


def test_an_oblong_image_has_tokens_and_no_one_side() -> None:
    mixer = Mixer(layers=1, patch=16, width=20, tokens_hidden=7, channels_hidden=9)
    expected = named(1, 0, 16, 20, 6, tokens_hidden=7, channels_hidden=9)
    del expected[Setting.IMAGE]
    assert of(Recipe.of(mixer=mixer, image=(32, 48))) == expected
    assert of(Recipe.of(timm="resnet18", image=(32, 48))) == {}


def test_images_of_another_size_have_other_numbers_of_tokens() -> None:
    found = of(Recipe.of(timm="mixer_s32_224", image=224)), of(Recipe.of(timm="deit_tiny_patch16_224", image=384))
    assert [one[Setting.TOKENS] for one in found] == [49, 576]
    assert [one[Setting.IMAGE] for one in found] == [224, 384]


class OneBlock(nn.Module):
    """A stem to 16 channels, and one block of these parts."""

    def __init__(self, patch: int, *parts: nn.Module) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, patch, stride=patch)
        self.blocks = nn.ModuleList([nn.ModuleList(parts)])

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        return (torch.zeros(batch, 3, 32, 32),)


def hidden(model: nn.Module) -> dict[Setting, int]:
    found = settings_of(model)
    return {name: found[name] for name in (Setting.TOKENS_HIDDEN, Setting.CHANNELS_HIDDEN) if name in found}


def test_widths_equal_to_the_number_of_tokens_are_not_reported() -> None:
    """Patches of 8 make as many tokens as there are channels."""
    assert hidden(OneBlock(8, Mlp(16, 5))) == {}
    assert hidden(OneBlock(16, Mlp(16, 5))) == {Setting.CHANNELS_HIDDEN: 5}


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((Mlp(16, 5), Attention(16, num_heads=2)), {Setting.CHANNELS_HIDDEN: 5}),
        ((Attention(16, num_heads=2), Mlp(16, 5)), {Setting.CHANNELS_HIDDEN: 5}),
        ((Attention(16, num_heads=2),), {}),
        ((Mlp(4, 7), Mlp(16, 5)), {Setting.TOKENS_HIDDEN: 7, Setting.CHANNELS_HIDDEN: 5}),
        ((Mlp(4, 7, 9), Mlp(16, 5, 20)), {}),  # not back to as many tokens or channels
        ((nn.Linear(4, 4), nn.Linear(16, 16)), {}),
    ],
)
def test_an_mlp_is_there_and_back(parts: tuple[nn.Module, ...], expected: dict[Setting, int]) -> None:
    assert hidden(OneBlock(16, *parts)) == expected


def test_a_model_without_blocks_has_only_its_image_size() -> None:
    with torch.device("meta"):
        assert settings_of(nn.Linear(2, 2)) == {Setting.IMAGE: 224}
        assert settings_of(timm.create_model("resnet18", pretrained=False)) == {Setting.IMAGE: 224}


@pytest.mark.parametrize(
    ("architecture", "config", "layers"),
    [
        ("BertModel", {"num_hidden_layers": 5}, 5),
        ("GPT2Model", {"n_layer": 3}, 3),
        ("MobileBertModel", {"num_hidden_layers": 2}, 2),  # each with a list of MLPs
        ("AlbertModel", {"num_hidden_layers": 12}, None),  # one block, run twelve times
        ("BartModel", {"encoder_layers": 2, "decoder_layers": 2}, None),  # two lists
    ],
)
def test_the_depth_of_a_model_of_transformers_is_that_of_its_equal_blocks(
    architecture: str, config: dict[str, int], layers: int | None
) -> None:
    ids = {"shape": [8], "dtype": "int64"}
    inputs = {"input_ids": ids, **({"decoder_input_ids": ids} if architecture == "BartModel" else {})}
    recipe = Recipe.of(transformers={"architecture": architecture, "config": config, "inputs": inputs})
    assert of(recipe) == ({} if layers is None else {Setting.LAYERS: layers})


def test_stages_of_other_widths_have_no_one_depth() -> None:
    assert of(Recipe.of(transformers="SwinModel")) == {Setting.IMAGE: 224}
