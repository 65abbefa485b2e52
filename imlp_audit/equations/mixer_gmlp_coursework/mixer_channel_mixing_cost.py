"""Channel mixing takes 2 D_C S C operations.

Read as: operations are multiply-accumulates; those of LayerNorm, biases, GELU and the skip connection are not counted.

Place: Sec. 2.1, paragraph on complexity
Printed: Аналогично слой channel-mixing выполняет преобразования над строками входной матрицы для каждого патча. Всего
    имеем 2 D_C S C операций.
Bound: none: the ledger of a forward pass is exact
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._counts import macs
from imlp_audit.equations.mixer_gmlp_coursework._layers import Sizes, sizes


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Hold the ledger against the printed product."""
    ours = macs(lambda: case.layer().channel_mixing, 1, case.s, case.c)
    printed = 2 * case.d_c * case.s * case.c
    return Trial(ours == printed, {**case.shown(), "multiply-accumulates": ours, "2 D_C S C": printed})


CLAIM = Claim(sizes(3), judge)
