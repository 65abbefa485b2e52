"""Algorithm 1's layer with the weights of the equations and, for its own biases, what they leave for it."""

from __future__ import annotations

from collections.abc import Mapping

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.strategies import Vector, matrices, nonzero, vectors
from imlp_audit.models.resmlp import AlgorithmLayer

from ._layer import PATCHES, AffCase, CrossPatchCase, FeedForwardCase, Values, each_of, loaded

DIVISORS = st.sampled_from((1.0, -1.0, 2.0, -2.0, 0.5, -0.5))  # beta / alpha is exact


def cross_patch_of_algorithm1(case: CrossPatchCase, bias: float, arithmetic: Arithmetic) -> AlgorithmLayer:
    """Return the layer with Eq. 2's weights, and one bias of A for all patches."""
    own: Mapping[str, Values] = {"across_patches.a.bias": (bias,) * len(case.a)}
    shared = {name: values for name, values in case.weights().items() if name != "post1.beta"}
    return loaded(AlgorithmLayer(len(case.x), len(case.a)), {**shared, **own}, arithmetic)


def feedforward_of_algorithm1(case: FeedForwardCase, bias: Vector, arithmetic: Arithmetic) -> AlgorithmLayer:
    """Return the layer with Eq. 3's weights, a bias of C and none of B."""
    own: Mapping[str, Values] = {"across_channels.b.bias": (0.0,) * len(case.b), "across_channels.c.bias": bias}
    shared = {name: values for name, values in case.weights().items() if name != "post2.beta"}
    return loaded(AlgorithmLayer(len(case.z), len(case.z[0])), {**shared, **own}, arithmetic)


def divisible_affs(width: int, beta: Strategy[float] | None = None) -> Strategy[AffCase]:
    """Affs whose beta / alpha is exact."""
    return st.builds(AffCase, vectors(width, DIVISORS), vectors(width, beta))


def cross_patches_without_first_shift() -> Strategy[CrossPatchCase]:
    """Eq. 2 for two channels on a grid of 1 x 1 or 2 x 2 patches, with beta = 0 before A."""

    def sized(patches: int) -> Strategy[CrossPatchCase]:
        x, a = matrices(2, patches, nonzero()), matrices(patches, patches, nonzero())
        return st.builds(CrossPatchCase, x, a, divisible_affs(2, st.just(0.0)), divisible_affs(2))

    return each_of(sized, PATCHES)
