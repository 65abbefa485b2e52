"""With a Toeplitz W, f(Z) is a one-dimensional convolution of each channel, zeros beyond its ends, plus b.

Read as: W_{ij} = w_{i-j}, so f(Z)_{ic} = sum_j w_{i-j} Z_{jc} + b; held against the product unit and the split one.

Place: Sec. 3.3, definition of tMLP
Printed: gMLP всегда выучивает матрицу W в функции f(.) (SGU) подобной Тёплицевой матрице. [...] модель с этим
    ограничением именуется как tMLP.
Bound: gamma_{S+2} times the sum of the magnitudes
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._toeplitz import Words, units


def judge(case: Words, arithmetic: Arithmetic) -> Trial:
    """Hold the package's unit against the convolution written out."""
    return equal(case.s(arithmetic), case.printed(arithmetic), **case.shown())


CLAIM = Claim(st.integers(1, 3).flatmap(units), judge)
