"""With AReLUs each output of the AMLP, against x_c, has at most C' kinks: one wherever jumps do not cancel.

So it has C' kinks where the -n'_{cj} / m'_{cj} are different and no weight is zero, m' and n' with the factor alpha_j.

Place: Sec. 4.1, last paragraph, for Fig. 2's phi = ReLU
Corrected: y'_c has a kink at x_c = t if and only if sum_{j: -n'_{cj} / m'_{cj} = t} w^e_{jc} beta_j |m'_{cj}| != 0; at
    most C'
Bound: none: rational arithmetic
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.claim import Claim
from imlp_audit.equations.imlp._relu import arelu_amlps
from imlp_audit.equations.imlp.fig2_mlp_kinks_corrected import judge

CLAIM = Claim(st.integers(1, 2).flatmap(arelu_amlps), judge)
