"""Networks for texts: token ids, blocks, and what scores the words or the classes; and the same written out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import tanh
from typing import assert_never

import torch
from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.equations.rounded import Rounded
from imlp_audit.models.blocks import Gate
from imlp_audit.models.host import BuildRequest, Host
from imlp_audit.models.hosts import GmlpText
from imlp_audit.models.reading import OutputLayer, PaperReading, Presence, SpatialMatrix, TextReading
from imlp_audit.models.recipe import Recipe

from ._gmlp_formula import BlockKind
from ._stages import Stage, Staged
from ._weights import Formulas, Shapes, Weights, linear, norm, weights

_EPSILON = 1e-5  # torch's
_BERT_EPSILON = 1e-12  # of the norm before BERT's output layer


def as_written(host: Host) -> dict[str, object]:
    """Return a host as a recipe has it that leaves out what is the reading's to say, and the usual unit."""
    fields = {name: getattr(host, name) for name in type(host).model_fields}
    return {name: value for name, value in fields.items() if value is not None and value != Gate.SPLIT}


@dataclass(frozen=True)
class TextKind:
    """A network for texts: what the paper's model says, what the reading says, and the classes of a classifier."""

    host: GmlpText
    reading: TextReading
    classes: int | None

    def build(self) -> nn.Module:
        """Return the package's network."""
        recipe = Recipe.of(gmlp_text=as_written(self.host), classes=self.classes)
        reading = recipe.part_of(PaperReading(text=self.reading))
        return recipe.host.build(BuildRequest(recipe.image, recipe.classes, reading))

    @property
    def block(self) -> BlockKind:
        """The blocks; what the model leaves out is the reading's."""
        host, reading = self.host, self.reading
        hidden = reading.ffn_width if host.hidden is None else host.hidden
        matrix = reading.spatial_matrix if host.spatial_matrix is None else host.spatial_matrix
        length, normed = reading.sequence_length, reading.gate_norm is Presence.YES
        return BlockKind(length, host.width, hidden, host.gate, _EPSILON, matrix, host.attention, normed)

    @property
    def pooled(self) -> bool:
        """Whether there is a pooler."""
        return self.reading.pooler is Presence.YES

    def shapes(self) -> Shapes:
        """Return the shapes of all parameters."""
        c, vocabulary = self.host.width, self.reading.vocabulary
        shapes: Shapes = {"embedding.weight": (vocabulary, c), **norm("norm", c)}
        for layer in range(self.host.layers):
            shapes |= self.block.shapes(f"blocks.{layer}")
        if self.pooled:
            shapes |= linear("pooler.dense", c, c)
        return shapes | (self._output_shapes() if self.classes is None else linear("head", c, self.classes))

    def _output_shapes(self) -> Shapes:
        c, vocabulary = self.host.width, self.reading.vocabulary
        match self.reading.output_layer:
            case OutputLayer.NONE | OutputLayer.TIED:
                return {}
            case OutputLayer.TIED_BIAS:
                return {"output.bias": (vocabulary,)}
            case OutputLayer.MASKED_LM:
                return linear("output.0", c, c) | norm("output.2", c) | {"output.3.bias": (vocabulary,)}
            case OutputLayer.UNTIED:
                return linear("output", c, vocabulary)
            case other:
                assert_never(other)

    def output(self, of: Formulas, states: RoundedMatrix) -> RoundedMatrix:
        """Return the score of each word at each token, or the states where there is no output layer."""
        match self.reading.output_layer:
            case OutputLayer.NONE:
                return states
            case OutputLayer.TIED:
                return states @ of.matrix("embedding.weight").T
            case OutputLayer.TIED_BIAS:
                return of.affine(states, "embedding", bias="output")
            case OutputLayer.MASKED_LM:
                transformed = of.norm(of.affine(states, "output.0").map(gelu), "output.2", _BERT_EPSILON)
                return of.affine(transformed, "embedding", bias="output.3")
            case OutputLayer.UNTIED:
                return of.affine(states, "output")
            case other:
                assert_never(other)


@dataclass(frozen=True)
class TextNetwork:
    """A network, two texts as ids, and its weights."""

    kind: TextKind
    texts: tuple[tuple[int, ...], tuple[int, ...]]
    weights: Weights

    def judge(self, arithmetic: Arithmetic) -> Trial:
        """Hold the package's network against the embedding, the blocks, a norm, and what stands behind them."""
        ids = torch.tensor(self.texts, device=arithmetic.device)
        words = self._judge_words(ids)
        if not words.holds:
            return words
        stages = list(self._stages(self.weights.in_formulas(arithmetic)))
        pooled = ("pooler",) if self.kind.pooled else ()
        returns = ("output", *pooled) if self.kind.classes is None else ("head",)
        staged = Staged(self.kind.build(), self.weights, ids, stages, returns)
        return staged.judge(arithmetic, self.shown())

    def _judge_words(self, ids: Tensor) -> Trial:
        """Judge whether each word's embedding starts as other than 0, and is learned as often as it occurs."""
        embedding = self.kind.build().to(ids.device).get_submodule("embedding")
        weight = embedding.get_parameter("weight")
        (gradient,) = torch.autograd.grad(embedding(ids).sum(), weight)
        occurs = [ids.eq(word).sum().item() for word in range(len(weight))]
        holds = bool((weight != 0).any(1).all()) and gradient.tolist() == [
            [often] * weight.shape[1] for often in occurs
        ]
        return Trial(holds, {**self.shown(), "embedding": weight.tolist(), "its gradient": gradient.tolist()})

    def _stages(self, of: Formulas) -> Iterator[Stage]:
        embedding = of.matrix("embedding.weight")
        yield Stage("embedding", None, lambda _: RoundedMatrix(embedding[word] for word in self.texts[1]))
        before = "embedding"
        for name in (f"blocks.{layer}" for layer in range(self.kind.host.layers)):
            yield Stage(name, before, partial(self.kind.block.printed, name, of))
            before = name
        yield Stage("norm", before, lambda x: of.norm(x, "norm", _EPSILON))
        if self.kind.pooled:
            yield Stage("pooler", "norm", lambda x: of.affine(x[:1], "pooler.dense").map(_tanh))
        if self.kind.classes is None:
            yield Stage("output", "norm", partial(self.kind.output, of))
        else:
            yield Stage("head", "pooler" if self.kind.pooled else "norm", lambda x: of.affine(x[:1], "head"))

    def shown(self) -> dict[str, object]:
        """Return what a counterexample shows; the weights are too many."""
        return {"network": repr(self.kind.host), "reading": repr(self.kind.reading), "texts": self.texts}


def _tanh(x: Rounded) -> Rounded:
    """Tanh, which the mathematical library has to 2 units in the last place."""
    return x.through(tanh, 1.0, 4 * x.unit)


_LAYERS = st.sampled_from((2, 1, 3))
_WIDTHS = st.integers(3, 4)  # of two channels, LayerNorm leaves little more than which is the larger
_HIDDEN = st.sampled_from((6, 4))
_WORDS = 5
_PRESENCES = st.sampled_from(Presence)


def text_reading(
    length: int,
    ffn_width: int,
    matrix: SpatialMatrix = SpatialMatrix.FULL,
    *,
    gate_norm: Presence = Presence.YES,
    output_layer: OutputLayer = OutputLayer.NONE,
    pooler: Presence = Presence.NO,
) -> TextReading:
    """Return what a reading says of texts of a length, in few words."""
    return TextReading(_WORDS, length, ffn_width, matrix, gate_norm, output_layer, pooler)


def texts(classes: st.Strategy[int | None]) -> st.Strategy[TextNetwork]:
    """Networks of one to three blocks for texts of two or three of five words, with everything that a reading says."""
    matrices = st.sampled_from((None, *SpatialMatrix))
    host = st.builds(
        GmlpText, layers=_LAYERS, width=_WIDTHS, hidden=st.one_of(st.just(None), _HIDDEN), gate=st.sampled_from(Gate),
        spatial_matrix=matrices, attention=st.sampled_from((None, 4, 1)),
    )  # fmt: skip
    reading = st.builds(
        text_reading, st.integers(2, 3), _HIDDEN, st.sampled_from(SpatialMatrix),
        gate_norm=_PRESENCES, output_layer=st.sampled_from(OutputLayer), pooler=_PRESENCES,
    )  # fmt: skip
    return st.builds(TextKind, host, reading, classes).flatmap(_networks)


def _networks(kind: TextKind) -> st.Strategy[TextNetwork]:
    text = st.tuples(*[st.integers(0, _WORDS - 1)] * kind.reading.sequence_length)
    return st.builds(TextNetwork, st.just(kind), st.tuples(text, text), weights(kind.shapes()))
