"""The sequence-to-sequence ResMLP (arXiv 2105.03404, Sec. 2 and Sec. 3.6, "Machine translation").

The encoder and decoder of Vaswani et al. (arXiv 1706.03762) with self-attention replaced by a linear layer A across the
tokens, which is triangular in the decoder; the decoder keeps its cross-attention. What the text leaves open:

- Sublayers follow Algorithm 1: Aff before, LayerScale after, biases in A, B and C, and one more Aff after the last
  layer; "we initialize the LayerScale parameter to 0.2". Cross-attention stands between Aff and LayerScale too.
- There are no position encodings: "the linear layer implicitly encodes information about patch positions".
- Embeddings are shared by source, target and output layer and multiplied by sqrt(width) (Vaswani et al., Sec. 3.4); the
  vocabulary is the joint one of 32768 that Ott et al. prepare for English-German (fairseq, examples/scaling_nmt).
- Cross-attention has 8 heads (Vaswani et al., Table 3, base), and biases as fairseq has. Padding gets no weight in it.
- "Padding with zeros" is at the end, and in what A reads: a padded token is a zero there, after Aff, whose beta would
  leak into the others otherwise. So no translation depends on what else is in its batch. The decoder needs no zeros:
  its padding comes after all that read it.
- The longest sequence has 1024 tokens, fairseq's default. There is no dropout: nothing is trained here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from imlp_audit.models.hosts.resmlp import ResMlpTranslation
from imlp_audit.models.resmlp import Aff, CrossPatch, FeedForward, LayerScale

PADDING, END = 1, 2
"""Token ids as fairseq numbers them. A target is decoded beginning with END, as there."""
LAYER_SCALE = 0.2


class Encoded(NamedTuple):
    """What the decoder reads of source sentences: (batch, length, width), and which tokens are padding."""

    states: Tensor
    padding: Tensor


class Residual(nn.Module):
    """Computes x + LayerScale(sublayer(Aff(x))); what else the sublayer reads is handed to it."""

    def __init__(self, channels: int, sublayer: nn.Module) -> None:
        super().__init__()
        self.aff = Aff(channels)
        self.sublayer = sublayer
        self.scale = LayerScale(channels, LAYER_SCALE)

    def forward(self, x: Tensor, *others: Tensor) -> Tensor:
        """Keep the shape."""
        y: Tensor = self.scale(self.sublayer(self.aff(x), *others))
        return x + y


class PaddedCrossPatch(nn.Module):
    """The linear layer A across tokens, which reads zeros where the tokens are padding."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.linear = CrossPatch(tokens, bias=True)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        """Keep the shape (batch, length, channels); `padding` is (batch, length)."""
        y: Tensor = self.linear(x.masked_fill(padding[..., None], 0))
        return y


class CrossAttention(nn.Module):
    """softmax(q k^T / sqrt(head width)) v in each head, then a projection; keys and values are the source's."""

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(channels, channels) for _ in range(3))
        self.proj = nn.Linear(channels, channels)

    def forward(self, y: Tensor, states: Tensor, padding: Tensor) -> Tensor:
        """Keep the shape (batch, target length, channels)."""
        q, k, v = (self._by_head(part) for part in (self.query(y), self.key(states), self.value(states)))
        scores = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).masked_fill(padding[:, None, None], -math.inf)
        out: Tensor = self.proj((scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(2))
        return out

    def _by_head(self, x: Tensor) -> Tensor:
        """Map (batch, length, channels) to (batch, heads, length, channels / heads)."""
        return x.reshape(*x.shape[:2], self.heads, -1).transpose(1, 2)


class EncoderLayer(nn.Module):
    """A across the tokens, then the MLP across the channels."""

    def __init__(self, host: ResMlpTranslation) -> None:
        super().__init__()
        self.across_tokens = Residual(host.width, PaddedCrossPatch(host.tokens))
        self.across_channels = Residual(host.width, _feed_forward(host))

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        """Keep the shape (batch, length, width)."""
        y: Tensor = self.across_channels(self.across_tokens(x, padding))
        return y


class DecoderLayer(nn.Module):
    """A triangular A across the tokens, attention to the source, then the MLP across the channels."""

    def __init__(self, host: ResMlpTranslation) -> None:
        super().__init__()
        self.across_tokens = Residual(host.width, CrossPatch(host.tokens, bias=True, causal=True))
        self.attention = Residual(host.width, CrossAttention(host.width, host.heads))
        self.across_channels = Residual(host.width, _feed_forward(host))

    def forward(self, y: Tensor, encoded: Encoded) -> Tensor:
        """Keep the shape (batch, length, width)."""
        z: Tensor = self.across_channels(self.attention(self.across_tokens(y), *encoded))
        return z


class TranslationModel(nn.Module):
    """Maps token ids of source (batch, source length) and target (batch, length) to logits (batch, length, vocabulary).

    The logits at a place are those of the token after it. Sequences are padded with PADDING at their end; a source
    sentence has at least one token. Raises ValueError for a sequence longer than A.
    """

    def __init__(self, host: ResMlpTranslation) -> None:
        super().__init__()
        self.tokens = host.tokens
        self.embedding = nn.Embedding(host.vocabulary, host.width)
        nn.init.normal_(self.embedding.weight, std=host.width**-0.5)
        self.encoder = nn.ModuleList(EncoderLayer(host) for _ in range(host.layers))
        self.encoder_aff = Aff(host.width)
        self.decoder = nn.ModuleList(DecoderLayer(host) for _ in range(host.layers))
        self.decoder_aff = Aff(host.width)
        self.output = nn.Linear(host.width, host.vocabulary, bias=False)
        self.output.weight = self.embedding.weight

    def encode(self, source_ids: Tensor) -> Encoded:
        """Return what the decoder reads of (batch, length) token ids."""
        x, padding = self._embed(source_ids), source_ids == PADDING
        for layer in self.encoder:
            x = layer(x, padding)
        return Encoded(self.encoder_aff(x), padding)

    def decode(self, target_ids: Tensor, encoded: Encoded) -> Tensor:
        """Return the logits (batch, length, vocabulary) of the tokens after each of (batch, length) token ids."""
        y = self._embed(target_ids)
        for layer in self.decoder:
            y = layer(y, encoded)
        logits: Tensor = self.output(self.decoder_aff(y))
        return logits

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        """Return the logits (batch, target length, vocabulary)."""
        return self.decode(target_ids, self.encode(source_ids))

    def example_inputs(self, batch: int) -> tuple[Tensor, Tensor]:
        """Return token ids of source and target of the longest sequence: the paper prints no length."""
        ids = torch.zeros(batch, self.tokens, dtype=torch.long)
        return ids, ids

    def get_classifier(self) -> nn.Module:
        """Return the output layer, whose matrix is the embedding's."""
        return self.output

    def _embed(self, ids: Tensor) -> Tensor:
        if ids.shape[1] > self.tokens:
            raise ValueError(f"a sequence of {ids.shape[1]} tokens is longer than A, which is for {self.tokens}")
        embedded: Tensor = self.embedding(ids)
        return embedded * math.sqrt(embedded.shape[-1])


def _feed_forward(host: ResMlpTranslation) -> FeedForward:
    return FeedForward(host.width, host.hidden // host.width, bias=True)


def build_translation(host: ResMlpTranslation) -> TranslationModel:
    """Build the model on the current default device."""
    return TranslationModel(host)
