"""Sec. 3.3: what the claims about learned weights measure, as they say it. Weight is squared."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from hypothesis import strategies as st
from torch import Tensor, tensor

from imlp_audit.claims import Side, Sides, choice, claim_about, jacobian, modules, size, tensors
from imlp_audit.inspect.learned_weights import LayerWeights, Noise, UndecidedError
from imlp_audit.models.resmlp import FeedForward

from ..patterns import Pattern, cross_patch_matrix, draw_sparsity, find_pattern, measure_sparsity

# As many sizes as a byte has values, of both signs, up to 2^32: a largest weight is seldom there twice.
SIZES = (0.0, *(2 ** (k / 8) * (-1) ** k for k in range(255)))


def layer_of(weights: dict[str, Tensor], noise: tuple[Noise, int] | None = None) -> LayerWeights:
    """Return a layer of a checkpoint of images."""
    return LayerWeights("layer", {letter: letter for letter in weights}, weights, True, noise)


class Grid(NamedTuple):
    """A matrix on its grid, and how many rows and columns patch j lies from patch i."""

    A: Tensor
    dy: Tensor
    dx: Tensor
    pattern: Pattern

    @property
    def far(self) -> Tensor:
        """Return max(|dy|, |dx|)."""
        return torch.maximum(self.dy.abs(), self.dx.abs())

    @property
    def weight(self) -> Tensor:
        """Return A_ij^2 of other patches, and 0 for the patch's own."""
        return self.A.square() * (self.far > 0)


def on_grid(A: Tensor, n: int, own: float) -> Grid:
    """Return A, with its diagonal times a number, on a grid of n x n."""
    place = torch.arange(n * n)
    dy, dx = (p[None, :] - p[:, None] for p in (place // n, place % n))
    A = A.where(dy.abs() + dx.abs() > 0, own * A)
    return Grid(A, dy, dx, find_pattern(layer_of({"A": 2.0**-600 * A})))  # which changes no share


def share(part: Tensor, whole: Tensor) -> float | None:
    """Return a share of weight; None without any weight."""
    return (part.sum() / whole.sum()).item() if whole.any() else None


def same(found: float | None, printed: float | None) -> Side:
    """Hold two measures against each other, of which both or neither may be undecided."""
    return found is printed if found is None or printed is None else (found, printed)


def refused(measure: Callable[[], object]) -> bool:
    """Return whether something cannot be measured."""
    try:
        measure()
    except UndecidedError:
        return True
    return False


n, few = size("n", 1, 2, 3, 4, 5, 8, 9), size("n", 1, 2, 3, 4)
claim = claim_about(
    A=tensors(n.map(lambda n: n * n), n.map(lambda n: n * n), values=SIZES),
    n=n,
    own=st.sampled_from((1.0, 2.0**8, 2.0**4, 0.0)),
)


@claim(
    place="Sec. 3.3, Visualisations of the cross-patch sublayers",
    corrected="sum_{0 < max(|dy|, |dx|) <= r} A_ij^2 / sum_{i != j} A_ij^2, r = 2, or 1 on grids of less than 9 x 9",
)
def pattern_local(A: Tensor, n: int, own: float) -> Sides:
    """Local support is measured by the share of weight within 2 rows and columns of the patch, or 1 on small grids, and
    by chance it is the share of such pairs. Of less than 5 x 5 patches it is not measured.
    """
    grid = on_grid(A, n, own)
    if n < 5:
        return grid.pattern.radius is None and refused(grid.pattern.local)
    near = (grid.far <= (2 if n >= 9 else 1)) & (grid.far > 0)
    found, chance = grid.pattern.local()
    return [same(found, share(grid.weight[near], grid.weight)), (chance, near.sum() / (grid.far > 0).sum())]


@claim(
    n=few,
    A=tensors(few.map(lambda n: n * n), few.map(lambda n: n * n), values=SIZES),
    place="Sec. 3.3, Visualisations of the cross-patch sublayers",
    corrected="sum_{(dy, dx) != 0} (sum_{j - i = (dy, dx)} A_ij)^2 / |{j - i = (dy, dx)}| / sum_{i != j} A_ij^2",
)
def pattern_shifted(A: Tensor, n: int, own: float) -> Sides:
    """That rows are shifted versions of each other is measured by the share of weight of the nearest such matrix, which
    has on all pairs with the same shift their mean; by chance it is one number of so many for each shift.
    """
    grid, nearest = on_grid(A, n, own), []
    for dy in range(1 - n, n):
        for dx in range(1 - n, n):
            alike = grid.A[(grid.dy == dy) & (grid.dx == dx)]
            nearest.append(alike.sum() ** 2 / len(alike) * (dy != 0 or dx != 0))
    found, chance = grid.pattern.shifted()
    printed = None if n == 1 else (len(nearest) - 1) / (n**4 - n**2)
    return [same(found, share(torch.stack(nearest), grid.weight)), same(chance, printed)]


@claim(
    place="Sec. 3.3, Visualisations of the cross-patch sublayers",
    corrected="min over both axes of sum_{on the axis} A_ij^2 / sum_d |pairs on it at d| / |pairs at d| sum_{at d} "
    "A_ij^2, d = |dy| + |dx| >= 2",
)
def pattern_axes(A: Tensor, n: int, own: float) -> Sides:
    """Support along both axes is measured by how many times more weight lies along the patch's row, and along its
    column, than if each ring of one walking distance of 2 or more had it evenly; the lesser of the two.
    """
    grid, factors = on_grid(A, n, own), []
    walk = grid.dy.abs() + grid.dx.abs()
    for axis in (grid.dy == 0, grid.dx == 0):
        rings = [walk == d for d in range(2, 2 * n - 1)]
        even = sum((axis[ring].double().mean() * grid.weight[ring].sum() for ring in rings), torch.zeros(()))
        factors.append(share(grid.weight[axis & (walk >= 2)], even))
    return same(grid.pattern.axes(), None if None in factors else min(each for each in factors if each is not None))


@claim(
    place="Sec. 3.3, Visualisations of the cross-patch sublayers; Sec. 5, Conclusion; Sec. 1, Introduction",
    corrected="mean_i(|A_ii| > max_{j != i} |A_ij|); sum A_ij^2 |j - i| / sum A_ij^2; max_far |A_ij| / max |A_ij| and "
    "sum of the largest hundredth of A_ij^2, far, over all of them, where 2 max(|dy|, |dx|) > n",
)
def pattern_spikes_and_reach(A: Tensor, n: int, own: float) -> Sides:
    """A spike is a patch's own weight, larger than all others of its row; reach is the mean distance of other patches;
    long-range are weights over more than half of the grid's side, and sparse if a hundredth of them has most of it.
    """
    grid = on_grid(A, n, own)
    pattern, w, size = grid.pattern, grid.weight, grid.A.abs()
    long = 2 * grid.far > n
    largest = w[long].sort(descending=True).values
    spikes = grid.A.diag().square() > w.amax(1) if n > 1 else grid.A[0] != 0
    return [
        (pattern.spiked(), spikes.double().mean()),
        same(pattern.reach(), share(w * torch.hypot(grid.dy.double(), grid.dx.double()), w)),
        same(pattern.far(), (size[long].max() / size.max()).item() if long.any() and size.any() else None),
        same(pattern.far_in_few(), share(largest[: -(-len(largest) // 100)], largest)),
    ]


N = size("N", 1, 3)


@claim(
    mlp=modules(lambda N, bias: FeedForward(N, 2, bias=bias), N, choice("bias", False, True)),
    A=tensors(N, N),
    place="Appendix A, first paragraphs, and Sec. 3.3",
    corrected="A, or for an MLP across patches d(W_2 GELU(W_1 x + b)) / dx at x = 0",
)
def pattern_of_mlp(A: Tensor, mlp: FeedForward) -> Sides:
    """Where an MLP mixes the patches in A's place, its derivative at 0 is measured. What is no such matrix or MLP is
    not measured.
    """
    own = {"W1": mlp.b.weight.detach(), "W2": mlp.c.weight.detach()}
    own |= {} if mlp.b.bias is None else {"b1": mlp.b.bias.detach()}
    W1, W2, wider = own["W1"], own["W2"], torch.zeros(len(A), len(A) + 1)
    others: list[dict[str, Tensor]] = [
        {"A": A[0]}, {"A": wider}, {"W1": W1, "W2": wider.T}, {"W1": W1, "W2": W2[:, 1:]}, {**own, "b1": torch.zeros(1)}
    ]  # fmt: skip
    return [
        (tensor(cross_patch_matrix(layer_of({"A": A}))), A),
        (tensor(cross_patch_matrix(layer_of(own))), jacobian(mlp, torch.zeros(len(A)))),
        all(refused(partial(cross_patch_matrix, layer_of(each))) for each in others),
    ]


NEAR_A_TWENTIETH = (20.0, -20.0, 1.0, -1.0, 0.0, 0.99, -1.01, 0.5, 5.0, 10.0)


@claim(
    B=tensors(size("rows", 1, 2), size("columns", 3, 8), values=NEAR_A_TWENTIETH),
    place="Sec. 3.3, Measuring sparsity of the weights",
    printed="Since there are no exact zeros, we measure the rate of components whose absolute value is lower than 5% "
    "of the maximum value",
)
def sparsity_is_measured(B: Tensor) -> Sides:
    """Of a matrix are counted the components that are exactly 0, and the rate of those whose absolute value is lower
    than 5 % of the maximum; shuffled, it has as many.
    """
    found = measure_sparsity(layer_of({"B": B}), "B")
    small = 20 * B.abs() < B.abs().max()
    return [
        (tensor([found.below, found.zeros, found.of]), tensor([small.sum(), (B == 0).sum(), B.numel()])),
        (found.rate, small.double().mean()),
        measure_sparsity(layer_of({"B": B}, (Noise.SHUFFLED, 1)), "B") == found,
    ]


@claim(
    of=size("numbers", 1, 2, 50, 1000),
    kind=choice("kind", Noise.NORMAL, Noise.UNIFORM),
    u=st.sampled_from((0.5, 0.25, 0.9)),
    place="Sec. 3.3, Measuring sparsity of the weights",
    corrected="P(|x| < m / 20 | |x| < m) where P(|x| < m)^n = 1/2: the rate of n normal numbers whose largest is m",
)
def sparsity_of_noise(of: int, kind: Noise, u: float) -> Sides:
    """How sparse independent numbers are is counted without drawing them: the largest of n absolute values is below m
    with the probability P(|x| < m)^n, and the n - 1 others are lower than m / 20 each by itself.

    Read as: normal numbers are expected to have the rate of 5 % of the median of their largest.
    """
    asked: list[tuple[int, float]] = []

    def count(n: int, p: float) -> int:
        asked.append((n, p))
        return 1

    draws: Any = SimpleNamespace(uniform=lambda: u, binomial=count)
    found = draw_sparsity(of, kind, draws)
    m = 2**0.5 * torch.erfinv(tensor(u ** (1 / of)))
    rate = (m / 20 / 2**0.5).erf() / (m / 2**0.5).erf() if kind is Noise.NORMAL else tensor(1 / 20)
    median = 2**0.5 * torch.erfinv(tensor(0.5 ** (1 / of)))
    layer = layer_of({"C": torch.ones(of, 1)}, (kind, 3))
    return [
        asked[0][0] == of - 1 and (found.below, found.zeros, found.of) == (1, 0, of),
        (asked[0][1], rate),
        (found.normal, (median / 20 / 2**0.5).erf()),
        measure_sparsity(layer, "C") == draw_sparsity(of, kind, layer.random("C")),
    ]
