"""AGeLU is more flexible than RPReLU.

Read as: what RPReLU can do AGeLU can, so that there is an AGeLU of the slopes of every RPReLU at both ends. AGeLU has
alpha beta at one end and 0 at the other (agelu_learnable_slope); RPReLU has beta and 1.

In the sense of the sentence after it, a slope to learn and a shape to switch, it holds (agelu_learnable_slope,
agelu_alpha_mirrors, agelu_beta_reflects).

Place: Sec. 4.1, after Eq. 4
Printed: AGeLU is more flexible than other modified nonlinear functions such as the RPReLU function
Nearest: agelu_more_flexible_corrected
Bound: none: the slopes are exact
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._rprelu import RPReLU
from imlp_audit.equations.strategies import numbers


def judge(case: RPReLU, arithmetic: Arithmetic) -> Trial:
    """Look for an RPReLU with a slope at both ends."""
    shown = {"beta": case.beta, "gamma": case.gamma, "zeta": case.zeta}
    ends = {"slopes of RPReLU": case.slopes(), "of AGeLU": "[0, alpha beta] or [alpha beta, 0]"}
    return Trial(0 in case.slopes(), {**shown, **ends})


_SLOPES = st.sampled_from((0.25, 0.5, 2.0))  # PReLU's where training starts, and others

CLAIM = Claim(st.builds(RPReLU, _SLOPES, numbers(), numbers()), judge)
