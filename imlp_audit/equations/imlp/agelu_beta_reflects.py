"""Changing the sign of beta switches AGeLU's shape: it is turned upside down about the height theta.

Place: Sec. 4.1, after Eq. 4: "switch the whole shape by using different positive and negative coefficients"
Printed: AGeLU(x; alpha, -beta, gamma, theta) - theta = -(AGeLU(x; alpha, beta, gamma, theta) - theta)
Bound: gamma_2 times the magnitudes under GeLU, times its largest slope, then gamma_4 times those of the result
"""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.imlp.eq4_agelu import OneAgelu, agelus


def judge(case: OneAgelu, arithmetic: Arithmetic) -> Trial:
    """Hold the module of -beta against Eq. 4 reflected."""
    switched = replace(case.coefficients, beta=tuple(-beta for beta in case.coefficients.beta))
    upright = case.coefficients.written(arithmetic.vector(case.x), gelu)
    theta = case.coefficients.theta
    reflected = [-(value - theta[c]) + theta[c] for c, value in enumerate(upright)]
    ours = switched.module(arithmetic)(arithmetic.tensor(case.x))
    return equal(ours, reflected, x=case.x, **case.coefficients.shown())


CLAIM = Claim(agelus(), judge)
