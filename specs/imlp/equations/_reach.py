"""Which positions of a grid an output depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch.nn.functional as F
from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial
from imlp_audit.equations.dependence import depends

Place = tuple[int, int]


def reach(output: Callable[[Tensor], Tensor], size: Place, arithmetic: Arithmetic) -> frozenset[Place]:
    """Return the positions (h, w) by which an output has a derivative that is not exactly zero.

    `output` maps a grid (1, 1, H, W) to one number; the derivatives are taken where the grid is 1 everywhere.
    """
    height, width = size
    ones = arithmetic.tensor([[[[1.0] * width] * height]])
    return frozenset((h, w) for h, w in depends(output, ones)[0, 0].nonzero().tolist())


def with_ones(module: nn.Module, arithmetic: Arithmetic) -> nn.Module:
    """Set every parameter to 1, so that sums have no terms that cancel, and place the module."""
    for parameter in module.parameters():
        parameter.data.fill_(1.0)
    return arithmetic.place(module)


def judge_kernel(n: int, indices: Iterable[int], kernel: int, arithmetic: Arithmetic) -> Trial:
    """Hold the rows and columns that Eq. 10 spans against those of phi and a kernel x kernel convolution."""
    middle, size = 2 * n, (4 * n + 1, 4 * n + 1)
    pairs = [(i, j) for i in indices for j in indices]
    conv = with_ones(nn.Conv2d(1, 1, kernel, padding=kernel // 2, bias=False), arithmetic)

    def printed(x: Tensor) -> Tensor:
        return F.relu(x[0, 0, [i + middle for i, _ in pairs], [j + middle for _, j in pairs]]).sum()

    def convolved(x: Tensor) -> Tensor:
        y: Tensor = conv(F.relu(x))[0, 0, middle, middle]
        return y

    ours, theirs = (_extent(reach(output, size, arithmetic)) for output in (printed, convolved))
    shown = {"n": n, "rows and columns of Eq. 10": ours, f"of a {kernel} x {kernel} convolution": theirs}
    return Trial(ours == theirs, shown)


def _extent(places: frozenset[Place]) -> Place:
    """Return how many rows and columns lie between the outermost positions, these included."""
    rows, columns = zip(*places, strict=True)
    return max(rows) - min(rows) + 1, max(columns) - min(columns) + 1
