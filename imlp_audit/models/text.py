"""BERT (arXiv 1810.04805), and gMLP, tMLP and aMLP on token ids (arXiv 2105.08050, Sec. 3 and 4)."""

from __future__ import annotations

from typing import assert_never

import torch
from torch import Tensor, nn

from imlp_audit.errors import BuildError
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import PROJECTIONS, GmlpBlock
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.readings import OutputLayer, SpatialMatrix, TextReading


class Pooler(nn.Module):
    """A linear layer and tanh on the first token's state: (batch, S, C) to (batch, C) (BERT's released code)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)

    def forward(self, states: Tensor) -> Tensor:
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


class TextModel(nn.Module):
    """Ids (batch, S) to scores of words (batch, S, vocabulary), or with `classes` to logits (batch, classes).

    A language model without output layer gives the states; with a pooler, its vector of each text comes second, as
    pre-training reads both (BERT, Sec. 3.1). A classifier reads the pooler, or the first token where there is none; the
    output layer of pre-training is not part of it (Sec. 4.1).
    """

    def __init__(self, request: BuildRequest) -> None:
        super().__init__()
        if not isinstance(request.reading, TextReading):
            raise BuildError("a model of language needs a reading of language models, and the paper has none")
        self.reading, self.classes = request.reading, request.classes

    def _add_head(self, embedding: nn.Embedding) -> None:
        if self.classes is None:
            self.output = output_layer(self.reading.output_layer, embedding)
        else:
            self.head = nn.Linear(embedding.embedding_dim, self.classes)

    def states(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the states (batch, S, C), and where there is a pooler the texts' vectors (batch, C)."""
        raise NotImplementedError

    def forward(self, ids: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        states, pooled = self.states(ids)
        if self.classes is not None:
            logits: Tensor = self.head(states[:, 0] if pooled is None else pooled)
            return logits
        scores: Tensor = self.output(states)
        return scores if pooled is None else (scores, pooled)

    def get_classifier(self) -> nn.Module:
        return self.output if self.classes is None else self.head

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        return (torch.zeros(batch, self.reading.sequence_length, dtype=torch.long),)


class BertTextModel(TextModel):
    """The encoder of transformers, with fresh weights; every token is of the first segment."""

    def __init__(
        self, request: BuildRequest, *, layers: int, width: int, heads: int, hidden: int, positions: int
    ) -> None:
        from transformers import BertConfig, BertModel  # takes a second to import, which gMLP need not wait for

        super().__init__(request)
        reading = self.reading
        if reading.sequence_length > positions:
            raise BuildError(f"sequence_length: {reading.sequence_length} tokens, but only {positions} positions")
        config = BertConfig(
            vocab_size=reading.vocabulary,
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=hidden,
            max_position_embeddings=positions,
            pad_token_id=None,
            attn_implementation="eager",
        )
        self.bert = BertModel(config, add_pooling_layer=bool(reading.pooler))
        self._add_head(self.bert.embeddings.word_embeddings)

    @property
    def blocks(self) -> nn.ModuleList:
        """The encoder's layers, by the name that models of equal blocks have for them."""
        layers: nn.ModuleList = self.bert.encoder.layer
        return layers

    def states(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the states, and the texts' vectors or None."""
        found = self.bert(ids)
        return found.last_hidden_state, found.pooler_output


class GmlpTextModel(TextModel):
    """gMLP, tMLP or aMLP: an embedding of each token, the blocks and a norm. What is left out is the reading's."""

    def __init__(
        self,
        request: BuildRequest,
        *,
        layers: int,
        width: int,
        hidden: int | None,
        gate: Gate,
        spatial_matrix: SpatialMatrix | None,
        attention: int | None,
    ) -> None:
        super().__init__(request)
        reading = self.reading
        hidden = hidden or reading.ffn_width
        if gate is Gate.SPLIT and hidden % 2:
            raise BuildError(f"ffn_width: a split gate needs an even number of channels, not {hidden}")
        tokens, projection = reading.sequence_length, PROJECTIONS[spatial_matrix or reading.spatial_matrix]
        gate_norm = nn.LayerNorm if reading.gate_norm else nn.Identity
        self.embedding = nn.Embedding(reading.vocabulary, width)
        self.blocks = nn.Sequential(
            *(
                GmlpBlock(width, hidden, tokens, gate, projection, d_attn=attention, gate_norm_layer=gate_norm)
                for _ in range(layers)
            )
        )
        self.norm = nn.LayerNorm(width)
        self.pooler = Pooler(width) if reading.pooler else None
        self._add_head(self.embedding)

    def states(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the states, and the texts' vectors or None."""
        states: Tensor = self.norm(self.blocks(self.embedding(ids)))
        return states, None if self.pooler is None else self.pooler(states)
