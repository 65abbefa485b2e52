"""Text models that a label names with its size: the proposed recipes have the published number of parameters."""

from __future__ import annotations

import pytest
import torch
import yaml

from imlp_audit.models.build import build_host
from imlp_audit.models.host import Setting
from imlp_audit.models.names.data_sets import clip_recipe, text_recipe
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.settings import settings_of


def bert(words: int, positions: int, kinds: int, width: int = 768, layers: int = 12) -> int:
    """Embeddings with a norm; four matrices, an MLP of four times the width and two norms a layer; a pooler."""
    embeddings = (words + positions + kinds) * width + 2 * width
    layer = 4 * width * (width + 1) + 4 * width * (width + 1) + width * (4 * width + 1) + 4 * width
    return embeddings + layers * layer + width * (width + 1)


def gpt(words: int, positions: int) -> int:
    """The same layers behind two tables, without a pooler."""
    return bert(words, positions, 0) - 768 * (768 + 1)


# Closed formulas, and what is printed in millions: by arXiv 1910.13461 or the authors' model cards.
SIZES = {
    "BERT-base": (bert(30522, 512, 2), 12),
    "RoBERTa_base": (bert(50265, 514, 1), 12),
    "GPT-2 small": (gpt(50257, 1024), 12),
}


@pytest.mark.parametrize("label", SIZES)
def test_the_proposed_size_is_that_of_the_label(label: str) -> None:
    with torch.device("meta"):
        model = build_host(Recipe.of(**yaml.safe_load(text_recipe(label) or "")), None)
        found = sum(one.numel() for one in model.parameters()), settings_of(model)[Setting.LAYERS]
    assert found == SIZES[label]


PRINTED = {  # in millions, by the papers and the authors' model cards
    "ELECTRA-Small": "13", "BERT-Large": "335", "RoBERTa-large": "355", "GPT-2 medium": "355", "GPT-2 Large": "774",
    "GPT-2 XL": "1558",
}  # fmt: skip


@pytest.mark.parametrize("label", PRINTED)
def test_the_proposed_size_prints_as_published(label: str) -> None:
    with torch.device("meta"):
        model = build_host(Recipe.of(**yaml.safe_load(text_recipe(label) or "")), None)
    assert f"{sum(one.numel() for one in model.parameters()) / 1e6:.0f}" == PRINTED[label]


@pytest.mark.parametrize("label", ["BERT", "BERT-base-cased", "GPT-2", "ALBERT-base", "XLM-R base", "LLaMA-7B"])
def test_a_label_of_no_size_or_of_another_has_no_recipe(label: str) -> None:
    assert text_recipe(label) is None


# In millions, as OpenCLIP's docs/model_profile.csv prints them.
TOWERS = {"ViT-B-32": "151.28", "ViT-B/16": "149.62", "ViT-L-14": "427.62", "CLIP ViT-L/14@336": "427.94"}


@pytest.mark.parametrize("label", TOWERS)
def test_the_towers_of_clip_have_the_published_parameters(label: str) -> None:
    with torch.device("meta"):
        model = build_host(Recipe.of(**yaml.safe_load(clip_recipe(label, None) or "")), None)
    assert f"{sum(one.numel() for one in model.parameters()) / 1e6:.2f}" == TOWERS[label]
    assert clip_recipe(f"{label}-SigLIP", None) is None
