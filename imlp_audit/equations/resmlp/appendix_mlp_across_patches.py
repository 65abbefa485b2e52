"""The MLP that replaces self-attention is the transposition, a linear layer from N to 4N, GELU, a linear layer from
4N to N, and the transposition back: each channel is mixed across patches by the same MLP.

Place: Appendix A, first paragraphs
Printed: ()^T - linear N x 4N - GELU - linear 4N x N - ()^T
Bound: gamma_{N+1} times the magnitudes under GELU, times its largest slope, then gamma_{4N+2} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.resmlp._layer import Column, loaded, product, transposed
from imlp_audit.equations.resmlp._mlp import PatchMlp, patch_mlps
from imlp_audit.equations.rounded import Rounded
from imlp_audit.models.resmlp import CrossPatchMlp


def judge(case: PatchMlp, arithmetic: Arithmetic) -> Trial:
    """Hold the module against the printed sequence, channel by channel."""
    first, last = arithmetic.matrix(case.first), arithmetic.matrix(case.last)

    def mlp(channel: Column) -> list[Rounded]:
        hidden = [gelu(n + bias) for n, bias in zip(product(first, channel), case.first_bias, strict=True)]
        return [n + bias for n, bias in zip(product(last, hidden), case.last_bias, strict=True)]

    module = loaded(CrossPatchMlp(len(case.x)), case.weights("mlp."), arithmetic)
    printed = transposed([mlp(channel) for channel in transposed(arithmetic.matrix(case.x))])
    return equal(module(arithmetic.tensor([case.x]))[0], printed, **case.shown())


CLAIM = Claim(patch_mlps(), judge)
