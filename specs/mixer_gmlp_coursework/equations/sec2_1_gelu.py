"""Sec. 2.1, the definition of GELU."""

from __future__ import annotations

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim, equal
from imlp_audit.equations.functions import gelu, gelu_tanh, gelu_tanh_value, gelu_value
from imlp_audit.equations.strategies import numbers
from imlp_audit.models.mixer import Mlp


@claim(numbers())
def gelu_tanh_form(case: float, arithmetic: Arithmetic) -> Trial:
    """x Phi(x) equals 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).

    Place: Sec. 2.1, definition of GELU, second equality
    Printed: x Phi(x) = 0.5 x (1 + tanh[sqrt(2/pi) (x + 0.044715 x^3)])
    Nearest: gelu_tanh_form_corrected
    Bound: those of functions.gelu and functions.gelu_tanh: 14 u |x|
    """
    # Hold one form against the other.
    x = arithmetic.number(case)
    return equal(gelu(x), gelu_tanh(x), x=case)


_ROUNDING = 1e-13


@claim(st.just(2.699))
def gelu_tanh_form_corrected(case: float, arithmetic: Arithmetic) -> Trial:
    """The tanh form differs from x Phi(x) by at most 0.000474, for every real x, and by more than 0.000473 for some x.

    Place: Sec. 2.1, definition of GELU, second equality
    Corrected: |x Phi(x) - 0.5 x (1 + tanh[sqrt(2/pi) (x + 0.044715 x^3)])| <= 4.74e-4, and > 4.73e-4 at x = 2.699
    Bound: 1e-13 for evaluating either form below 8 in double precision, whatever the arithmetic: the claim is about
        reals
    """
    # Prove the bound on all reals, and evaluate the difference at the case's x. Less x / 2, both forms are even
    # functions that rise for x > 0, so that between a and b they differ by no more than one's value at b from the
    # other's at a. Beyond 8 both are within 1e-13 of x.
    largest = abs(gelu_value(case) - gelu_tanh_value(case))
    bounded = all(_differ_by_at_most(4.74e-4, float(a), float(a + 1)) for a in range(8))
    return Trial(bounded and largest > 4.73e-4, {"x": case, "bound proved": bounded, "difference at x": largest})


def _differ_by_at_most(bound: float, left: float, right: float) -> bool:
    """Prove it for left <= x <= right, halving where the values at the ends do not tell."""
    waiting = [(left, *_halves(left), right, *_halves(right))]
    while waiting:
        a, exact_a, tanh_a, b, exact_b, tanh_b = waiting.pop()
        if max(exact_b - tanh_a, tanh_b - exact_a) + _ROUNDING <= bound:
            continue
        middle = (a + b) / 2
        if b - a < 1e-9:
            return False
        exact, tanh = _halves(middle)
        waiting += [(a, exact_a, tanh_a, middle, exact, tanh), (middle, exact, tanh, b, exact_b, tanh_b)]
    return True


def _halves(x: float) -> tuple[float, float]:
    """Return both forms less x / 2."""
    return gelu_value(x) - x / 2, gelu_tanh_value(x) - x / 2


@claim(numbers())
def gelu_x_phi(case: float, arithmetic: Arithmetic) -> Trial:
    """GELU(x) is x times the distribution function of the standard normal.

    Place: Sec. 2.1, definition of GELU, first equality
    Printed: GELU(x) = x Phi(x)
    Bound: that of functions.gelu: 6 u |x|
    """
    # Hold the module's activation against x Phi(x).
    activation = Mlp(width=1, hidden=1).act
    return equal(activation(arithmetic.tensor(case)), gelu(arithmetic.number(case)), x=case)
