"""The tiny attention is what its pseudo-code says, element by element, and gives d_out channels for each token.

Read as: q, k and v are the three thirds of the channels, in this order, and the softmax, whose axis is not named, is
over m, the tokens attended to; the first projection's bias left out.

Place: Fig. 4
Printed: qkv = proj(x, 3 * d_attn); q, k, v = split(qkv, 3); w = einsum("bnd,bmd->bnm", q, k); a = softmax(w *
    rsqrt(d_attn)); x = einsum("bnm,bmd->bnd", a, v); return proj(x, d_out)
Bound: that of w carried through the softmax (functions_softmax.py), then gamma of the sums over m and d
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._attention import Attention, attentions


def judge(case: Attention, arithmetic: Arithmetic) -> Trial:
    """Hold the package's attention against the pseudo-code, batch of one."""
    return equal(case.output(arithmetic), case.printed(arithmetic), **case.shown())


CLAIM = Claim(attentions(), judge)
