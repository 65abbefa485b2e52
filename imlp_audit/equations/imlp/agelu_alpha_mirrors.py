"""Changing the sign of alpha switches AGeLU's shape: it is mirrored, left for right.

Place: Sec. 4.1, after Eq. 4: "switch the whole shape by using different positive and negative coefficients"
Printed: AGeLU(x; -alpha, beta, gamma, theta) = AGeLU(-x; alpha, beta, gamma, theta)
Bound: gamma_2 times the magnitudes under GeLU, times its largest slope, then gamma_2 times those of the result
"""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp.eq4_agelu import OneAgelu, agelus


def judge(case: OneAgelu, arithmetic: Arithmetic) -> Trial:
    """Hold the module of -alpha against Eq. 4 of -x."""
    switched = replace(case.coefficients, alpha=tuple(-alpha for alpha in case.coefficients.alpha))
    mirrored = case.coefficients.written([-number for number in arithmetic.vector(case.x)], gelu)
    ours = switched.module(arithmetic)(arithmetic.tensor(case.x))
    return equal(ours, mirrored, x=case.x, **case.coefficients.shown())


CLAIM = Claim(agelus(), judge)
