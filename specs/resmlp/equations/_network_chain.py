"""A stage of the chain from CaiT to ResMLP: its weights, and the formulas of what only CaiT has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

from torch import nn

from imlp_audit.equations.functions_softmax import softmax
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.models.blocks import Communication, Pooling
from imlp_audit.models.reading import ResMlpForm

from ..models import CaitChain, CaitStage
from ._network import Network, Shapes, below, linear
from ._network_formula import Formula
from ._network_norms import Batch, rounded
from ._network_weights import Column, Weights, affine

HEADS = 2


@dataclass(frozen=True)
class Chain(Network):
    """A stage of the chain. It has Algorithm 1's biases and scales, and attention where that is not replaced yet."""

    cait_stage: CaitStage = CaitStage.ATTENTION

    @staticmethod
    def at(stage: CaitStage, net: Network) -> Chain:
        """Return a network at a stage."""
        communication = Communication.LINEAR if stage is CaitStage.LINEAR else Communication.MLP
        expansion = 2 if stage in (CaitStage.PATCH_MLP, CaitStage.CLASS_MLP) else None
        parts = {"form": ResMlpForm.ALGORITHM, "communication": communication, "expansion": expansion}
        return Chain(**{**vars(net), **parts}, cait_stage=stage)

    @property
    def class_attention(self) -> bool:
        """Whether attention makes the token that is added to the class token."""
        return self.cait_stage in (CaitStage.ATTENTION, CaitStage.PATCH_MLP)

    def fresh(self) -> nn.Module:
        """Return the package's network as it starts."""
        return CaitChain(
            stage=self.cait_stage,
            layers=self.layers,
            width=self.width,
            heads=HEADS,
            patch=self.patch,
            expansion=self.expansion,
            norm=self.norm,
            nonlinearity=self.nonlinearity,
            pooling=Pooling.AVERAGE if self.pooling is Pooling.AVERAGE else None,
            size=self.size,
            classes=self.classes,
        ).eval()

    def shapes(self) -> Shapes:
        """Yield the names and the shapes of the weights."""
        yield "positions", (self.patches, self.width)
        yield from super().shapes()

    def exchange(self) -> Shapes:
        """Yield the weights of what exchanges information between patches."""
        if self.cait_stage is not CaitStage.ATTENTION:
            yield from super().exchange()
            return
        yield from linear("qkv", (3 * self.width, self.width))
        yield from linear("before", (HEADS, HEADS))
        yield from linear("after", (HEADS, HEADS))
        yield from linear("proj", (self.width, self.width))

    def aggregate(self) -> Shapes:
        """Yield the weights of what makes one token of all."""
        if not self.class_attention:
            yield from super().aggregate()
            return
        for name in ("q", "k", "v", "proj"):
            yield from below("aggregate", linear(name, (self.width, self.width)))


@dataclass(frozen=True)
class ChainFormula(Formula):
    """The formulas of a stage."""

    stage: CaitStage = CaitStage.ATTENTION

    @staticmethod
    def of(net: Chain) -> ChainFormula:
        """Return the formulas of a network."""
        return ChainFormula(net, stage=net.cait_stage)

    def embedded(self, batch: Batch, weights: Weights) -> Batch:
        """Return what enters the first layer: the projected patches and their positions."""
        return [x + weights.matrix("positions") for x in batch]

    def communication(self, weights: Weights) -> Callable[[RoundedMatrix], RoundedMatrix]:
        """Self-attention whose heads are mixed before the softmax and after it; or what replaces it."""
        if self.stage is not CaitStage.ATTENTION:
            return super().communication(weights)

        def attend(x: RoundedMatrix) -> RoundedMatrix:
            qkv = x.map_rows(affine(weights, "qkv"))
            q, k, v = ([one_head(qkv, HEADS * part + head, 3 * HEADS) for head in range(HEADS)] for part in range(3))
            scores = [scaled_queries(one) @ other.T for one, other in zip(q, k, strict=True)]
            shares = [table.map_rows(softmax) for table in _across(scores, affine(weights, "before"))]
            mixed = _across(shares, affine(weights, "after"))
            return joined([table @ value for table, value in zip(mixed, v, strict=True)]).map_rows(
                affine(weights, "proj")
            )

        return attend

    def aggregate(self, weights: Weights) -> Callable[[RoundedMatrix], Column]:
        """Attention of the class token to all tokens; or what replaces it."""
        if self.stage not in (CaitStage.ATTENTION, CaitStage.PATCH_MLP):
            return super().aggregate(weights)

        def attend(x: RoundedMatrix) -> Column:
            q, k, v = x[:1].map_rows(affine(weights, "q")), *(x.map_rows(affine(weights, name)) for name in "kv")
            heads = [
                (scaled_queries(one_head(q, head)) @ one_head(k, head).T).map_rows(softmax) @ one_head(v, head)
                for head in range(HEADS)
            ]
            return affine(weights, "proj")(joined(heads)[0])

        return attend


def one_head(x: RoundedMatrix, place: int, parts: int = HEADS) -> RoundedMatrix:
    """Return one of equal parts of the channels."""
    width = len(x[0]) // parts
    return RoundedMatrix(row[place * width : (place + 1) * width] for row in x)


def scaled_queries(q: RoundedMatrix) -> RoundedMatrix:
    """q / sqrt of its width: two roundings of a root, two of its reciprocal."""
    return q.scale(rounded(1 / sqrt(len(q[0])), 4, q[0][0].unit))


def _across(tables: list[RoundedMatrix], mix: Callable[[Column], Column]) -> list[RoundedMatrix]:
    """Apply a linear layer to the numbers that the heads have at each place."""
    rows, columns = len(tables[0]), len(tables[0][0])
    mixed = [[mix([table[i][j] for table in tables]) for j in range(columns)] for i in range(rows)]
    return [RoundedMatrix([number[head] for number in row] for row in mixed) for head in range(len(tables))]


def joined(heads: list[RoundedMatrix]) -> RoundedMatrix:
    """Put the heads' channels one after the other."""
    return RoundedMatrix([number for row in rows for number in row] for rows in zip(*heads, strict=True))
