"""GELU is the layer's only non-linearity: with the identity for GELU it is affine, f(X + W) + f(0) = f(X) + f(W).

Place: Introduction
Printed: an architecture with only linear layers and GELU non-linearity
Bound: that of both sublayers, multiplied out, and one rounding of the last sum
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st
from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._layer import (
    PATCHES,
    Column,
    CrossPatchCase,
    FeedForwardCase,
    added,
    affs,
    each_of,
    loaded,
    matrix_of,
    product,
    transposed,
)
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import Matrix, matrices
from imlp_audit.models.resmlp import EquationLayer


@dataclass(frozen=True)
class Layer:
    """A layer of one channel on one patch or 2 x 2 patches, its input X, and W."""

    cross_patch: CrossPatchCase
    feedforward: FeedForwardCase
    w: Matrix

    def module(self, arithmetic: Arithmetic) -> EquationLayer:
        """Return the layer with the identity for GELU."""
        weights = {**self.cross_patch.weights(), **self.feedforward.weights()}
        layer = loaded(EquationLayer(1, len(self.cross_patch.a)), weights, arithmetic)
        for name, module in list(layer.named_modules()):
            if isinstance(module, nn.GELU):
                layer.set_submodule(name, nn.Identity())
        return layer

    def printed(self, x: Matrix, arithmetic: Arithmetic) -> list[list[Rounded]]:
        """Return Y of X by Eq. 2 and 3 with the identity for GELU."""
        b, c = arithmetic.matrix(self.feedforward.b), arithmetic.matrix(self.feedforward.c)

        def mixed(z: Column) -> list[Rounded]:
            hidden = product(b, self.feedforward.before.of(z, arithmetic))
            return self.feedforward.after.of(product(c, hidden), arithmetic)

        z = replace(self.cross_patch, x=x).printed(arithmetic)
        return added(z, transposed([mixed(column) for column in transposed(z)]))


def judge(case: Layer, arithmetic: Arithmetic) -> Trial:
    """Hold the module at X + W and at zero against the printed form at X and at W."""
    module, x = case.module(arithmetic), case.cross_patch.x
    points = arithmetic.tensor([x, case.w])
    together = matrix_of(module((points[0] + points[1]).T[None]) + module(0 * points[:1].transpose(1, 2)))
    apart = added(case.printed(x, arithmetic), case.printed(case.w, arithmetic))
    feedforward = {name: value for name, value in case.feedforward.shown().items() if name != "Z"}
    return equal(together, apart, **case.cross_patch.shown(), W=case.w, **feedforward)


def _layers(patches: int) -> st.SearchStrategy[Layer]:
    x, a = matrices(1, patches), matrices(patches, patches)
    z, b, c = st.just(((0.0,) * patches,)), matrices(4, 1), matrices(1, 4)
    cross_patch = st.builds(CrossPatchCase, x, a, affs(1), affs(1))
    feedforward = st.builds(FeedForwardCase, z, b, c, affs(1), affs(1))
    return st.builds(Layer, cross_patch, feedforward, x)


CLAIM = Claim(each_of(_layers, PATCHES), judge)
