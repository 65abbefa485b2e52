"""The sequence-to-sequence ResMLP written out, layer by layer, in rounded numbers; tokens are the rows of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from random import Random

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.functions_softmax import softmax
from imlp_audit.equations.matrix import RoundedMatrix, add

from ..models import TranslationModel
from ._network import Nested, Shapes, below, filled, linear
from ._network_chain import HEADS, joined, one_head, scaled_queries
from ._network_norms import rounded, settle
from ._network_weights import Weights, affine, scale

PADDING = 1  # fairseq's id of what fills a sentence up
WORDS = 6
Ids = tuple[int, ...]


@dataclass(frozen=True)
class Translation:
    """A source and a target sentence, filled up to their batches' lengths, and the seed of all weights."""

    layers: int
    tokens: int
    source: Ids
    target: Ids
    seed: int
    width: int = 4
    hidden: int = 8

    def fresh(self) -> TranslationModel:
        """Return the package's model as it starts."""
        sizes = {"layers": self.layers, "width": self.width, "hidden": self.hidden, "tokens": self.tokens}
        return TranslationModel(**sizes, heads=HEADS, vocabulary=WORDS)

    def shapes(self) -> Shapes:
        """Yield the names and the shapes of the weights; the output's matrix is the embedding's."""
        yield "embedding.weight", (WORDS, self.width)
        for side in ("encoder", "decoder"):
            for layer in range(self.layers):
                yield from below(f"{side}.{layer}", self._layer(decodes=side == "decoder"))
            yield from below(f"{side}_aff", self._aff())

    def _layer(self, *, decodes: bool) -> Shapes:
        square = (self.tokens, self.tokens)
        yield from self._around("across_tokens", linear("a" if decodes else "linear.a", square))
        if decodes:
            parts = [linear(name, (self.width, self.width)) for name in ("query", "key", "value", "proj")]
            yield from self._around("attention", (each for part in parts for each in part))
        mlp = [*linear("b", (self.hidden, self.width)), *linear("c", (self.width, self.hidden))]
        yield from self._around("across_channels", iter(mlp))

    def _around(self, name: str, sublayer: Shapes) -> Shapes:
        yield from below(f"{name}.aff", self._aff())
        yield from below(f"{name}.sublayer", sublayer)
        yield f"{name}.scale.alpha", (self.width,)

    def _aff(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        yield from ((name, (self.width,)) for name in ("alpha", "beta"))

    def weights(self) -> Mapping[str, Nested]:
        """Return the weights by their names."""
        random = Random(self.seed)
        return {name: filled(shape, random) for name, shape in self.shapes()}

    def shown(self) -> dict[str, object]:
        """Return what a counterexample shows; the weights are too many."""
        return dict(vars(self))


@dataclass(frozen=True)
class Formulas:
    """The formulas of one translation; `padded` are the places of the source that are filled up."""

    case: Translation
    weights: Weights
    arithmetic: Arithmetic

    @property
    def padded(self) -> tuple[bool, ...]:
        """Which tokens of the source are padding."""
        return tuple(word == PADDING for word in self.case.source)

    def embedded(self, ids: Ids) -> RoundedMatrix:
        """Return each token's embedding times sqrt(d)."""
        matrix = self.weights.matrix("embedding.weight")
        root = rounded(sqrt(self.case.width), 2, self.arithmetic.unit)
        return RoundedMatrix([root * number for number in matrix[word]] for word in ids)

    def encoder(self, layer: int, x: RoundedMatrix) -> RoundedMatrix:
        """X + A Aff(X)^T over what is not padding, then the MLP."""
        weights = self.weights.below(f"encoder.{layer}")

        def mixed(read: RoundedMatrix) -> RoundedMatrix:
            zero = self.arithmetic.number(0.0)
            kept = [[zero] * len(row) if out else row for row, out in zip(read, self.padded, strict=True)]
            return self._across(RoundedMatrix(kept), weights.below("across_tokens.sublayer.linear"), causal=False)

        x = self._residual(x, mixed, weights.below("across_tokens"))
        return self._mlp(x, weights.below("across_channels"))

    def decoder(self, layer: int, y: RoundedMatrix, states: RoundedMatrix) -> RoundedMatrix:
        """Y + A Aff(Y)^T with a triangular A, then attention to the source, then the MLP."""
        weights = self.weights.below(f"decoder.{layer}")
        a = weights.below("across_tokens.sublayer")
        y = self._residual(y, lambda read: self._across(read, a, causal=True), weights.below("across_tokens"))
        attention = weights.below("attention")
        y = self._residual(y, lambda read: self._attend(read, states, attention.below("sublayer")), attention)
        return self._mlp(y, weights.below("across_channels"))

    def aff(self, side: str, x: RoundedMatrix) -> RoundedMatrix:
        """Return what stands behind the last layer of a side."""
        return x.map_rows(scale(self.weights.below(f"{side}_aff")))

    def scores(self, y: RoundedMatrix) -> RoundedMatrix:
        """Return the score of each word after each token: the embedding's matrix once more."""
        return y @ self.weights.matrix("embedding.weight").T

    def _residual(
        self, x: RoundedMatrix, part: Callable[[RoundedMatrix], RoundedMatrix], weights: Weights
    ) -> RoundedMatrix:
        read = x.map_rows(scale(weights.below("aff")))
        return (x + part(read).map_rows(scale(weights.below("scale")))).map(settle)

    def _mlp(self, x: RoundedMatrix, weights: Weights) -> RoundedMatrix:
        first, last = affine(weights, "sublayer.b"), affine(weights, "sublayer.c")
        return self._residual(
            x, lambda read: read.map_rows(lambda row: last([gelu(number) for number in first(row)])), weights
        )

    def _across(self, x: RoundedMatrix, weights: Weights, *, causal: bool) -> RoundedMatrix:
        """A's first rows and columns, as many as there are tokens, and the first entries of its bias."""
        size, a, bias = len(x), weights.matrix("a.weight"), weights.vector("a.bias")
        zero = self.arithmetic.number(0.0)
        rows = [[zero if causal and m > n else a[n][m] for m in range(size)] for n in range(size)]
        return (RoundedMatrix(rows) @ x).T.map_rows(lambda channel: add(channel, bias[:size])).T

    def _attend(self, y: RoundedMatrix, states: RoundedMatrix, weights: Weights) -> RoundedMatrix:
        """Attention of each token to the source's tokens that are not padding."""
        kept = RoundedMatrix(row for row, out in zip(states, self.padded, strict=True) if not out)
        q = y.map_rows(affine(weights, "query"))
        k, v = (kept.map_rows(affine(weights, name)) for name in ("key", "value"))
        heads = [
            (scaled_queries(one_head(q, head)) @ one_head(k, head).T).map_rows(softmax) @ one_head(v, head)
            for head in range(HEADS)
        ]
        return joined(heads).map_rows(affine(weights, "proj"))
