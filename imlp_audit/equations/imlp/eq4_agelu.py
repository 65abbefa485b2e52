"""The package's AGeLU module is Eq. 4, channel by channel, in both layouts: channels last and channels first.

Place: Sec. 4.1, Eq. 4
Printed: AGeLU(x) = beta GeLU(alpha x + gamma) + theta
Bound: gamma_2 times the magnitudes under GeLU, times its largest slope, then gamma_2 times those of the result
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp._agelu import Coefficients, coefficients
from imlp_audit.equations.strategies import Vector, vectors
from imlp_audit.models.agelu import AGeLU


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


CLAIM = Claim(agelus(), judge)
