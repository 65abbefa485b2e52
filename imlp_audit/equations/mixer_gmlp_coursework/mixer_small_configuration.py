"""The small configuration has S = HW / P^2 for images of 32 x 32, D_S > S and D_C > C.

Read as: the images are those of CIFAR-10 and CIFAR-100, which Sec. 3.2 says are 32 x 32.

Place: Sec. 2.2, last paragraph
Printed: Вместе с этим необходимо уменьшить гиперпараметры: P = 4, S = 64, C = 256, D_C = 1024, D_S = 256.
Bound: none: integers are compared
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._layers import Sizes


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Hold the numbers against each other."""
    patches = 32 * 32 // 4**2
    holds = case.s == patches and case.d_s > case.s and case.d_c > case.c
    return Trial(holds, {**case.shown(), "HW / P^2": patches})


CLAIM = Claim(st.just(Sizes(s=64, c=256, d_s=256, d_c=1024)), judge)
