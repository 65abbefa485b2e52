"""BERT's encoder (arXiv 1810.04805), the names as in the released weights; equal to transformers' own by a test.

Restated because importing transformers takes as long as importing torch. The attention writes out its two products, so
that every counter sees them.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from imlp_audit.models.hosts.bert import Bert
from imlp_audit.models.nets.text_heads import Pooler

EPSILON = 1e-12  # of all norms, as in the released code
SEGMENTS = 2


class BertModel(nn.Module):
    """Ids (batch, S) to states (batch, S, C), and with a pooler to a vector (batch, C) for each text."""

    def __init__(self, host: Bert, vocabulary: int, pooler: bool) -> None:
        super().__init__()
        self.embeddings = Embeddings(host, vocabulary)
        self.encoder = Encoder(host)
        self.pooler = Pooler(host.width) if pooler else None

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the states, and the texts' vectors or None."""
        states = self.encoder(self.embeddings(ids))
        return states, None if self.pooler is None else self.pooler(states)


class Embeddings(nn.Module):
    """The sum of three tables, of words, segments and positions; every token is of the first segment."""

    def __init__(self, host: Bert, vocabulary: int) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, host.width)
        self.position_embeddings = nn.Embedding(host.positions, host.width)
        self.token_type_embeddings = nn.Embedding(SEGMENTS, host.width)
        self.LayerNorm = nn.LayerNorm(host.width, eps=EPSILON)
        self.dropout = nn.Dropout(0.1)
        self.register_buffer("positions", torch.arange(host.positions)[None], persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        """Map (batch, S) to (batch, S, C)."""
        positions = self.get_buffer("positions")[:, : ids.shape[1]]
        sum_of_two = self.word_embeddings(ids) + self.token_type_embeddings(torch.zeros_like(ids))
        states: Tensor = self.dropout(self.LayerNorm(sum_of_two + self.position_embeddings(positions)))
        return states


class Encoder(nn.Module):
    """The layers, one after another."""

    def __init__(self, host: Bert) -> None:
        super().__init__()
        self.layer = nn.ModuleList(Layer(host) for _ in range(host.layers))

    def forward(self, states: Tensor) -> Tensor:
        """Map (batch, S, C) to (batch, S, C)."""
        for layer in self.layer:
            states = layer(states)
        return states


class Layer(nn.Module):
    """Attention, and a network of two layers on each token."""

    def __init__(self, host: Bert) -> None:
        super().__init__()
        self.attention = Attention(host)
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(host.width, host.hidden)})
        self.output = Output(host.hidden, host.width)

    def forward(self, states: Tensor) -> Tensor:
        """Map (batch, S, C) to (batch, S, C)."""
        states = self.attention(states)
        result: Tensor = self.output(F.gelu(self.intermediate["dense"](states)), states)
        return result


class Attention(nn.Module):
    """Attention between the tokens of a text, all of which it sees."""

    def __init__(self, host: Bert) -> None:
        super().__init__()
        self.self = AttentionHeads(host)
        self.output = Output(host.width, host.width)

    def forward(self, states: Tensor) -> Tensor:
        """Map (batch, S, C) to (batch, S, C)."""
        result: Tensor = self.output(self.self(states), states)
        return result


class AttentionHeads(nn.Module):
    """The heads, side by side."""

    def __init__(self, host: Bert) -> None:
        super().__init__()
        self.width = host.width // host.heads
        self.query = nn.Linear(host.width, host.width)
        self.key = nn.Linear(host.width, host.width)
        self.value = nn.Linear(host.width, host.width)
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
