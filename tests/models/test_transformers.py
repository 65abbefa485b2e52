"""Models of transformers from a configuration: what they count, and what is refused. Nothing is downloaded."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from pydantic import ValidationError
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from torchvision import models

from imlp_audit.count.build_and_count import measure_models
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.facts import Failure, ModelFacts, ModelKey, Need
from imlp_audit.count.fvcore import count_with_fvcore
from imlp_audit.errors import BuildError
from imlp_audit.models.build import Builder
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import example_inputs

TEXT = {"shape": [16], "dtype": "int64"}


def of(architecture: str, changes: Mapping[str, object] | None = None, **fields: object) -> Recipe:
    host = {"architecture": architecture, **fields}
    return Recipe.of(transformers={key: value for key, value in host.items() if value}, **(changes or {}))


def count(recipe: Recipe) -> ModelFacts:
    key = ModelKey(recipe, None)
    facts = dict(measure_models({key: Need(work=True)}, lambda _: None))[key]
    assert isinstance(facts, ModelFacts), facts
    return facts


def refusal(recipe: Recipe) -> str:
    key = ModelKey(recipe, None)
    failure = dict(measure_models({key: Need(work=True)}, lambda _: None))[key]
    assert isinstance(failure, Failure)
    return failure.message


def differences(recipe: Recipe) -> dict[str, int]:
    """What we count beyond a model with values, torch's own counter and the real fvcore."""
    facts = count(recipe)
    assert facts.ledger is not None
    assert not facts.ledger.unknown
    with Builder("cpu").variant(recipe, None) as variant:
        inputs = example_inputs(variant.model)
        with FlopCounterMode(display=False) as counter:
            variant.model(*inputs)
        return {
            "parameters": facts.parameters["all"] - _size(variant.model),  # type: ignore[index]
            "torch": total(facts.ledger, FLOPS_CONVENTIONS["torch"]) - counter.get_total_flops(),
            "fvcore": total(facts.ledger, FLOPS_CONVENTIONS["fvcore"]) - count_with_fvcore(variant.model, *inputs),
        }


def _size(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


SMALL = {
    "vision": of(
        "ViTModel",
        {"image": [32, 48]},
        config={"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 40},
    ),
    "text": of(
        "BertModel",
        config={
            "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 40,
            "vocab_size": 100, "max_position_embeddings": 20,
        },
        tokens=16,
    ),
}  # fmt: skip
PUBLISHED = {
    "Swin": of("SwinForImageClassification"),
    "ConvNeXt": of("ConvNextForImageClassification"),
    "SegFormer": of("SegformerForSemanticSegmentation", {"image": 256, "classes": 150}),
    "GPT-2": of("GPT2LMHeadModel", config={"n_layer": 2}, tokens=32),
    "BERT, classes": of("BertForSequenceClassification", {"classes": 3}, config={"num_hidden_layers": 2}, tokens=64),
    "DETR": of(
        "DetrForObjectDetection",
        {"image": [256, 320], "classes": 91},
        config={"backbone_config": {"model_type": "resnet", "out_features": ["stage4"]}},
    ),
    "YOLOS": of("YolosForObjectDetection", {"image": 128}, config={"num_hidden_layers": 2}),
    "T5": of("T5ForConditionalGeneration", inputs={"input_ids": TEXT, "decoder_input_ids": {**TEXT, "shape": [8]}}),
    "CLIP": of("CLIPModel", inputs={"input_ids": TEXT, "pixel_values": {"shape": [3, 224, 224]}}),
}


@pytest.mark.parametrize("name", SMALL)
def test_small_models_count_what_other_counters_do(name: str) -> None:
    assert differences(SMALL[name]) == {"parameters": 0, "torch": 0, "fvcore": 0}


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_models_of_every_kind_count_what_other_counters_do(name: str) -> None:
    assert differences(PUBLISHED[name]) == {"parameters": 0, "torch": 0, "fvcore": 0}


@pytest.mark.slow
def test_fvcore_does_not_see_what_detr_computes_in_vain() -> None:
    """DETR resizes its mask to all four feature maps of ResNet-50 and uses the last; torch's trace drops the others."""
    recipe = of("DetrForObjectDetection", {"image": [256, 320], "classes": 91})
    unused = 64 * 80 + 32 * 40 + 16 * 20
    assert differences(recipe) == {"parameters": 0, "torch": 0, "fvcore": unused}


def test_a_vit_counts_by_its_formula() -> None:
    c, hidden, n = 24, 40, 2 * 3 + 1  # patches of 16 on 32 x 48, and a class token
    layer = 4 * (c * c + c) + 2 * c * hidden + hidden + c + 4 * c
    facts = count(SMALL["vision"])
    embedding = 3 * 16 * 16 * c + c + c + n * c
    assert facts.parameters["all"] == embedding + 2 * layer + 2 * c + c * c + c  # type: ignore[index]
    assert facts.ledger is not None
    products = n * (4 * c * c + 2 * c * hidden) + 2 * n * n * c
    patches = (n - 1) * 3 * 16 * 16 * c
    assert total(facts.ledger, FLOPS_CONVENTIONS["macs"]) == patches + 2 * products + c * c  # and the pooler


@pytest.mark.parametrize(
    ("architecture", "weights"),
    [
        ("ViTForImageClassification", models.ViT_B_16_Weights.IMAGENET1K_V1),
        ("SwinForImageClassification", models.Swin_T_Weights.IMAGENET1K_V1),
        ("ConvNextForImageClassification", models.ConvNeXt_Tiny_Weights.IMAGENET1K_V1),
        ("ResNetForImageClassification", models.ResNet50_Weights.IMAGENET1K_V1),
    ],
)
def test_default_configurations_have_the_sizes_that_torchvision_publishes(
    architecture: str, weights: models.WeightsEnum
) -> None:
    with Builder().variant(of(architecture), None) as variant:
        assert _size(variant.model) == weights.meta["num_params"]


def test_the_head_of_a_classifier_is_known() -> None:
    facts = count(of("ConvNextForImageClassification", {"classes": 10}, config={"depths": [1, 1, 1, 1]}))
    assert facts.parameters["all"] - facts.parameters["no_head"] == 768 * 10 + 10  # type: ignore[index]


VIT = {"hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 40}


@pytest.mark.parametrize(
    ("architecture", "labels", "heads", "classes"),
    [
        ("ViTForImageClassification", {}, 1, 1000),
        ("ViTForImageClassification", {"id2label": {"0": "cat", "1": "dog"}}, 1, 2),
        ("DeiTForImageClassificationWithTeacher", {}, 2, 1000),
    ],
)
def test_a_classifier_has_the_labels_that_it_is_given_or_a_thousand(
    architecture: str, labels: Mapping[str, object], heads: int, classes: int
) -> None:
    facts = count(of(architecture, config={**VIT, **labels}))
    assert facts.parameters["all"] - facts.parameters["no_head"] == heads * (24 + 1) * classes  # type: ignore[index]


def test_labels_of_two_numbers_are_refused() -> None:
    recipe = of("ViTForImageClassification", {"classes": 3}, config={**VIT, "id2label": {"0": "cat", "1": "dog"}})
    assert "classes: 3, but the configuration has num_labels 2" in refusal(recipe)


TEXTS = {
    "GPT2Model": {"n_embd": 12, "n_layer": 1, "n_head": 2, "vocab_size": 50, "n_positions": 16},
    "OPTModel": {"hidden_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2, "ffn_dim": 8, "vocab_size": 50}
    | {"word_embed_proj_dim": 12, "max_position_embeddings": 16},
    "RobertaModel": {"hidden_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    | {"vocab_size": 50, "max_position_embeddings": 18},
}


@pytest.mark.parametrize("architecture", TEXTS)
def test_a_text_is_no_longer_than_the_model_has_positions(architecture: str) -> None:
    whole, longer = (of(architecture, config=TEXTS[architecture], tokens=tokens) for tokens in (16, 17))
    count(whole)
    assert f"{architecture} has positions for 16, not for 17" in refusal(longer)
    with Builder("cpu").variant(whole, None) as variant:
        variant.model(torch.zeros(1, 16, dtype=torch.long))
        with pytest.raises((IndexError, RuntimeError), match="out of"):
            variant.model(torch.zeros(1, 17, dtype=torch.long))


def test_positions_that_are_computed_have_no_end() -> None:
    config = {"hidden_size": 16, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    few = {"num_key_value_heads": 1, "vocab_size": 50, "max_position_embeddings": 8}
    count(of("MistralModel", config={**config, **few}, tokens=16))


def test_a_loop_that_ends_with_what_is_read_is_not_counted() -> None:
    """Its first step is all that a model without values would run, because it asks whether all texts have ended."""
    assert "meta tensors" in refusal(of("SLANetForTableRecognition", {"image": 64}))


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (of("ViTModell"), "has no model 'ViTModell'; did you mean 'ViTModel'?"),
        (of("AutoModel"), "has no model 'AutoModel'"),
        (of("ViTConfig"), "has no model 'ViTConfig'"),
        (of("ViTModel", config={"hiden_size": 8}), "ViTConfig has no field 'hiden_size'; did you mean 'hidden_size'?"),
        (of("ViTModel", config={"attn_implementation": "a/kernel"}), "has no field 'attn_implementation'"),
        (of("ViTModel", config={"hidden_size": "wide"}), "ViTConfig: .*'hidden_size' expected int, got str"),
        (of("ViTModel", config={"model_type": "swin"}), "model_type: ViTConfig is of 'vit', not 'swin'"),
        (
            of("DetrModel", config={"backbone_config": {"model_type": "resnet", "dephts": [1]}}),
            "backbone_config: ResNetConfig has no field 'dephts'; did you mean 'depths'?",
        ),
        (of("ViTModel", {"classes": 3}), "classes: ViTModel does not classify"),
        (of("ViTForImageClassification", {"classes": 3}, config={"num_labels": 4}), "classes: 3, but .* num_labels 4"),
        (of("ViTModel", {"image": 225}), "image: patches of 16 do not divide 225"),
        (of("ViTModel", tokens=8), "tokens: ViTModel reads an image"),
        (of("BertModel"), "BertModel reads text: give tokens"),
        (of("BertModel", {"image": 32}, tokens=8), "BertModel reads text: give tokens"),
        (of("T5Model", tokens=8), "T5Model reads input_ids and decoder_input_ids: give inputs"),
        (of("DetrModel"), "DetrModel takes images of any size: give image"),
        (of("CLIPModel", {"image": 32}, inputs={"pixel_values": {"shape": [3, 32, 32]}}), "image: the shapes of"),
    ],
)
def test_what_cannot_be_built_says_why(recipe: Recipe, message: str) -> None:
    with pytest.raises(BuildError, match=message), Builder().variant(recipe, None):
        pass


def test_nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("socket.getaddrinfo", lambda *address, **_: asked.append(address))
    named = {"model_type": "timm_backbone", "backbone": "hf-hub:timm/resnet18.a1_in1k"}
    message = refusal(of("DetrModel", {"image": 64}, config={"backbone_config": named}))
    assert "hf-hub" in message or "Hub" in message
    with pytest.raises(ValidationError, match="nothing is downloaded"):
        of("DetrModel", config={"backbone_config": {**named, "use_pretrained_backbone": "true"}})
    assert asked == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tokens": 8, "inputs": {"input_ids": TEXT}}, "give only one of tokens and inputs"),
        ({"inputs": {"a": {"shape": [3], "dtype": "int32"}}}, "float32"),
        ({"inputs": {"a b": {"shape": [3]}}}, "pattern"),
    ],
)
def test_inputs_that_say_two_things_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        of("BertModel", None, **fields)


def test_the_model_of_a_configuration_is_another_one_for_each_input() -> None:
    whole = count(SMALL["text"]).ledger
    half = count(SMALL["text"].with_change({"transformers": {"tokens": 8}})).ledger
    assert whole is not None and half is not None  # noqa: PT018
    c, hidden, layers = 24, 40, 2

    def macs(n: int) -> int:
        return layers * (n * (4 * c * c + 2 * c * hidden) + 2 * n * n * c) + c * c

    assert [total(one, FLOPS_CONVENTIONS["macs"]) for one in (whole, half)] == [macs(16), macs(8)]
    assert torch.get_default_device().type == "cpu"
