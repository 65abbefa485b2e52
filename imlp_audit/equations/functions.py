"""Activations, their slopes, and bounds on the errors of evaluating them.

imlp_audit.equations.lipschitz.slopes has the slopes of GeLU, in both forms.

Evaluation errors assume functions of the mathematical library that are right to 2 units in the last place
(4 u), which CUDA documents for erf, tanh, exp and log1p and which glibc and SLEEF keep.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import erf, exp, log1p, pi, sqrt, tanh

from imlp_audit.equations.lipschitz.slopes import GELU, GELU_TANH
from imlp_audit.equations.rounded import Rounded

GELU_MAX_CURVATURE = sqrt(2 / pi)  # of phi(x) (2 - x^2), at x = 0
_CUBE = 0.044715
_INNER = sqrt(2 / pi)


Activation = Callable[[Rounded], Rounded]


def gelu(x: Rounded) -> Rounded:
    """GeLU(x) = x Phi(x).

    u |x| times: 0.5 for rounding the argument of erf (|t erf'(t)| < 0.5, two roundings, half), 2 for erf's own
    4 u, 1 for the addition to 1, both halved by the factor 1/2, and 2 for the two products: below 6.
    """
    return x.through(gelu_value, GELU.high, 6 * x.unit * x.magnitude)


def gelu_value(x: float) -> float:
    """Return GeLU(x)."""
    return 0.5 * x * (1 + erf(x / sqrt(2)))


def gelu_slope(x: Rounded) -> Rounded:
    """The derivative of GeLU: Phi(x) + x phi(x).

    Phi errs by at most 4 u (half of erf's 4 u, of 1 u for the sum and of 1 u for the argument); x phi(x) is below
    0.25 and errs by at most 12 roundings of it (4 u of exp, 3 in the exponent times |x^2 phi x| < 0.5, products),
    the sum by 1.2 u: below 12 u.
    """
    return x.through(gelu_slope_value, GELU_MAX_CURVATURE, 12 * x.unit)


def gelu_slope_value(x: float) -> float:
    """Return the derivative of GeLU at x."""
    return 0.5 * (1 + erf(x / sqrt(2))) + x * exp(-x * x / 2) / sqrt(2 * pi)


def gelu_tanh_value(x: float) -> float:
    """Return 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))."""
    return 0.5 * x * (1 + tanh(_INNER * (x + _CUBE * x**3)))


def gelu_tanh(x: Rounded) -> Rounded:
    """The tanh form of GeLU.

    u |x| times: 3.5 for seven roundings of tanh's argument (|t tanh'(t)| < 0.5), 4 for tanh, 2 for the addition,
    halved, and 2 for the products: below 8.
    """
    return x.through(gelu_tanh_value, GELU_TANH.high, 8 * x.unit * x.magnitude)


def relu(x: Rounded) -> Rounded:
    """ReLU(x) = max(x, 0); exact."""
    return x.through(relu_value, 1.0, 0.0)


def relu_value(x: float) -> float:
    """Return ReLU(x)."""
    return max(x, 0.0)


def silu(x: Rounded) -> Rounded:
    """SiLU(x) = x / (1 + exp -x), whose slope is below 1.1.

    u |x| times: 4 for exp, 1 for the sum and 2 for the quotient, or for a quotient and a product: below 8.
    """
    return x.through(silu_value, 1.1, 8 * x.unit * x.magnitude)


def silu_value(x: float) -> float:
    """Return SiLU(x)."""
    return x / (1 + exp(-x)) if x > 0 else x * exp(x) / (1 + exp(x))


def hard_swish(x: Rounded) -> Rounded:
    """Hard-Swish(x) = x min(max(x + 3, 0), 6) / 6, whose slope is from -0.5 to 1.5.

    u |x| times: 1 for the sum, of which 6 are left at most, 1 for the product, and 2 for the quotient or for a product
    with a rounded 1/6: below 5.
    """
    return x.through(hard_swish_value, 1.5, 5 * x.unit * x.magnitude)


def hard_swish_value(x: float) -> float:
    """Return Hard-Swish(x)."""
    return x * min(max(x + 3, 0.0), 6.0) / 6


def softplus(x: Rounded) -> Rounded:
    """SoftPlus(x) = log(1 + exp x).

    exp errs by 4 u relatively, which the logarithm turns into at most 4 u absolutely; log1p adds 4 u of its
    value. torch returns x above 20, which is off by exp(-20) at most.
    """
    value = softplus_value(x.value)
    return x.through(softplus_value, 1.0, 4 * x.unit * (1 + value + x.error) + (exp(-20) if x.value > 20 else 0.0))


def softplus_value(x: float) -> float:
    """Return SoftPlus(x)."""
    return x + log1p(exp(-x)) if x > 0 else log1p(exp(x))


def prelu(x: Rounded, slope: float) -> Rounded:
    """PReLU: x where x > 0, slope x elsewhere."""
    return x.through(partial(prelu_value, slope), max(1.0, abs(slope)), x.unit * abs(slope) * x.magnitude)


def prelu_value(slope: float, x: float) -> float:
    """Return PReLU(x)."""
    return max(x, 0.0) + slope * min(x, 0.0)
