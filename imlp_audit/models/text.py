"""BERT (arXiv 1810.04805), and gMLP, tMLP and aMLP on token ids (arXiv 2105.08050, Sec. 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from imlp_audit.errors import BuildError
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import GmlpBlock, ToeplitzProjection, TokenProjection
from imlp_audit.models.reading import OutputLayer, SpatialMatrix, TextReading


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


EPSILON = 1e-12  # of all norms, as in the released code
SEGMENTS = 2


class BertModel(nn.Module):
    """Ids (batch, S) to states (batch, S, C), and with a pooler to a vector (batch, C) for each text."""

    def __init__(
        self, vocabulary: int, pooler: bool, *, layers: int, width: int, heads: int, hidden: int, positions: int
    ) -> None:
        super().__init__()
        self.embeddings = Embeddings(vocabulary, width, positions)
        self.encoder = Encoder(layers, width, heads, hidden)
        self.pooler = Pooler(width) if pooler else None

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the states, and the texts' vectors or None."""
        states = self.encoder(self.embeddings(ids))
        return states, None if self.pooler is None else self.pooler(states)


class Embeddings(nn.Module):
    """The sum of three tables, of words, segments and positions; every token is of the first segment."""

    def __init__(self, vocabulary: int, width: int, positions: int) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, width)
        self.position_embeddings = nn.Embedding(positions, width)
        self.token_type_embeddings = nn.Embedding(SEGMENTS, width)
        self.LayerNorm = nn.LayerNorm(width, eps=EPSILON)
        self.dropout = nn.Dropout(0.1)
        self.register_buffer("positions", torch.arange(positions)[None], persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        """Map (batch, S) to (batch, S, C)."""
        positions = self.get_buffer("positions")[:, : ids.shape[1]]
        sum_of_two = self.word_embeddings(ids) + self.token_type_embeddings(torch.zeros_like(ids))
        states: Tensor = self.dropout(self.LayerNorm(sum_of_two + self.position_embeddings(positions)))
        return states


class Encoder(nn.Module):
    """The layers, one after another."""

    def __init__(self, layers: int, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.layer = nn.ModuleList(Layer(width, heads, hidden) for _ in range(layers))

    def forward(self, states: Tensor) -> Tensor:
        """Map (batch, S, C) to (batch, S, C)."""
        for layer in self.layer:
            states = layer(states)
        return states


class Layer(nn.Module):
    """Attention, and a network of two layers on each token."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, hidden)})
        self.output = Output(hidden, width)

    def forward(self, states: Tensor) -> Tensor:
        """Map (batch, S, C) to (batch, S, C)."""
        states = self.attention(states)
        result: Tensor = self.output(F.gelu(self.intermediate["dense"](states)), states)
        return result


class Attention(nn.Module):
    """Attention between the tokens of a text, all of which it sees."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.self = AttentionHeads(width, heads)
        self.output = Output(width, width)

    def forward(self, states: Tensor) -> Tensor:
        """Map (batch, S, C) to (batch, S, C)."""
        result: Tensor = self.output(self.self(states), states)
        return result


class AttentionHeads(nn.Module):
    """The heads, side by side."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.width = width // heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.dropout = nn.Dropout(0.1)

    def forward(self, states: Tensor) -> Tensor:
        """Map (batch, S, C) to (batch, S, C)."""
        query, key, value = (layer(states).unflatten(2, (-1, self.width)).transpose(1, 2) for layer in self._layers())
        weights = self.dropout((query @ key.transpose(2, 3) * self.width**-0.5).softmax(dim=3))
        mixed: Tensor = weights @ value
        return mixed.transpose(1, 2).flatten(2)

    def _layers(self) -> tuple[nn.Linear, nn.Linear, nn.Linear]:
        return self.query, self.key, self.value


class Output(nn.Module):
    """A linear layer, the sum with what was there before, and a norm."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(inputs, width)
        self.LayerNorm = nn.LayerNorm(width, eps=EPSILON)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor, before: Tensor) -> Tensor:
        """Map (batch, S, inputs) and (batch, S, width) to (batch, S, width)."""
        result: Tensor = self.LayerNorm(self.dropout(self.dense(x)) + before)
        return result


class BertEncoder(nn.Module):
    """The encoder, with a pooler or without: ids (batch, S) to states (batch, S, C) and (batch, C) for the text."""

    def __init__(self, reading: TextReading, **sizes: int) -> None:
        super().__init__()
        self.tokens = reading.sequence_length
        self.bert = BertModel(reading.vocabulary, bool(reading.pooler), **sizes)

    @property
    def blocks(self) -> nn.ModuleList:
        """The encoder's layers, by the name that models of equal blocks have for them."""
        layers: nn.ModuleList = self.bert.encoder.layer
        return layers

    def states(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the states of the tokens, and the pooler's vector of each text where there is a pooler."""
        states: tuple[Tensor, Tensor | None] = self.bert(ids)
        return states

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        """Return texts of the reading's length."""
        return (torch.zeros(batch, self.tokens, dtype=torch.long),)


class BertLanguageModel(BertEncoder):
    """Scores the vocabulary at each token: ids (batch, S) to (batch, S, vocabulary), or states without output layer.

    With a pooler, its vector of each text comes second, as pre-training reads both (Sec. 3.1).
    """

    def __init__(self, reading: TextReading, **sizes: int) -> None:
        super().__init__(reading, **sizes)
        self.output = output_layer(reading.output_layer, self.bert.embeddings.word_embeddings)

    def forward(self, ids: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Return the scores."""
        states, pooled = self.states(ids)
        scores: Tensor = self.output(states)
        return scores if pooled is None else (scores, pooled)

    def get_classifier(self) -> nn.Module:
        """Return the output layer."""
        return self.output


class BertClassifier(BertEncoder):
    """Ids (batch, S) to logits (batch, classes), from the pooler, or from the first token where there is none.

    The output layer of pre-training is not part of it (Sec. 4.1).
    """

    def __init__(self, reading: TextReading, classes: int, **sizes: int) -> None:
        super().__init__(reading, **sizes)
        self.head = nn.Linear(sizes["width"], classes)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits."""
        states, pooled = self.states(ids)
        logits: Tensor = self.head(states[:, 0] if pooled is None else pooled)
        return logits

    def get_classifier(self) -> nn.Module:
        """Return the linear layer that makes the logits."""
        return self.head


def build_bert(reading: TextReading, classes: int | None, **sizes: int) -> BertLanguageModel | BertClassifier:
    """Build a language model with fresh weights, or a classifier of texts where `classes` is given.

    Nothing is downloaded. Raises BuildError for texts that are longer than the table of positions.
    """
    if reading.sequence_length > sizes["positions"]:
        raise BuildError(f"sequence_length: {reading.sequence_length} tokens, but only {sizes['positions']} positions")
    return BertLanguageModel(reading, **sizes) if classes is None else BertClassifier(reading, classes, **sizes)


PROJECTIONS: dict[SpatialMatrix, type[TokenProjection]] = {
    SpatialMatrix.FULL: TokenProjection,
    SpatialMatrix.TOEPLITZ: ToeplitzProjection,
}


class GmlpEncoder(nn.Module):
    """An embedding of each token, the blocks and a norm."""

    def __init__(self, reading: TextReading, blocks: Sequence[GmlpBlock], width: int) -> None:
        super().__init__()
        self.tokens = reading.sequence_length
        self.embedding = nn.Embedding(reading.vocabulary, width)
        self.blocks = nn.Sequential(*blocks)
        self.norm = nn.LayerNorm(width)
        self.pooler = Pooler(width) if reading.pooler else None

    def states(self, ids: Tensor) -> Tensor:
        """Map token ids (batch, S) to hidden states (batch, S, C)."""
        states: Tensor = self.norm(self.blocks(self.embedding(ids)))
        return states

    def example_inputs(self, batch: int) -> tuple[Tensor, ...]:
        """Return texts of the model's length."""
        return (torch.zeros(batch, self.tokens, dtype=torch.long),)


class GmlpLanguageModel(GmlpEncoder):
    """Scores the vocabulary at each token: ids (batch, S) to (batch, S, vocabulary), or states without output layer.

    With a pooler, its vector of each text comes second, as in BERT, where pre-training reads both.
    """

    def __init__(self, reading: TextReading, blocks: Sequence[GmlpBlock], width: int) -> None:
        super().__init__(reading, blocks, width)
        self.output = output_layer(reading.output_layer, self.embedding)

    def forward(self, ids: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Return the scores."""
        states = self.states(ids)
        scores: Tensor = self.output(states)
        return scores if self.pooler is None else (scores, self.pooler(states))

    def get_classifier(self) -> nn.Module:
        """Return the output layer."""
        return self.output


class GmlpTextClassifier(GmlpEncoder):
    """Ids (batch, S) to logits (batch, classes), from the first token as BERT is fine-tuned (1810.04805, Sec. 4.1).

    The output layer of pre-training is not part of it.
    """

    def __init__(self, reading: TextReading, blocks: Sequence[GmlpBlock], width: int, classes: int) -> None:
        super().__init__(reading, blocks, width)
        self.head = nn.Linear(width, classes)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits."""
        states = self.states(ids)
        logits: Tensor = self.head(states[:, 0] if self.pooler is None else self.pooler(states))
        return logits

    def get_classifier(self) -> nn.Module:
        """Return the linear layer that makes the logits."""
        return self.head


def build_gmlp_text(
    reading: TextReading,
    classes: int | None,
    *,
    layers: int,
    width: int,
    hidden: int | None = None,
    gate: Gate = Gate.SPLIT,
    spatial_matrix: SpatialMatrix | None = None,
    attention: int | None = None,
) -> GmlpLanguageModel | GmlpTextClassifier:
    """Build a language model with fresh weights, or a classifier of texts where `classes` is given.

    What is left out is the reading's: D_C and the spatial matrix. Raises BuildError.
    """
    hidden = hidden or reading.ffn_width
    if gate is Gate.SPLIT and hidden % 2:
        raise BuildError(f"ffn_width: a split gate needs an even number of channels, not {hidden}")
    projection = PROJECTIONS[spatial_matrix or reading.spatial_matrix]
    gate_norm = nn.LayerNorm if reading.gate_norm else nn.Identity
    tokens = reading.sequence_length
    blocks = [
        GmlpBlock(width, hidden, tokens, gate, projection, d_attn=attention, gate_norm_layer=gate_norm)
        for _ in range(layers)
    ]
    if classes is None:
        return GmlpLanguageModel(reading, blocks, width)
    return GmlpTextClassifier(reading, blocks, width, classes)
