"""Where D_C is a multiple of C, as in Table 4, Transformers and gMLP are both quadratic in C, and both in S.

Place: Sec. 3.1, last sentence
Corrected: at D_C = r C, the multiply-accumulates of a gMLP block are r C S^2 + 2 r C^2 S, and those of a Transformer's
    block 2 C S^2 + (4 + 2 r) C^2 S: polynomials of degree 2 in C and of degree 2 in S
Bound: none: the ledger of a forward pass is exact
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._shapes import Sizes
from imlp_audit.equations.mixer_gmlp_coursework._transformer import transformer_macs
from imlp_audit.models.hosts.gmlp import Gate


def judge(case: tuple[int, int, int], arithmetic: Arithmetic) -> Trial:
    """Hold both ledgers against both polynomials."""
    s, c, r = case
    costs = Sizes(s, c, r * c).costs(Gate.PRODUCT)
    gmlp, transformer = costs["U and V"] + costs["f"], transformer_macs(s, c, r * c)
    shown = {"S": s, "C": c, "r": r, "gMLP": gmlp, "Transformer": transformer}
    as_said = (r * c * s**2 + 2 * r * c**2 * s, 2 * c * s**2 + (4 + 2 * r) * c**2 * s)
    return Trial((gmlp, transformer) == as_said, shown)


CLAIM = Claim(st.tuples(*[st.integers(1, 4)] * 3), judge, share=0.4)
