"""A gMLP block's complexity is linear in the number of channels, and quadratic in tokens.

Read as: at a given D_C, equal steps of C add equal amounts to the work that gmlp_cost counts, and at a given C so do
equal steps of D_C; equal steps of S change it by amounts that grow by the same amount > 0 each time.
attention_cost_in_channels_corrected tells what happens where D_C grows with C, as in Table 4.

Place: Sec. 3.1, last paragraph
Printed: Таким образом, получим, что вычислительная сложность gMLP линейна по количеству каналов, но квадратична по
    токенам.
Bound: none: the ledger of a forward pass is exact
"""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._counts import second_differences
from imlp_audit.equations.mixer_gmlp_coursework._shapes import Sizes, sizes
from imlp_audit.models.hosts.gmlp import Gate

STEPS = range(4)


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Take second differences of the block's ledger by each size."""
    by_c = _differences([replace(case, c=case.c + step) for step in STEPS])
    by_d_c = _differences([replace(case, d_c=case.d_c + step) for step in STEPS])
    by_s = _differences([replace(case, s=case.s + step) for step in STEPS])
    holds = by_c == by_d_c == [0, 0] and by_s[0] == by_s[1] > 0
    return Trial(holds, {**case.shown(), "second differences by C": by_c, "by D_C": by_d_c, "by S": by_s})


def _differences(sizes: list[Sizes]) -> list[int]:
    return second_differences([sum(size.costs(Gate.PRODUCT).values()) for size in sizes])


CLAIM = Claim(sizes((1, 2, 3)), judge, share=0.08)
