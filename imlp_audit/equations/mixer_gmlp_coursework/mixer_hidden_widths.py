"""A layer with D_S > S and D_C > C takes more than 2 S^2 C + 2 C^2 S multiply-accumulates.

So the inequalities and the linear complexity hold together only while S < D_S and C < D_C: fixed widths do not fit
every S and C, and widths that grow with S and C make the complexity quadratic at least.

Place: Sec. 2.1, paragraphs on the parameters and on complexity
Corrected: where D_S > S and D_C > C, a layer takes at least 2 S^2 C + 2 C^2 S + 4 S C multiply-accumulates
Bound: none: the ledger of a forward pass is exact
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._counts import macs
from imlp_audit.equations.mixer_gmlp_coursework._layers import Sizes


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Hold the ledger of a layer with wider MLPs against the quadratic bound."""
    ours = macs(case.layer, 1, case.s, case.c)
    least = 2 * case.s**2 * case.c + 2 * case.c**2 * case.s + 4 * case.s * case.c
    return Trial(ours >= least, {**case.shown(), "multiply-accumulates": ours, "at least": least})


_size = st.integers(1, 3)
CLAIM = Claim(st.builds(lambda s, c, over_s, over_c: Sizes(s, c, s + over_s, c + over_c), *[_size] * 4), judge)
