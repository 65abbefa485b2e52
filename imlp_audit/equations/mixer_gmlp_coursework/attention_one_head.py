"""Between its two projections, the tiny attention is scaled dot-product attention with one head.

Read as: what torch calls scaled_dot_product_attention, of the q, k and v that the package's module projects.

Place: Sec. 3.4 and Fig. 4
Printed: предлагается использовать маленький блок внимания с одной головкой
Bound: that of w carried through the softmax (functions_softmax.py), then gamma of the sums over m and d
"""

from __future__ import annotations

import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._attention import Attention, attentions


def judge(case: Attention, arithmetic: Arithmetic) -> Trial:
    """Hold torch's attention, between the package's projections, against the pseudo-code."""
    module = case.module(arithmetic)
    q, k, v = module.qkv(arithmetic.tensor(case.x)[None]).split(case.d_attn, dim=-1)
    with sdpa_kernel(SDPBackend.MATH):  # the others may take a coarser exp
        torchs = module.out(F.scaled_dot_product_attention(q, k, v))[0]
    return equal(torchs, case.printed(arithmetic), **case.shown())


CLAIM = Claim(attentions(), judge)
