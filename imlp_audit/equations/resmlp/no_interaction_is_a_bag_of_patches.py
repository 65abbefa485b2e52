"""Without the linear interaction layer the network is a bag of patches: the average of the patches that come out of
the cross-channel sublayer does not depend on their order.

Place: Sec. 3.3, Communication across patches
Printed: if we remove the linear interaction layer (linear -> none), we obtain substantially lower accuracy for a
    "bag-of-patches" approach
Bound: that of Eq. 3, then 3 roundings of the sum over patches; the mean over four divides exactly
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.resmlp._layer import FeedForwardCase, batch_of, feedforwards
from imlp_audit.equations.rounded import total


@dataclass(frozen=True)
class Reordered:
    """A cross-channel sublayer and its four patches, and another order of them."""

    sublayer: FeedForwardCase
    order: tuple[int, ...]


def judge(case: Reordered, arithmetic: Arithmetic) -> Trial:
    """Hold the average in the other order against the average in the printed one."""
    z = batch_of(case.sublayer.z, arithmetic)[:, list(case.order)]
    pooled = case.sublayer.module(arithmetic).cross_channel(z)[0].mean(dim=0)
    printed = [0.25 * total(channel) for channel in case.sublayer.printed(arithmetic)]
    return equal(pooled, printed, **case.sublayer.shown(), order=case.order)


CLAIM = Claim(
    st.builds(Reordered, feedforwards(patches=(4,)), st.sampled_from(((1, 0, 2, 3), (1, 2, 3, 0), (3, 2, 1, 0)))), judge
)
