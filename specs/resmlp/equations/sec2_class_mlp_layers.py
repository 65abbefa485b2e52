"""Sec. 2: the layers of class-MLP, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim, equal
from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.equations.strategies import Matrix, matrices
from imlp_audit.models.blocks import Pooling
from imlp_audit.models.resmlp import ClassMlp

from ._network import CLASS_LAYERS, Nested, Network
from ._network_formula import Formula
from ._network_weights import Weights


@dataclass(frozen=True)
class Pooled:
    """Patches (a row each), and the seed of the weights of one layer or two; `given` says how many, if anything."""

    patches: Matrix
    given: int | None
    seed: int

    @property
    def depth(self) -> int:
        """How many layers there are."""
        return CLASS_LAYERS if self.given is None else self.given

    @property
    def net(self) -> Network:
        """A network that pools so."""
        grid, width = (1, len(self.patches)), len(self.patches[0])
        return Network(pooling=Pooling.CLASS_MLP, grid=grid, width=width, seed=self.seed)

    def weights(self) -> Mapping[str, Nested]:
        """Return the weights by the module's names."""
        layers = ("token", *(f"layers.{layer}." for layer in range(self.depth)))
        of_pool = {name.removeprefix("pool."): weight for name, weight in self.net.weights().items()}
        return {name: weight for name, weight in of_pool.items() if name.startswith(layers)}

    def module(self, arithmetic: Arithmetic) -> ClassMlp:
        """Return the package's class-MLP with these weights."""
        depth = {} if self.given is None else {"depth": self.given}
        module = ClassMlp(len(self.patches[0]), len(self.patches), **depth)
        arithmetic.place(module)
        arithmetic.load(module, self.weights())
        return module

    def printed(self, arithmetic: Arithmetic) -> RoundedMatrix:
        """Return the class token after all layers, as one row."""
        weights, formula = Weights.of(self.weights(), arithmetic), Formula(self.net)
        batch = [RoundedMatrix([weights.vector("token"), *arithmetic.matrix(self.patches)])]
        for layer in range(self.depth):
            batch = formula.class_layer(batch, weights.below(f"layers.{layer}"))
        return batch[0][:1]


def _pooled(patches: int, width: int) -> st.Strategy[Pooled]:
    return st.builds(Pooled, matrices(patches, width), st.sampled_from((None, 2, 1)), st.integers(0, 99))


@claim(
    st.tuples(st.integers(1, 3), st.integers(1, 2)).flatmap(lambda sizes: _pooled(*sizes)),
    share=0.2,
)
def class_mlp_of_two_layers(case: Pooled, arithmetic: Arithmetic) -> Trial:
    """Class-MLP is two layers, each with weights of its own, that update a learned class token from the patches; the
    class token after the last one is the average's replacement.

    Place: Sec. 2, Class-MLP as an alternative to average-pooling
    Printed: this consists of two layers that have the same structure as the transformer, but in which only the class
        token is updated based on the frozen patch embeddings
    Bound: of each layer, that of the sums over tokens and channels, and of GELU between them
    """
    # Hold the module, on the second of a batch of two images, against its layers one after the other.
    x = arithmetic.tensor(case.patches)[None]
    token = case.module(arithmetic)(torch.cat((x + 1, x)))[1:]
    shown = {"patches": case.patches, "layers": case.depth, "seed": case.seed}
    return equal(token, case.printed(arithmetic), **shown)
