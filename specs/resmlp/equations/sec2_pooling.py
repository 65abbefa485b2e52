"""Sec. 2, and Sec. 3.3 on Table 3: average pooling, and layers whose patches communicate otherwise or not at all."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.functions import relu
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Matrix, Vector, matrices, nonzero, vectors
from imlp_audit.models.resmlp import AveragePooling, BagOfPatchesLayer, FeedForward, LayerScale, OnGrid

from ._layer import Values, loaded


@claim(st.tuples(st.integers(1, 4), st.integers(1, 3)).flatmap(lambda size: matrices(*size)))
def average_pooling(case: Matrix, arithmetic: Arithmetic) -> Trial:
    """The image is represented by the average of its patches' embeddings, channel by channel.

    Place: Sec. 2, The overall ResMLP architecture
    Printed: These output embeddings are then averaged ("average-pooling") as a d-dimension vector to represent the
        image
    Bound: gamma_{N^2} times the mean of the magnitudes
    """
    # Hold the package's pooling, of the second of a batch of two images, against the mean.
    patches = arithmetic.tensor(case)
    mean = [total(channel) * arithmetic.number(1 / len(case)) for channel in arithmetic.matrix(case).T]
    rounded = [Rounded(each.value, each.size, each.steps + 1, each.carried, each.unit) for each in mean]  # of 1 / N^2
    return equal(AveragePooling()(torch.stack((patches + 1, patches)))[1], rounded, embeddings=case)


@dataclass(frozen=True)
class Convolved:
    """The height and width of a grid of patches, one number for each patch, and a 3 x 3 kernel."""

    grid: tuple[int, int]
    x: Vector
    kernel: Matrix

    def printed(self, arithmetic: Arithmetic) -> list[Rounded]:
        """Return, for each patch, the sum over its 3 x 3 neighbours on the grid."""
        height, width = self.grid
        places = [(h, w) for h in range(height) for w in range(width)]
        return [
            total(
                arithmetic.number(self.kernel[i - h + 1][j - w + 1]) * self.x[i * width + j]
                for i, j in places
                if abs(i - h) <= 1 and abs(j - w) <= 1
            )
            for h, w in places
        ]


def _convolved(grid: tuple[int, int]) -> st.Strategy[Convolved]:
    return st.builds(Convolved, st.just(grid), vectors(grid[0] * grid[1]), matrices(3, 3, nonzero()))


@claim(st.sampled_from(((1, 3), (2, 3), (3, 2))).flatmap(_convolved))
def communication_by_convolution(case: Convolved, arithmetic: Arithmetic) -> Trial:
    """Where a convolution replaces the linear layer, patches communicate with their neighbours on the grid, channel by
    channel where it is depthwise.

    Read as: patches are the grid row by row; beyond it are zeros. A second channel has the negative kernel.

    Place: Sec. 3.3, Table 3, Patch communication
    Printed: linear layer -> 3 x 3 depth-wise convolution
    Bound: gamma of the sum of nine products
    """
    # Hold the package's module, of the second of a batch of two images, against the sums over neighbours.
    convolution = nn.Conv2d(2, 2, 3, padding=1, groups=2, bias=False)
    kernel = arithmetic.tensor(case.kernel)
    convolution.weight = nn.Parameter(torch.stack((kernel, -kernel))[:, None])
    x = arithmetic.tensor(case.x)
    both = torch.stack((x, 2 * x), dim=-1)
    ours = arithmetic.place(OnGrid(case.grid, convolution))(torch.stack((both + 1, both)))[1]
    printed = [[value, -2 * value] for value in case.printed(arithmetic)]
    return equal(ours, printed, grid=case.grid, x=case.x, kernel=case.kernel)


@dataclass(frozen=True)
class Bag:
    """Two patches of one channel, the numbers of an Aff and a LayerScale, and the weights of B and C."""

    x: Vector
    aff: tuple[float, float]
    scale: float
    b: Vector
    c: Vector


_PAIR = vectors(2, nonzero())


@claim(
    st.builds(Bag, vectors(2), st.tuples(nonzero(), nonzero()), nonzero(), _PAIR, _PAIR),
    proof=Proof(
        "all numbers and any activation", lambda case: {"d": 1, "N^2": len(case.x), "hidden unit": len(case.b)}
    ),
)
def communication_none(case: Bag, arithmetic: Arithmetic) -> Trial:
    """Where the linear layer is removed, a layer is its MLP beside the skip, and no patch sees another.

    Tested with ReLU in place of GELU.

    Place: Sec. 3.3, Table 3, Patch communication
    Corrected: Y = X + alpha' C ReLU(B (alpha X + beta)), patch by patch
    Bound: gamma of the sums and products
    """
    # Hold the package's layer, of the second of a batch of two images, against the formula of each patch.
    mlp = FeedForward(1, 2, bias=False, activation=nn.ReLU)
    alpha, beta = case.aff
    weights: dict[str, Values] = {"pre.alpha": (alpha,), "pre.beta": (beta,), "post.alpha": (case.scale,)}
    weights |= {"across_channels.b.weight": tuple((b,) for b in case.b), "across_channels.c.weight": (case.c,)}
    layer = loaded(BagOfPatchesLayer(1, mlp, LayerScale(1, 1.0)), weights, arithmetic)
    x = arithmetic.tensor(case.x)[:, None]
    printed = [[_of_patch(case, number)] for number in arithmetic.vector(case.x)]
    return equal(layer(torch.stack((x + 1, x)))[1], printed, **vars(case))


def _of_patch(case: Bag, x: Rounded) -> Rounded:
    alpha, beta = case.aff
    read = alpha * x + beta
    hidden = (relu(b * read) for b in case.b)
    return x + case.scale * total(c * number for c, number in zip(case.c, hidden, strict=True))
