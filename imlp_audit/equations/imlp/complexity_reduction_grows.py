"""In a larger ViT, IMLPs reduce a larger share of parameters and of multiply-accumulates.

Read as: at 224 with patches of 16, in a ViT that is wider, deeper or both, with the same kernel n = 3 in both, from
widths of 64 on. (Table 1 takes n = 5 for the largest models.)

Place: Sec. 5.1, on Table 1
Printed: As the model becomes larger, the amount of parameter/FLOPs reduction also increases
Bound: none: parameters and multiply-accumulates are counted
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._vit import Vit, growing, parameters, work


def judge(case: tuple[Vit, Vit], _: Arithmetic) -> Trial:
    """Hold what one model saves of its own against what the larger one does."""
    for name, count in (("parameters", parameters), ("multiply-accumulates", work)):
        small, large = map(count, case)
        if small.saved * large.everything >= large.saved * small.everything:
            shares = small.saved / small.everything, large.saved / large.everything
            return Trial(False, {"small": case[0], "large": case[1], f"reductions of {name}": shares})
    return Trial(True)


CLAIM = Claim(growing(), judge)
