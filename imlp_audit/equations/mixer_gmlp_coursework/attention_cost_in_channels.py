"""Transformers are linear in the number of channels, as gMLP is.

Read as in gmlp_cost_growth: at a given D_C, equal steps of C add equal amounts to the multiply-accumulates of
self-attention and the fully connected layers after it. Queries, keys, values and their projection add C x C matrices.

Place: Sec. 3.1, last sentence
Printed: вычислительная сложность gMLP линейна по количеству каналов, но квадратична по токенам. Такую же сложность
    имеют Трансформеры.
Nearest: attention_cost_in_channels_corrected
Bound: none: the ledger of a forward pass is exact
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._shapes import Sizes, sizes
from imlp_audit.equations.mixer_gmlp_coursework._transformer import transformer_macs


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Hold what one more channel adds against what the next one adds."""
    costs = [transformer_macs(case.s, c, case.d_c) for c in range(case.c, case.c + 3)]
    found = {f"multiply-accumulates with {case.c + i} channels": cost for i, cost in enumerate(costs)}
    holds = costs[1] - costs[0] == costs[2] - costs[1]
    return Trial(holds, {"S": case.s, "D_C": case.d_c, **found})


CLAIM = Claim(sizes((1, 2, 3)), judge)
