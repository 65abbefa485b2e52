"""All patches are projected linearly with the same matrix.

Read as: each of the C numbers of a patch is its own sum over the patch's pixels, with weights that are the same for all
patches, plus a bias.

Place: paragraph on the input
Printed: All patches are linearly projected with the same projection matrix.
Bound: gamma_{P^2+1} times the sum of the magnitudes, for one image channel
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._patches import Projection, projections


def judge(case: Projection, arithmetic: Arithmetic) -> Trial:
    """Hold the patch embedding against the sums over each patch."""
    module = case.embedding(arithmetic)(arithmetic.tensor([[case.image]]))[0]
    return equal(module, case.projected(arithmetic), image=case.image, weights=case.weights, bias=case.bias)


CLAIM = Claim(projections(), judge)
