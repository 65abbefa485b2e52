"""Without concatenation, GeLU and AGeLU have the same degree of non-linearity: C' both.

Read as: where no beta is zero and no two hidden units have equal or opposite arguments of phi, they are linearly
independent as functions of x_1, with GeLU as with AGeLU.

Place: Sec. 5.2 on Table 3
Printed: in the former setting [r = 4 without concatenation] the two activation functions have the same degree of
    non-linearity
Bound: a minor of the functions' values that is larger than its own bound proves independence
"""

from __future__ import annotations

import torch.nn.functional as F
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._amlp import Amlp
from imlp_audit.equations.imlp._ranks import first_layer, sampled_equal
from imlp_audit.equations.imlp._units import Unit, apart, independent
from imlp_audit.equations.imlp.rank_agelu_concat_corrected import amlps_apart


def judge(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Hold AGeLU's hidden units, and GeLU's, against their formulas, and look for dependent ones."""
    t0, agelus = first_layer(case, arithmetic), case.units()[: len(case.wd[0])]
    shown = {"x": case.x, "W^a": case.wd, **case.first.shown()}
    for hidden, units in ((case.first.module(arithmetic)(t0), agelus), (F.gelu(t0), _gelus(case))):
        sampled = sampled_equal(hidden, units, arithmetic, **shown)
        if not sampled.holds or not independent(units):
            return Trial(False, {**shown, **sampled.shown, "functions": list(map(str, units))})
    return Trial(True)


def _gelus(case: Amlp) -> list[Unit]:
    """Return GeLU of each column of the first layer."""
    columns = zip(*case.wd, strict=True)
    return [Unit(own, sum(w * x for w, x in zip(others, case.x[1:], strict=True))) for own, *others in columns]


CLAIM = Claim(
    st.tuples(st.integers(1, 2), st.integers(1, 3))
    .flatmap(lambda size: amlps_apart(*size))
    .filter(lambda case: apart(_gelus(case))),
    judge,
)
