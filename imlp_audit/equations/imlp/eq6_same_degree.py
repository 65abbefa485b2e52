"""Two AGeLUs with different parameters give each output C' different nonlinear functions: the degree of the MLP.

Read as: the functions of x_1 that the weights combine in Eq. 6's last line, GeLU(m'_{1j} x_1 + n'_{1j}), are linearly
independent. Tested where beta' is not beta, so that the parameters are different, as Eq. 5's text has them.

Place: Sec. 4.1, last paragraph
Printed: the proposed AMLP module (Eq. 6) is also a generator that generates the same degree of non-linearity. Each
    element y'_c in y' can also be treated as a linear combination of C' different nonlinear functions
Nearest: rank_agelu_concat_corrected
Bound: a minor of the functions' values that is larger than its own bound proves independence; multiples prove
    dependence
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.claim import Claim
from imlp_audit.equations.imlp._agelu import Coefficients
from imlp_audit.equations.imlp._amlp import Amlp
from imlp_audit.equations.imlp.rank_agelu_concat import judge

_FEW = st.tuples(st.sampled_from((1.0, 2.0)))
_SHIFT = st.tuples(st.sampled_from((0.0, 1.0)))
_FIRST = st.builds(Coefficients, _FEW, st.just((1.0,)), _SHIFT, st.just((0.0,)))
_SECOND = st.builds(Coefficients, _FEW, st.just((2.0,)), _SHIFT, st.just((0.0,)))

CLAIM = Claim(st.builds(Amlp, st.just((1.0,)), st.just(((1.0,),)), _FIRST, _SECOND, st.just(((1.0,),) * 2)), judge)
