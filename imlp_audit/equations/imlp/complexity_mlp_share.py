"""In a larger ViT, the MLPs have a larger share of the computation.

Read as: of the multiply-accumulates at 224 with patches of 16, in a ViT that is wider, deeper or both. Depth
does not change the share of a block's own computation; stem and head lose weight as depth grows.

Place: Sec. 5.1, on Table 1
Printed: As the model becomes larger, [...] the proportion of the MLP module in the computation grows
Bound: none: multiply-accumulates are counted
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._vit import Vit, growing, work


def judge(case: tuple[Vit, Vit], _: Arithmetic) -> Trial:
    """Hold the share of one model against that of the larger one."""
    small, large = map(work, case)
    shown = {"small": case[0], "large": case[1], "its MLPs and all": (small.mlps, small.everything)}
    grows = small.mlps * large.everything < large.mlps * small.everything
    return Trial(grows, {**shown, "the larger one's": (large.mlps, large.everything)})


CLAIM = Claim(growing(), judge)
