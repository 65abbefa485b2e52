"""The package's AGeLU module is Eq. 4, channel by channel, in both layouts: channels last and channels first.

Place: Sec. 4.1, Eq. 4
Printed: AGeLU(x) = beta GeLU(alpha x + gamma) + theta
Bound: gamma_2 times the magnitudes under GeLU, times its largest slope, then gamma_2 times those of the result
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu, gelu_value
from imlp_audit.equations.imlp._agelu import Coefficients, coefficients
from imlp_audit.equations.imlp._rprelu import RPReLU
from imlp_audit.equations.strategies import Vector, vectors
from imlp_audit.models.agelu import AGeLU
from imlp_audit.records.figure import Curve, Figure


@dataclass(frozen=True)
class OneAgelu:
    """An input of one number a channel, and coefficients."""

    x: Vector
    coefficients: Coefficients
    channels_first: bool


def agelus() -> st.SearchStrategy[OneAgelu]:
    """AGeLUs of one or two channels."""
    return st.integers(1, 2).flatmap(
        lambda channels: st.builds(OneAgelu, vectors(channels), coefficients(channels), st.booleans())
    )


def judge(case: OneAgelu, arithmetic: Arithmetic) -> Trial:
    """Hold the module against Eq. 4."""
    agelu = case.coefficients.load_into(AGeLU(len(case.x), channels_first=case.channels_first), arithmetic)
    shape = (1, -1, 1, 1) if case.channels_first else (1, 1, 1, -1)
    ours = agelu(arithmetic.tensor(case.x).view(shape)).flatten()
    printed = case.coefficients.written(arithmetic.vector(case.x), gelu)
    return equal(ours, printed, x=case.x, **case.coefficients.shown(), **{"channels first": case.channels_first})


def figure() -> Figure:
    """Draw Fig. 3 again: GeLU, AGeLUs that switch its shape, and an RPReLU, which moves its turning point alone."""
    places = [step / 8 for step in range(-32, 33)]
    rprelu = RPReLU(beta=0.25, gamma=-1.0, zeta=-0.5)
    curves: dict[str, Callable[[float], float]] = {
        "GeLU": gelu_value,
        "AGeLU, alpha = -1": lambda x: gelu_value(-x),
        "AGeLU, beta = -1": lambda x: -gelu_value(x),
        "AGeLU, alpha = 0.5, beta = 1.5, gamma = 1, theta = -0.5": lambda x: 1.5 * gelu_value(0.5 * x + 1) - 0.5,
        "RPReLU, turning at (-1, -0.5)": lambda x: rprelu.at(x, Arithmetic()).value,
    }
    return Figure(
        title="Fig. 3: shapes of GeLU, AGeLU and RPReLU",
        x_label="x",
        y_label="output",
        x=tuple(places),
        curves=tuple(Curve(label=label, y=tuple(round(of(x), 4) for x in places)) for label, of in curves.items()),
    )


CLAIM = Claim(agelus(), judge, figure=figure)
