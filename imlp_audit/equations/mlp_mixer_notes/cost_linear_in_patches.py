"""A Mixer's complexity is linear in the number of input patches.

Read as: k times the patches, of the same size, take k times the multiply-accumulates of the patch projection and of the
layers, since D_S (and D_C) stay as they are.

Place: paragraph on the hidden widths
Printed: Note that D_S is selected independently of the number of input patches. Therefore, the computational complexity
    of the network is linear in the number of input patches
Bound: none: the ledger of a forward pass is exact
"""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mlp_mixer_notes._network import Network, networks


def judge(case: Network, arithmetic: Arithmetic) -> Trial:
    """Hold the ledger for twice the patches, and for three times, against the network's own."""
    own, *more = (replace(case, rows=k * case.rows).macs() for k in (1, 2, 3))
    shown = {"multiply-accumulates": own, "with 2 S and 3 S patches": more}
    return Trial(more == [2 * own, 3 * own], {**case.shown(), **shown})


CLAIM = Claim(networks(), judge)
