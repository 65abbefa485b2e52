"""Sec. 4.2, Definition 1, and the slopes of AGeLU."""

from functools import partial
from math import sqrt

import torch
from hypothesis import strategies as st
from torch import Tensor, nn, stack

from imlp_audit.claims import NONZERO, Sides, below, claim_about, modules, strictly_below
from imlp_audit.models.imlp import AGeLU

from ._amlp import agelus
from ._certificate import GELU, GELU_TANH, STEEPEST, STEEPEST_TANH, ends

# Chords of phi between z - s and z + s: of any length anywhere, and short ones where phi is steepest.
CHORDS = st.one_of(
    st.tuples(st.integers(-24, 24).map(lambda z: z / 4), st.sampled_from((0.5, 0.25, 0.125, 0.0625, 1.0, 2.0, 4.0))),
    st.tuples(st.sampled_from((-STEEPEST, STEEPEST)), st.just(2.0**-11)),
)
MARGINS = st.sampled_from((0.1, 0.01, 0.001, 1e-6))


agelu, agelu_tanh = agelus(1), modules(AGeLU, 1, partial(nn.GELU, approximate="tanh"), values=NONZERO)


def slope_between(f: AGeLU, z: float, s: float) -> Tensor:
    """Return the slope of the module between the x that give alpha x + gamma = z - s and z + s."""
    x, y = ((end - f.gamma) / f.alpha for end in (z - s, z + s))
    slope: Tensor = ((f(y) - f(x)) / (y - x))[0]
    return slope


def slopes_at(f: AGeLU, *z: float) -> Tensor:
    """Return the derivatives of the module at the x that give alpha x + gamma = z."""
    x = ((torch.tensor(z, dtype=torch.float64) - f.gamma) / f.alpha).detach().requires_grad_()
    return torch.autograd.grad(f(x).sum(), x)[0]


claim = claim_about(f=agelu, chord=CHORDS, margin=MARGINS)


@claim(
    less=st.sampled_from((0.1, 0.01, 0.001)),
    place="Sec. 4.2, Definition 1, Eq. 7",
    printed="||f(x) - f(y)||_2 <= L ||x - y||_2 for all x, y, among which the smallest L is called the Lipschitz "
    "constant",
)
def definition1_agelu(f: AGeLU, chord: tuple[float, float], less: float) -> Sides:
    """The smallest L of Eq. 7 for AGeLU is |alpha beta| 1.12890, whatever the signs: Eq. 7 holds with it, and fails for
    any smaller one between points about the steepest.
    """
    L = (f.alpha * f.beta).abs()[0] * GELU[1]
    steep = slope_between(f, STEEPEST, sqrt(less) / 2).abs()
    return [below(slope_between(f, *chord).abs(), L), below(steep, L), strictly_below(L * (1 - less), steep)]


@claim(
    place="Sec. 4.2, after Lemma 1",
    printed="It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition "
    "when the parameters alpha and beta in Eq. 4 are finite",
)
def slope_interval(f: AGeLU, chord: tuple[float, float]) -> Sides:
    """AGeLU with the exact GeLU is slope-restricted on [p, q] = alpha beta [-0.12890, 1.12890], turned round where
    alpha beta < 0: no chord of the package's module is flatter than p or steeper than q, nor is its derivative.
    """
    (p, q), slope, derivative = ends(f, GELU), slope_between(f, *chord), slopes_at(f, chord[0])[0]
    return [below(p, slope), below(slope, q), below(p, derivative), below(derivative, q)]


@claim(
    place="Sec. 4.2, after Lemma 1",
    printed="It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition "
    "when the parameters alpha and beta in Eq. 4 are finite",
)
def slope_is_tight(f: AGeLU, margin: float) -> Sides:
    """No narrower interval than [p, q] holds the slopes of AGeLU with the exact GeLU: chords about alpha x + gamma =
    -x* and x* leave it at both ends, x* = sqrt 2.
    """
    (p, q), less = ends(f, GELU), margin * (f.alpha * f.beta).abs()[0]
    flat, steep = sorted(slope_between(f, z, sqrt(margin) / 2) for z in (-STEEPEST, STEEPEST))
    return [strictly_below(flat, p + less), strictly_below(q - less, steep)]


@claim(
    place="Sec. 4.2, after Lemma 1",
    printed="It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition "
    "when the parameters alpha and beta in Eq. 4 are finite",
)
def slope_attained(f: AGeLU) -> Sides:
    """The slope of AGeLU with the exact GeLU attains both ends of [p, q], up to rounding: at alpha x + gamma = -x* and
    x*, x* = sqrt 2.
    """
    return slopes_at(f, -STEEPEST, STEEPEST).sort().values, stack(ends(f, GELU))


@claim(
    f=agelu_tanh,
    place="Sec. 4.2, after Lemma 1",
    printed="It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition "
    "when the parameters alpha and beta in Eq. 4 are finite",
)
def slope_tanh_attained(f: AGeLU) -> Sides:
    """The slope of AGeLU with the tanh form of GeLU attains both ends of [p, q], up to rounding: at alpha x + gamma =
    -x* and x*, x* = 1.41850.
    """
    return slopes_at(f, -STEEPEST_TANH, STEEPEST_TANH).sort().values, stack(ends(f, GELU_TANH))


@claim(
    f=agelu_tanh,
    place="Sec. 4.2, after Lemma 1",
    printed="It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition "
    "when the parameters alpha and beta in Eq. 4 are finite",
)
def slope_tanh_interval(f: AGeLU, chord: tuple[float, float]) -> Sides:
    """AGeLU with the tanh form of GeLU is slope-restricted on [p, q] = alpha beta [-0.12899, 1.12899], turned round
    where alpha beta < 0: no chord of the package's module is flatter than p or steeper than q, nor is its derivative.
    """
    (p, q), slope, derivative = ends(f, GELU_TANH), slope_between(f, *chord), slopes_at(f, chord[0])[0]
    return [below(p, slope), below(slope, q), below(p, derivative), below(derivative, q)]


@claim(
    f=agelu_tanh,
    place="Sec. 4.2, after Lemma 1",
    printed="It is easy to prove that our proposed AGeLU activation function satisfies the slope-restricted condition "
    "when the parameters alpha and beta in Eq. 4 are finite",
)
def slope_tanh_is_tight(f: AGeLU, margin: float) -> Sides:
    """No narrower interval than [p, q] holds the slopes of AGeLU with the tanh form of GeLU: chords about alpha x +
    gamma = -x* and x* leave it at both ends, x* = 1.41850.
    """
    (p, q), less = ends(f, GELU_TANH), margin * (f.alpha * f.beta).abs()[0]
    flat, steep = sorted(slope_between(f, z, sqrt(margin) / 2) for z in (-STEEPEST_TANH, STEEPEST_TANH))
    return [strictly_below(flat, p + less), strictly_below(q - less, steep)]
