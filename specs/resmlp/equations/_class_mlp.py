"""A class-MLP layer's tokens and the weights that its claims set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.functions import relu
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, numbers, vectors
from imlp_audit.models.resmlp import ClassMlpLayer

from ._layer import PATCHES, WIDTHS, Values, each_of, loaded


@dataclass(frozen=True)
class ClassMlpCase:
    """A class token, patches (a row each) and the aggregator's weights for the token and each patch."""

    token: Vector
    patches: Matrix
    aggregator: Vector

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"d": len(self.token), "N^2": len(self.patches)}

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"class token": self.token, "patches": self.patches, "aggregator": self.aggregator}


def class_mlps() -> Strategy[ClassMlpCase]:
    """Class-MLPs of one or two channels on a grid of 1 x 1 or 2 x 2 patches."""

    def sized(d: int, patches: int) -> Strategy[ClassMlpCase]:
        return st.builds(ClassMlpCase, vectors(d), matrices(patches, d), vectors(1 + patches))

    return each_of(sized, WIDTHS, PATCHES)


@dataclass(frozen=True)
class ClassLayerCase:
    """A class token and patches of one channel, and all numbers of a layer with an MLP of two units and ReLU."""

    tokens: Vector
    aggregator: Vector
    aggregator_bias: float
    pre1: Vector
    pre2: Vector
    scales: Vector
    b: Vector
    b_bias: Vector
    c: Vector
    c_bias: float

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"d": 1, "N^2": len(self.tokens) - 1}

    def module(self, arithmetic: Arithmetic) -> ClassMlpLayer:
        """Return the package's layer with these numbers."""
        weights: dict[str, Values] = {"aggregate.weight": (self.aggregator,), "aggregate.bias": (self.aggregator_bias,)}
        for i, (alpha, beta) in enumerate((self.pre1, self.pre2), start=1):
            weights |= {f"pre{i}.alpha": (alpha,), f"pre{i}.beta": (beta,), f"post{i}.alpha": (self.scales[i - 1],)}
        weights |= {"mlp.b.weight": tuple((b,) for b in self.b), "mlp.b.bias": self.b_bias}
        weights |= {"mlp.c.weight": (self.c,), "mlp.c.bias": (self.c_bias,)}
        return loaded(
            ClassMlpLayer(1, len(self.tokens) - 1, scale=1.0, expansion=2, activation=nn.ReLU), weights, arithmetic
        )

    def printed(self, arithmetic: Arithmetic) -> Rounded:
        """Return the class token: with the aggregate of all tokens added, and then the MLP of that."""
        (alpha1, beta1), (alpha2, beta2) = self.pre1, self.pre2
        token, *_ = tokens = arithmetic.vector(self.tokens)
        read = [alpha1 * each + beta1 for each in tokens]
        aggregate = total(a * each for a, each in zip(self.aggregator, read, strict=True)) + self.aggregator_bias
        token = token + self.scales[0] * aggregate
        hidden = [relu(b * (alpha2 * token + beta2) + bias) for b, bias in zip(self.b, self.b_bias, strict=True)]
        return token + self.scales[1] * (total(c * h for c, h in zip(self.c, hidden, strict=True)) + self.c_bias)


def class_layers() -> Strategy[ClassLayerCase]:
    """Layers on one to three patches."""

    def of(patches: int) -> Strategy[ClassLayerCase]:
        aff, pair, number = st.tuples(nonzero(), numbers()), vectors(2), numbers()
        tokens, weights = vectors(1 + patches), vectors(2, nonzero())
        return st.builds(
            ClassLayerCase, tokens, tokens, number, aff, aff, weights, weights, pair, weights, number
        )  # fmt: skip

    return st.integers(1, 3).flatmap(of)
