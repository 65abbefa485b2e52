from __future__ import annotations

import pytest
import torch
from torch import nn
from transformers import BertConfig
from transformers.models.bert.modeling_bert import BertLMPredictionHead, BertPooler

from imlp_audit.models.gmlp import Pooler, output_layer
from imlp_audit.models.readings import OutputLayer
from tests.models.wholes import randomised

WIDTH, WORDS = 6, 11
CONFIG = BertConfig(hidden_size=WIDTH, num_attention_heads=1, vocab_size=WORDS)


def test_pooler_is_berts() -> None:
    theirs = randomised(BertPooler(CONFIG))
    ours = Pooler(WIDTH).double()
    ours.load_state_dict(theirs.state_dict(), strict=True)
    states = torch.randn(2, 5, WIDTH, dtype=torch.float64)
    torch.testing.assert_close(ours(states), theirs(states))


def test_masked_lm_head_is_berts() -> None:
    """Its decoder's matrix is tied to the embedding; transformers keeps the decoder's bias a second time."""
    theirs = randomised(BertLMPredictionHead(CONFIG))
    embedding = nn.Embedding(WORDS, WIDTH).double()
    ours = output_layer(OutputLayer.MASKED_LM, embedding).double()
    names = {"0": "transform.dense", "2": "transform.LayerNorm", "3": "decoder"}
    weights = theirs.state_dict()
    ours.load_state_dict(
        {f"{our}.{kind}": weights[f"{their}.{kind}"] for our, their in names.items() for kind in ("weight", "bias")},
        strict=True,
    )
    states = torch.randn(2, 5, WIDTH, dtype=torch.float64)
    torch.testing.assert_close(ours(states), theirs(states))
    torch.testing.assert_close(embedding.weight, theirs.decoder.weight)


@pytest.mark.parametrize(
    ("kind", "shared", "own"),
    [
        (OutputLayer.NONE, False, 0),
        (OutputLayer.TIED, True, 0),
        (OutputLayer.TIED_BIAS, True, WORDS),
        (OutputLayer.MASKED_LM, True, WIDTH * WIDTH + WIDTH + 2 * WIDTH + WORDS),
        (OutputLayer.UNTIED, False, WORDS * WIDTH + WORDS),
    ],
)
def test_what_an_output_layer_adds_to_the_embedding(kind: OutputLayer, shared: bool, own: int) -> None:
    embedding = nn.Embedding(WORDS, WIDTH)
    parameters = set(output_layer(kind, embedding).parameters())
    assert (embedding.weight in parameters) is shared
    assert sum(p.numel() for p in parameters - {embedding.weight}) == own
