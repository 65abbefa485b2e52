"""The models of Table 6 without a split have 36 blocks, C = 512 and D_C = 2048.

Their blocks on texts of 128 tokens, and embeddings of 30 thousand tokens, have the parameters that the table prints.

Place: Sec. 3.3, sentence before Table 6, and the table's last column
Corrected: D_C = 2048 in the rows s(Z) = f(Z), s(Z) = Z + f(Z) and s(Z) = Z * f(Z)
Bound: none: parameters are counted, and rounded to a million
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._table6 import MILLIONS, WITHOUT_SPLIT, of_the_blocks
from imlp_audit.models.hosts.gmlp import Gate


def judge(gate: Gate, arithmetic: Arithmetic) -> Trial:
    """Hold the parameters of blocks and embeddings against the printed number."""
    model = of_the_blocks(gate, d_c=2048) + 30_000 * 512
    shown = {"unit": f"s(Z) = {gate.formula}", "printed parameters (M)": MILLIONS[gate], "parameters": model}
    return Trial(abs(model - MILLIONS[gate] * 1_000_000) <= 500_000, shown)


CLAIM = Claim(st.sampled_from(WITHOUT_SPLIT), judge)
