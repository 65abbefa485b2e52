"""Sec. 4.2, after Theorem 1: the bounds that the package finds for a module, from above and from below."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.lipschitz.branches import branches
from imlp_audit.equations.lipschitz.estimate import estimate, largest_gradient, norm_and_gradient
from imlp_audit.equations.lipschitz.slopes import GELU, GELU_STEEPEST
from imlp_audit.equations.strategies import nonzero, numbers, plain

from ._agelu import Coefficients
from ._theorem import Half, Module, any_modules

_FAR = 1e-3  # of the larger singular value: where the two are closer, their vectors are not certain


@claim(any_modules(), share=0.5)
def gradient_direction(case: Module, arithmetic: Arithmetic) -> Trial:
    """The package looks for the largest gradient of a module in the direction in which the norm of its gradient grows:
    the norm and the direction are those of the module itself.

    Its norm is that of the Jacobian, the sum over both branches of W^1i diag(phi_i') W^0, and u and v are its first
    singular vectors. Compared where the second singular value is smaller by a thousandth or more.

    Place: Sec. 4.2, Definition 1, Eq. 7, and after Theorem 1
    Corrected: d ||f'(x)||_2 / dx = sum_i W^0' (phi_i''(W^0 x + b^0) * W^1i' u * W^0 v), GeLU''(z) = exp(-z^2 / 2)
        (2 - z^2) / sqrt(2 pi)
    Bound: 10^4 u of the sum of the magnitudes of its terms: 40 roundings of each, and a thousandth between the singular
        values
    """
    # Hold the norm and the direction against derivatives of the package's module.
    f = case.built(case.w1, Arithmetic())
    norm, direction = norm_and_gradient(branches(f.state_dict()), np.array(case.x))
    x = torch.tensor(case.x, dtype=torch.float64, requires_grad=True)
    values = torch.linalg.svdvals(_jacobian(f, x))
    if len(values) > 1 and bool(values[1] > (1 - _FAR) * values[0]):
        return Trial(True)
    (own,) = torch.autograd.grad(values[0], x)
    scale = 1e4 * Arithmetic().unit * _largest_curvature(case)
    shown = {**case.shown(), "norm": norm, "direction": direction.tolist()}
    shown |= {"the module's norm": values[0].item(), "its direction": own.tolist()}
    near = bool(np.abs(direction - own.numpy()).max() <= scale) and abs(norm - values[0].item()) <= scale
    return Trial(near, shown)


def _jacobian(f: torch.nn.Module, x: Tensor) -> Tensor:
    """Return the derivatives of f's outputs by x, which can be differentiated again."""
    outputs = f(x[None])[0]
    return torch.stack([torch.autograd.grad(y, x, create_graph=True)[0] for y in outputs])


def _largest_curvature(case: Module) -> float:
    """Return a bound on the terms of the norm and of its derivative: weights and coefficients, each as it is."""
    w0 = float(np.abs(case.w0).sum())
    each = (float(np.abs(half.w1).sum()) * abs(half.phi.alpha[0] * half.phi.beta[0]) for half in case.halves)
    alphas = max(abs(half.phi.alpha[0]) for half in case.halves)
    return sum(each) * w0 * (1 + alphas * w0)


@dataclass(frozen=True)
class OneUnit:
    """A module of one hidden unit W^0 x + b^0; alpha, beta and W^1i of each half, and where b^0 puts x."""

    w0: tuple[float, ...]
    b0: float
    first: tuple[float, float, tuple[float, ...]]
    second: tuple[float, float, tuple[float, ...]]

    @property
    def module(self) -> Module:
        """The module at x = 0."""
        zeros = (0.0,) * len(self.w0)
        first, second = (
            Half(Coefficients((alpha,), (beta,), (0.0,), (0.0,)), tuple((w,) for w in w1), (0.0,) * len(w1), (1.0,))
            for alpha, beta, w1 in (self.first, self.second)
        )
        return Module(zeros, zeros, (self.w0,), (self.b0,), (first, second))

    @property
    def norms(self) -> tuple[float, float]:
        """||alpha_i W^0|| ||W^1i beta_i|| of both halves."""
        first, second = (
            float(np.linalg.norm(self.w0)) * abs(alpha * beta) * float(np.linalg.norm(w1))
            for alpha, beta, w1 in (self.first, self.second)
        )
        return first, second

    @property
    def joined(self) -> float:
        """||[alpha_1 W^0; alpha_2 W^0]|| ||[W^11 beta_1  W^12 beta_2]||."""
        (alpha, beta, w1), (alpha_, beta_, w1_) = self.first, self.second
        inner: NDArray[np.float64] = np.outer((alpha, alpha_), self.w0)
        outer: NDArray[np.float64] = np.stack((np.multiply(beta, w1), np.multiply(beta_, w1_)), axis=1)
        return float(np.linalg.norm(inner, 2) * np.linalg.norm(outer, 2))


_SCALES = st.sampled_from((1.0, 2.0**-30, 2.0**30))


def _multiply(
    case: tuple[tuple[float, float, tuple[float, ...]], float, float],
) -> tuple[float, float, tuple[float, ...]]:
    """Multiply alpha and W^1i of a half by powers of 2."""
    (alpha, beta, w1), inner, outer = case
    return alpha * inner, beta, tuple(w * outer for w in w1)


def _one_unit() -> st.Strategy[OneUnit]:
    """Modules whose halves share alpha, or W^1i and beta, or both, or neither; some are constant.

    In others both have outputs that are orthogonal; weights are small, large, or of ordinary size.
    """

    def of(width: int, outputs: int) -> st.Strategy[OneUnit]:
        half = st.tuples(nonzero(), numbers(), st.tuples(*[nonzero()] * outputs))

        def beside(first: tuple[float, float, tuple[float, ...]]) -> st.Strategy[OneUnit]:
            alpha, beta, w1 = first
            same_inner = st.tuples(st.just(alpha), numbers(), st.just(w1))
            same_outer = st.tuples(nonzero(), st.just(beta), st.just(w1))
            orthogonal = st.just((alpha, beta, (*(-w for w in w1[1:]), w1[0])))
            second = st.one_of(orthogonal, same_inner, same_outer, half, st.just(first))
            return st.builds(OneUnit, st.tuples(*[nonzero()] * width), numbers(), st.just(first), second)

        return st.tuples(half, _SCALES, _SCALES).map(_multiply).flatmap(beside)

    return st.tuples(st.integers(1, 2), st.integers(1, 2)).flatmap(lambda size: of(*size))


@claim(plain(_one_unit()), share=0.24)
def theorem1_one_unit(case: OneUnit, _: Arithmetic) -> Trial:
    """For a module of one hidden unit, the bound that the package finds and proves with each of its solvers is the sum
    over both branches of GeLU's steepest slope times the norms of the branch.

    Read as: each inequality has a T of its own. Branches that are equal, have one of their matrices in common, or are
    constant have their own bounds all the same, and so have small and large weights.

    Place: Sec. 4.2, after Theorem 1
    Corrected: sqrt(rho_i) = 1.12890 ||alpha_i W^0|| ||W^1i beta_i|| for one hidden unit; L(f) = sqrt(rho_1) +
        sqrt(rho_2)
    Bound: below, 10^-12 for rounding; above, 10^-4: no rounding bound but how far a solver's proposal may be from the
        optimum (10^-2 for the rougher solver alone)
    Needs: a semidefinite program
    """
    # Hold all that is found for a module against its norms.
    module = case.module
    f = module.built(module.w1, Arithmetic())
    found = estimate(branches(f.state_dict()), [np.zeros(len(case.w0))], 60.0)
    roots = [GELU.high * norm for norm in case.norms]
    products = min(sum(roots), GELU.high * case.joined)
    true = (
        sorted(found.solvers) == ["clarabel", "scs"]
        and _above(found.bound, sum(roots), 1e-4)
        and all(_above(rho, root**2, 1e-3) for rho, root in zip(found.rho, roots, strict=True))
        and all(_above(bound, sum(roots), 1e-2) for bound in found.solvers.values())
        and found.bound == min(found.solvers.values())
        and abs(sum(map(sqrt, found.rho)) - found.bound) <= 1e-12 * found.bound
        and _above(found.product, products, 1e-9)
        and found.gradient <= sum(roots) * (1 + 1e-12)
    )
    return Trial(true, {**vars(case), "sqrt(rho)": roots, "found": vars(found)})


def _above(found: float, least: float, slack: float) -> bool:
    """Return whether a bound is not below what it bounds, and above it by no more than a share."""
    return least * (1 - 1e-12) <= found <= least * (1 + slack) + 1e-100


@dataclass(frozen=True)
class Ascent:
    """A module of one branch and one hidden unit, a z > 0 from which its steepest slope is looked for, and rounds."""

    w0: float
    w1: float
    z: float


_Z = st.sampled_from((1.0, 2.0, 0.5, 3.0, 0.25, 1.5))


@claim(plain(st.builds(Ascent, nonzero(), nonzero(), _Z)), share=0.5)
def gradient_of_one_unit(case: Ascent, _: Arithmetic) -> Trial:
    """From where W^0 x + b^0 > 0, the package finds the largest gradient of a module of one hidden unit: 1.12890 |W^0|
    |W^1|, at W^0 x + b^0 = sqrt 2; of several places to start from it takes the best, and without a step it gives the
    gradient there.

    Place: Sec. 4.2, Definition 1, Eq. 7
    Corrected: max_x |f'(x)| = 1.12890 |W^0| |W^1| for f(x) = W^1 GeLU(W^0 x + b^0)
    Bound: the curvature of the slope, at most 0.42, times half the square of |W^0| / 100, twice the last step; none
        above, except for 10^-12 for rounding
    """
    # Hold what is found against the steepest slope.
    none = (1.0, 0.0, (1.0,))
    module = OneUnit((case.w0,), 0.0, (1.0, 1.0, (case.w1,)), none).module
    pair = branches(module.built(module.w1, Arithmetic()).state_dict())
    start, steepest = np.array([case.z / case.w0]), np.array([GELU_STEEPEST / case.w0])
    largest, size = GELU.high * abs(case.w0 * case.w1), abs(case.w0 * case.w1)
    found = largest_gradient(pair, [start])
    best = largest_gradient(pair, [start, steepest], rounds=0)
    slack = 0.42 * (0.01 * case.w0) ** 2 / 2 * size
    near = largest - slack - 1e-12 * size <= found <= largest * (1 + 1e-12)
    shown = {**vars(case), "found": found, "largest": largest, "best of two places": best}
    return Trial(near and abs(best - largest) <= 1e-12 * size, shown)
