"""A Mixer layer as the notes write it: the four matrices are multiplied from the right, transposed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.mixer import fill
from imlp_audit.equations.strategies import NUMBERS, Matrix, Vector, matrices
from imlp_audit.models.mixer import MixerLayer


@dataclass(frozen=True)
class Layer:
    """X (S x C), W_1 (D_S x S), W_2 (S x D_S), W_3 (D_C x C) and W_4 (C x D_C)."""

    x: Matrix
    w1: Matrix
    w2: Matrix
    w3: Matrix
    w4: Matrix

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the notes' symbols."""
        return {"S": len(self.x), "C": len(self.x[0]), "D_S": len(self.w1), "D_C": len(self.w3)}

    def module(self, arithmetic: Arithmetic) -> MixerLayer:
        """Return the package's layer with these weights, without biases; its norms neither scale nor shift."""
        tokens, channels = len(self.x), len(self.x[0])
        weights: dict[str, object] = {}
        for step, first, second in (("token_mixing", self.w1, self.w2), ("channel_mixing", self.w3, self.w4)):
            weights |= {f"{step}.mlp.fc1.weight": first, f"{step}.mlp.fc2.weight": second}
            weights |= {f"{step}.norm.weight": (1.0,) * channels, f"{step}.norm.bias": (0.0,) * channels}
        return fill(lambda: MixerLayer(tokens, channels, len(self.w1), len(self.w3), bias=False), weights, arithmetic)

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"X": self.x, "W_1": self.w1, "W_2": self.w2, "W_3": self.w3, "W_4": self.w4}


def layers(rows: Callable[[int], Strategy[Vector]] | None = None) -> Strategy[Layer]:
    """Layers of up to 2 tokens, 2 or 3 channels that differ in each token, and hidden widths of up to 2.

    Of channels that are equal, LayerNorm has a bound of rounding so wide that it hides errors. With `rows` the tokens
    are any that it makes.
    """

    def of_sizes(sizes: tuple[int, int, int, int]) -> Strategy[Layer]:
        s, c, d_s, d_c = sizes
        row = rows(c) if rows else st.permutations(NUMBERS).map(lambda numbers: tuple(numbers[:c]))
        weights = (d_s, s), (s, d_s), (d_c, c), (c, d_c)
        return st.builds(Layer, st.tuples(*[row] * s), *[matrices(*shape) for shape in weights])

    return st.tuples(st.integers(1, 2), st.integers(2, 3), st.integers(1, 2), st.integers(1, 2)).flatmap(of_sizes)
