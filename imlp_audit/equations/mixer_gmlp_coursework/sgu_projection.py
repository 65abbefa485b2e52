"""The spatial projection multiplies each channel's tokens by W and adds b; read as: b has one number for each token.

Place: Sec. 3.1, first equation of the spatial gating unit
Printed: f(Z) = W Z + b
Bound: gamma_{S+1} times the sum of the magnitudes
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._gmlp import Gating, gatings
from imlp_audit.equations.mixer_gmlp_coursework._mixer import filled
from imlp_audit.models.gmlp import TokenProjection


def judge(case: Gating, arithmetic: Arithmetic) -> Trial:
    """Hold the package's projection against the printed sum."""
    projection = filled(lambda: TokenProjection(len(case.b)), {"weight": case.w, "bias": case.b}, arithmetic)
    printed = case.f(arithmetic, arithmetic.matrix(case.z))
    return equal(projection(arithmetic.tensor(case.z)), printed, **case.shown())


CLAIM = Claim(gatings(), judge)
