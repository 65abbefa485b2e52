"""gMLP, tMLP and aMLP (Liu et al., Pay Attention to MLPs, arXiv 2105.08050) on images and on token ids, and BERT."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import assert_never

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from imlp_audit.errors import BuildError
from imlp_audit.models.blocks import Gate
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.mixer import PatchClassifier, number_of_patches
from imlp_audit.models.readings import OutputLayer, SpatialMatrix, TextReading

Norm = Callable[[int], nn.Module]


class TokenProjection(nn.Module):
    """f(Z) = W Z + b: one linear layer over the tokens, the same for every channel (gMLP).

    W is tokens x tokens, b one number per token. Maps (..., tokens, channels) to the same shape. Initialised
    with W near 0 and b = 1, so that f(Z) is near 1.
    """

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(self.weight_shape(tokens)))
        self.bias = nn.Parameter(torch.ones(tokens))
        nn.init.normal_(self.weight, std=1e-6)

    @staticmethod
    def weight_shape(tokens: int) -> tuple[int, ...]:
        """Return the shape of the weights that make W."""
        return (tokens, tokens)

    def matrix(self) -> Tensor:
        """Return W."""
        return self.weight

    def forward(self, z: Tensor) -> Tensor:
        return F.linear(z.mT, self.matrix(), self.bias).mT


class ToeplitzProjection(TokenProjection):
    """f(Z) = W Z + b with the same weight along each diagonal of W: W[i, j] = w[i - j] (tMLP).

    `weight` has 2 tokens - 1 entries: w[1 - tokens] for the upper right corner, ..., w[tokens - 1].
    """

    @staticmethod
    def weight_shape(tokens: int) -> tuple[int, ...]:
        """Return the shape of the weights that make W."""
        return (2 * tokens - 1,)

    def matrix(self) -> Tensor:
        """Return W."""
        tokens = len(self.bias)
        places = torch.arange(tokens, device=self.weight.device)
        return self.weight[places[:, None] - places + tokens - 1]


PROJECTIONS: dict[SpatialMatrix, type[TokenProjection]] = {
    SpatialMatrix.FULL: TokenProjection,
    SpatialMatrix.TOEPLITZ: ToeplitzProjection,
}


class SpatialGatingUnit(nn.Module):
    """s(Z), the only part of a block that mixes tokens.

    Maps (..., tokens, channels) to the same shape, or to half the channels where the gate splits them. The norm
    is over the channels that go into f (nn.Identity: none). `attention` is added to f, in aMLP.
    """

    def __init__(
        self,
        channels: int,
        tokens: int,
        gate: Gate = Gate.SPLIT,
        projection: type[TokenProjection] = TokenProjection,
        norm_layer: Norm = nn.LayerNorm,
    ) -> None:
        super().__init__()
        if gate is Gate.SPLIT and channels % 2:
            raise ValueError(f"{channels} channels cannot be split into halves")
        self.gate = gate
        self.norm = norm_layer(gate.width(channels))
        self.proj = projection(tokens)

    def f(self, z: Tensor, attention: Tensor | None) -> Tensor:
        """Return what the gate is."""
        mixed: Tensor = self.proj(self.norm(z))
        return mixed if attention is None else mixed + attention

    def forward(self, z: Tensor, attention: Tensor | None = None) -> Tensor:
        match self.gate:
            case Gate.LINEAR:
                return self.f(z, attention)
            case Gate.SUM:
                return z + self.f(z, attention)
            case Gate.PRODUCT:
                return z * self.f(z, attention)
            case Gate.SPLIT:
                z1, z2 = z.chunk(2, dim=-1)
                return z1 * self.f(z2, attention)
            case _:
                assert_never(self.gate)


class TinyAttention(nn.Module):
    """The attention of aMLP, with one head (Fig. 4, pseudo-code). Maps (batch, tokens, width) to d_out channels."""

    def __init__(self, width: int, d_out: int, d_attn: int = 64) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * d_attn)
        self.out = nn.Linear(d_attn, d_out)
        self.scale = d_attn**-0.5

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        w = torch.einsum("bnd,bmd->bnm", q, k)
        a = (w * self.scale).softmax(dim=-1)
        mixed: Tensor = self.out(torch.einsum("bnm,bmd->bnd", a, v))
        return mixed


class GmlpBlock(nn.Module):
    """Z = GELU(X U), Z~ = s(Z), Y = Z~ V + X, with a norm before U (Fig. 3). Keeps (batch, tokens, width).

    `gate_norm_layer` is the norm inside s where it is another than the one before U (nn.Identity: none). With
    `d_attn`, the tiny attention of the block's normed input is added to the gate (aMLP, Fig. 4).
    """

    def __init__(
        self,
        width: int,
        hidden: int,
        tokens: int,
        gate: Gate = Gate.SPLIT,
        projection: type[TokenProjection] = TokenProjection,
        norm_layer: Norm = nn.LayerNorm,
        d_attn: int | None = None,
        gate_norm_layer: Norm | None = None,
    ) -> None:
        super().__init__()
        self.norm = norm_layer(width)
        self.u = nn.Linear(width, hidden)
        self.sgu = SpatialGatingUnit(hidden, tokens, gate, projection, gate_norm_layer or norm_layer)
        self.v = nn.Linear(gate.width(hidden), width)
        self.attention = None if d_attn is None else TinyAttention(width, gate.width(hidden), d_attn)

    def forward(self, x: Tensor) -> Tensor:
        shortcut, x = x, self.norm(x)
        z = F.gelu(self.u(x))
        z = self.sgu(z) if self.attention is None else self.sgu(z, self.attention(x))
        y: Tensor = self.v(z)
        return y + shortcut


class GmlpClassifier(PatchClassifier):
    """gMLP blocks where MLP-Mixer has its layers; what is before and after them is the same (coursework, Sec. 3).

    The epsilons are timm's: 1e-6, and inside the gate torch's own 1e-5.
    """

    def __init__(
        self,
        request: BuildRequest,
        *,
        layers: int,
        patch: int,
        width: int,
        hidden: int,
        gate: Gate,
        spatial_matrix: SpatialMatrix,
    ) -> None:
        tokens, projection = number_of_patches(request.size, patch), PROJECTIONS[spatial_matrix]
        norm, gate_norm = partial(nn.LayerNorm, eps=1e-6), nn.LayerNorm
        blocks = (GmlpBlock(width, hidden, tokens, gate, projection, norm, None, gate_norm) for _ in range(layers))
        super().__init__(request.size, patch, width, blocks, request.labels)


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
