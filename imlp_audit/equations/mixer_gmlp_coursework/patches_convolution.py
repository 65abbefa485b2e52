"""Projecting every patch with one matrix is a convolution with kernel P and stride P.

Read as: each channel of the projection is its own sum over the patch's pixels, the same for all patches, plus a bias.

Place: Sec. 2.1, second paragraph
Printed: Все патчи линейно проецируются в вектор размерности C. Данную операцию можно сделать свёрткой с размером ядра
    P и шагом P.
Bound: gamma_{P^2+1} times the sum of the magnitudes, for one image channel
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._patches import Projection, projections


def judge(case: Projection, arithmetic: Arithmetic) -> Trial:
    """Hold the convolution against the sums over each patch."""
    module = case.embedding(arithmetic)(arithmetic.tensor([[case.image]]))[0]
    return equal(module, case.projected(arithmetic), image=case.image, weights=case.weights, bias=case.bias)


CLAIM = Claim(projections(), judge)
