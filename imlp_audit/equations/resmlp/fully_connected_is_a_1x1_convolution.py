"""A fully connected layer applied to each patch is a convolution with a 1 x 1 receptive field and the same weights.

Place: Related work, Other architectures with similar components
Printed: A fully connected layer is equivalent to a convolution layer with a 1 x 1 receptive field
Bound: gamma_{d+1} times the magnitudes of the weights' products and the bias
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._layer import added, each_of, product, transposed
from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors


@dataclass(frozen=True)
class FullyConnected:
    """Features (d x 4, of 2 x 2 patches), weights and biases."""

    x: Matrix
    weight: Matrix
    bias: Vector


def judge(case: FullyConnected, arithmetic: Arithmetic) -> Trial:
    """Hold the convolution of the grid, and the linear layer of each patch, against the sum of products."""
    x, weight, bias = arithmetic.tensor(case.x), arithmetic.tensor(case.weight), arithmetic.tensor(case.bias)
    convolved = nn.functional.conv2d(x.view(1, -1, 2, 2), weight[:, :, None, None], bias).flatten(2)[0]
    connected = nn.functional.linear(x.T, weight, bias).T

    patches, rows = transposed(arithmetic.matrix(case.x)), arithmetic.matrix(case.weight)
    products = transposed([product(rows, patch) for patch in patches])
    printed = added(products, [arithmetic.vector([number] * 4) for number in case.bias])
    shown = {"X": case.x, "weights": case.weight, "bias": case.bias}
    convolution = equal(convolved, printed, **shown)
    return equal(connected, printed, **shown) if convolution.holds else convolution


CLAIM = Claim(
    each_of(lambda d, h: st.builds(FullyConnected, matrices(d, 4), matrices(h, d), vectors(h)), (1, 2, 3), (1, 2)),
    judge,
)
