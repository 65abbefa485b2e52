"""What stands behind an encoder of text: BERT's pooler, and the layers that score the vocabulary."""

from __future__ import annotations

from typing import assert_never

from torch import Tensor, nn

from imlp_audit.models.reading import OutputLayer


class Pooler(nn.Module):
    """A linear layer and tanh on the first token's state: (batch, S, C) to (batch, C) (BERT's released code)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)

    def forward(self, states: Tensor) -> Tensor:
        """Return one vector for each text."""
        pooled: Tensor = self.dense(states[:, 0]).tanh()
        return pooled


def output_layer(kind: OutputLayer, embedding: nn.Embedding) -> nn.Module:
    """Return what maps states (batch, S, C) to a score for each word (batch, S, vocabulary); the identity for none."""
    vocabulary, width = embedding.num_embeddings, embedding.embedding_dim
    match kind:
        case OutputLayer.NONE:
            return nn.Identity()
        case OutputLayer.TIED:
            return _tie(embedding, bias=False)
        case OutputLayer.TIED_BIAS:
            return _tie(embedding, bias=True)
        case OutputLayer.MASKED_LM:
            transform = nn.Linear(width, width)
            return nn.Sequential(transform, nn.GELU(), nn.LayerNorm(width, eps=1e-12), _tie(embedding, bias=True))
        case OutputLayer.UNTIED:
            return nn.Linear(width, vocabulary)
        case _:
            assert_never(kind)


def _tie(embedding: nn.Embedding, *, bias: bool) -> nn.Linear:
    """Return a linear layer whose matrix is the embedding's own."""
    layer = nn.Linear(embedding.embedding_dim, embedding.num_embeddings, bias=bias)
    layer.weight = embedding.weight
    return layer
