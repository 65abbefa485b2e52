"""Every column of Table 1 has S = HW / P^2 at 224 x 224, D_S > S and D_C > C.

Place: Sec. 2.1, paragraph on the parameters, and Table 1; 224 x 224 is in Sec. 2.2
Printed: S = HW / P^2; D_S > S, D_C > C; Table 1
Bound: none: integers are compared
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._table1 import TABLE_1


def judge(case: str, arithmetic: Arithmetic) -> Trial:
    """Hold a column's numbers against each other."""
    row = TABLE_1[case]
    patches = 224 * 224 // row.patch**2
    shown = {"model": case, "P": row.patch, "S": row.s, "HW / P^2": patches}
    holds = row.s == patches and row.d_s > row.s and row.d_c > row.c
    return Trial(holds, {**shown, "D_S": row.d_s, "C": row.c, "D_C": row.d_c})


CLAIM = Claim(st.sampled_from(list(TABLE_1)), judge)
