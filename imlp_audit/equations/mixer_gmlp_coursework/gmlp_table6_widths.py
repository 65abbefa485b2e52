"""Every model of Table 6 has 36 blocks, C = 512 and D_C = 3072.

Read as: for texts of 128 tokens, the parameters of these blocks alone, without embeddings, do not exceed the number
that the table prints for the model, which is rounded to a million.

Place: Sec. 3.3, sentence before Table 6, and the table's last column
Printed: Каждая gMLP модель имеет 36 блоков, C = 512 и D_C = 3072 [...] 92, 92, 92, 102
Nearest: gmlp_table6_widths_corrected
Bound: none: parameters are counted, and rounding adds half a million at most
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._table6 import MILLIONS, of_the_blocks
from imlp_audit.models.hosts.gmlp import Gate


def judge(gate: Gate, arithmetic: Arithmetic) -> Trial:
    """Hold the parameters of the blocks against the printed number."""
    blocks = of_the_blocks(gate, d_c=3072)
    shown = {
        "unit": f"s(Z) = {gate.formula}",
        "printed parameters (M)": MILLIONS[gate],
        "parameters of 36 blocks": blocks,
    }
    return Trial(2 * blocks <= (2 * MILLIONS[gate] + 1) * 1_000_000, shown)


CLAIM = Claim(st.sampled_from(list(MILLIONS)), judge)
