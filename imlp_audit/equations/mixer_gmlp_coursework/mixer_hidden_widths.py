"""D_S and D_C are chosen independently of S and C, and yet D_S > S and D_C > C.

Read as: the D_S and D_C that Table 1 chooses fit any number of patches, that is, images of any size n P x n P.

Place: Sec. 2.1, paragraph on the parameters
Printed: Они выбираются независимо от S и C. Но подбираются так, чтобы были верны неравенства D_S > S и D_C > C.
Nearest: mixer_hidden_widths_corrected
Bound: none: integers are compared
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._table1 import TABLE_1


def judge(case: tuple[str, int], arithmetic: Arithmetic) -> Trial:
    """Hold a row's D_S and D_C against S and C at another image size."""
    name, n = case
    row, patches = TABLE_1[name], n * n
    shown = {"model": name, "H = W": n * row.patch, "S": patches, "D_S": row.d_s, "C": row.c, "D_C": row.d_c}
    return Trial(row.d_s > patches and row.d_c > row.c, shown)


CLAIM = Claim(st.tuples(st.sampled_from(list(TABLE_1)), st.integers(1, 40)), judge)
