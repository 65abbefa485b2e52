"""Models that only this paper has: the layer of Eq. 2 and 3 and of Algorithm 1, class-MLP, the chain from CaiT to
ResMLP (Appendix A) and translation (Sec. 3.6).

The chain starts with CaiT (arXiv 2103.17239). The model for translation is the encoder and decoder of Vaswani et al.
(arXiv 1706.03762) with self-attention replaced by a linear layer A across the tokens, which is triangular in the
decoder; the decoder keeps its cross-attention. What the text leaves open:

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

import math
from enum import StrEnum
from functools import partial

import torch
from timm.models.cait import ClassAttn, TalkingHeadAttn
from torch import Tensor, nn

from imlp_audit.models.blocks import Communication, Nonlinearity, Norm, Pooling
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.readings import ResMlpForm
from imlp_audit.models.resmlp import (
    SMALL_START,
    Aff,
    ClassLayer,
    ClassMlpLayer,
    ClassPooling,
    CrossPatch,
    FeedForward,
    LayerScale,
    ResMlpClassifier,
    ResMlpLayer,
)

PADDING, END = 1, 2
"""Token ids as fairseq numbers them. A target is decoded beginning with END, as there."""
LAYER_SCALE = 0.2


class EquationLayer(ResMlpLayer):
    """The layer of Eq. 2 and 3: Aff before and after each sublayer; A, B and C are matrices, without biases."""

    def __init__(
        self, channels: int, patches: int, *, expansion: float = 4, scale: float = SMALL_START, causal: bool = False
    ) -> None:
        super().__init__(
            channels,
            CrossPatch(patches, bias=False, causal=causal),
            FeedForward(channels, expansion, bias=False),
            partial(Aff, channels, scale),
        )


class AlgorithmLayer(ResMlpLayer):
    """The layer of Algorithm 1, as the authors and timm build it: Aff before each sublayer, LayerScale after it.

    A, B and C have biases.
    """

    def __init__(self, channels: int, patches: int, *, expansion: float = 4, scale: float = SMALL_START) -> None:
        super().__init__(
            channels,
            CrossPatch(patches, bias=True),
            FeedForward(channels, expansion, bias=True),
            partial(LayerScale, channels, scale),
        )


class ClassMlp(ClassPooling):
    """Replaces average pooling by `depth` layers of class-MLP: (batch, patches, channels) to (batch, channels)."""

    def __init__(self, channels: int, patches: int, *, depth: int = 2, scale: float = SMALL_START) -> None:
        super().__init__(channels, *(ClassMlpLayer(channels, patches, scale=scale) for _ in range(depth)))


class CaitStage(StrEnum):
    """How far Appendix A's chain from CaiT to ResMLP has gone; each stage keeps what was changed before it."""

    ATTENTION = "attention"  # CaiT itself
    PATCH_MLP = "patch_mlp"  # self-attention replaced by an MLP over the patches
    CLASS_MLP = "class_mlp"  # class-attention replaced by class-MLP
    LINEAR = "linear"  # the MLP over the patches replaced by one linear layer


class CaitChain(ResMlpClassifier):
    """A stage of Appendix A's chain for images of one `size`: Algorithm 1's network on patches with their positions.

    CaiT's layers have the form of ResMLP's, and CaiT-S24 has 24 of width 384 with 8 heads. `expansion` (of the MLP over
    the patches, 4 where it is left out), `norm` and `nonlinearity` are those of the ablations made on the chain.
    `pooling` is that of the stage where it is left out; the ablation of expansions has the average.
    """

    def __init__(
        self,
        stage: str,
        layers: int = 24,
        width: int = 384,
        heads: int = 8,
        patch: int = 16,
        expansion: float | None = None,
        norm: str = "layer",
        nonlinearity: str = "gelu",
        pooling: str | None = None,
        size: tuple[int, int] = (224, 224),
        classes: int = 1000,
    ) -> None:
        # what the parts of the network, which the class above makes, depend on
        self.stage, self.heads, self.pooled_as_in_stage = CaitStage(stage), heads, pooling is None
        if expansion is not None and self.stage not in (CaitStage.PATCH_MLP, CaitStage.CLASS_MLP):
            raise ValueError(f"expansion: the stage {stage} has no MLP over the patches to expand")
        super().__init__(
            BuildRequest(size, classes),
            layers=layers,
            width=width,
            patch=patch,
            form=ResMlpForm.ALGORITHM,
            norm=Norm(norm),
            pooling=Pooling(pooling or Pooling.CLASS_MLP),
            communication=Communication.LINEAR if self.stage is CaitStage.LINEAR else Communication.MLP,
            expansion=expansion,
            nonlinearity=Nonlinearity(nonlinearity),
        )
        self.positions = nn.Parameter(torch.empty(self.grid[0] * self.grid[1], width))
        nn.init.trunc_normal_(self.positions, std=0.02)

    def embed(self, image: Tensor) -> Tensor:
        """Add the positions to the patches."""
        return super().embed(image) + self.positions

    def communication(self, kind: Communication, expansion: float | None) -> nn.Module | None:
        """Return self-attention, or what replaces it."""
        if self.stage is not CaitStage.ATTENTION:
            return super().communication(kind, expansion)
        attention: nn.Module = TalkingHeadAttn(self.width, self.heads, qkv_bias=True)
        return attention

    def class_layer(self) -> ClassLayer:
        """Return a layer of class-attention, or of what replaces it."""
        if self.stage not in (CaitStage.ATTENTION, CaitStage.PATCH_MLP) or not self.pooled_as_in_stage:
            return super().class_layer()
        mlp = FeedForward(self.width, bias=True, activation=self.activation)
        attention = ClassAttn(self.width, self.heads, qkv_bias=True)
        return ClassLayer(self.width, attention, mlp, self.scale, pre=self.pre)


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


class PaddedCrossPatch(CrossPatch):
    """The linear layer A across tokens, which reads zeros where the tokens are padding."""

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:  # type: ignore[override]  # it reads the padding too
        """Keep the shape (batch, length, channels); `padding` is (batch, length)."""
        return super().forward(x.masked_fill(padding[..., None], 0))


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

    def __init__(self, width: int, hidden: int, tokens: int) -> None:
        super().__init__()
        self.across_tokens = Residual(width, PaddedCrossPatch(tokens, bias=True))
        self.across_channels = Residual(width, FeedForward(width, hidden // width, bias=True))

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        """Keep the shape (batch, length, width)."""
        y: Tensor = self.across_channels(self.across_tokens(x, padding))
        return y


class DecoderLayer(nn.Module):
    """A triangular A across the tokens, attention to the source, then the MLP across the channels."""

    def __init__(self, width: int, hidden: int, tokens: int, heads: int) -> None:
        super().__init__()
        self.across_tokens = Residual(width, CrossPatch(tokens, bias=True, causal=True))
        self.attention = Residual(width, CrossAttention(width, heads))
        self.across_channels = Residual(width, FeedForward(width, hidden // width, bias=True))

    def forward(self, y: Tensor, states: Tensor, padding: Tensor) -> Tensor:
        """Keep the shape (batch, length, width); `states` are the source's, and `padding` says which of them are."""
        z: Tensor = self.across_channels(self.attention(self.across_tokens(y), states, padding))
        return z


class TranslationModel(nn.Module):
    """Maps token ids of source (batch, source length) and target (batch, length) to logits (batch, length, vocabulary).

    The logits at a place are those of the token after it. Sequences are padded with PADDING at their end; a source
    sentence has at least one token. There are `layers` in the encoder and as many in the decoder; `hidden` is the width
    of the MLPs, `heads` are those of cross-attention, `tokens` is the longest sequence, the side of the matrices A.
    Raises ValueError for a sequence longer than A.
    """

    def __init__(
        self,
        layers: int,
        width: int = 512,
        hidden: int = 2048,
        heads: int = 8,
        tokens: int = 1024,
        vocabulary: int = 32768,
    ) -> None:
        super().__init__()
        if width % heads or hidden % width or vocabulary <= max(PADDING, END):
            raise ValueError("heads must divide width, and width hidden; two ids of the vocabulary are no words")
        self.tokens = tokens
        self.embedding = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        self.encoder = nn.ModuleList(EncoderLayer(width, hidden, tokens) for _ in range(layers))
        self.encoder_aff = Aff(width)
        self.decoder = nn.ModuleList(DecoderLayer(width, hidden, tokens, heads) for _ in range(layers))
        self.decoder_aff = Aff(width)
        self.output = nn.Linear(width, vocabulary, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        """Return the logits (batch, target length, vocabulary)."""
        x, padding = self._embed(source_ids), source_ids == PADDING
        for layer in self.encoder:
            x = layer(x, padding)
        y, states = self._embed(target_ids), self.encoder_aff(x)
        for layer in self.decoder:
            y = layer(y, states, padding)
        logits: Tensor = self.output(self.decoder_aff(y))
        return logits

    def get_classifier(self) -> nn.Module:
        """Return the output layer, whose matrix is the embedding's."""
        return self.output

    def _embed(self, ids: Tensor) -> Tensor:
        if ids.shape[1] > self.tokens:
            raise ValueError(f"a sequence of {ids.shape[1]} tokens is longer than A, which is for {self.tokens}")
        embedded: Tensor = self.embedding(ids)
        return embedded * math.sqrt(embedded.shape[-1])
