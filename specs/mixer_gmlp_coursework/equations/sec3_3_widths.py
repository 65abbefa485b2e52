"""Sec. 3.3, the widths of Table 6."""

from __future__ import annotations

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.models.blocks import Gate

from ._table6 import MILLIONS, WITHOUT_SPLIT, of_the_blocks


@claim(st.sampled_from(list(MILLIONS)))
def gmlp_table6_widths(gate: Gate, arithmetic: Arithmetic) -> Trial:
    """Every model of Table 6 has 36 blocks, C = 512 and D_C = 3072.

    Read as: for texts of 128 tokens, the parameters of these blocks alone, without embeddings, do not exceed the number
    that the table prints for the model, which is rounded to a million.

    Place: Sec. 3.3, sentence before Table 6, and the table's last column
    Printed: Каждая gMLP модель имеет 36 блоков, C = 512 и D_C = 3072 [...] 92, 92, 92, 102
    Nearest: gmlp_table6_widths_corrected
    Bound: none: parameters are counted, and rounding adds half a million at most
    """
    # Hold the parameters of the blocks against the printed number.
    blocks = of_the_blocks(gate, d_c=3072)
    shown = {
        "unit": f"s(Z) = {gate.formula}",
        "printed parameters (M)": MILLIONS[gate],
        "parameters of 36 blocks": blocks,
    }
    return Trial(2 * blocks <= (2 * MILLIONS[gate] + 1) * 1_000_000, shown)


@claim(st.sampled_from(WITHOUT_SPLIT))
def gmlp_table6_widths_corrected(gate: Gate, arithmetic: Arithmetic) -> Trial:
    """The models of Table 6 without a split have 36 blocks, C = 512 and D_C = 2048.

    Their blocks on texts of 128 tokens, and embeddings of 30 thousand tokens, have the parameters that the table
    prints.

    Place: Sec. 3.3, sentence before Table 6, and the table's last column
    Corrected: D_C = 2048 in the rows s(Z) = f(Z), s(Z) = Z + f(Z) and s(Z) = Z * f(Z)
    Bound: none: parameters are counted, and rounded to a million
    """
    # Hold the parameters of blocks and embeddings against the printed number.
    model = of_the_blocks(gate, d_c=2048) + 30_000 * 512
    shown = {"unit": f"s(Z) = {gate.formula}", "printed parameters (M)": MILLIONS[gate], "parameters": model}
    return Trial(abs(model - MILLIONS[gate] * 1_000_000) <= 500_000, shown)
