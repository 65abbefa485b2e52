"""The FFN's matrix form is, for each output, a sum over hidden units of phi of a scale times x_c plus a bias.

Place: "FFN Module is a Non-linearity Generator", second equation
Printed: y = phi(x W^a) W^b = (sum_{j=1}^{C'} w^b_{jc} phi(m_{cj} x_c + n_{cj}))_{c=1}^{C}, m_{cj} = w^a_{cj},
    n_{cj} = sum_{i=1, i != c}^{C} w^a_{ij} x_i
Bound: gamma_{C+1} times the magnitudes under phi, times its largest slope, then gamma_{C'+1} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.imlp import eq2_scale_and_bias

CLAIM = eq2_scale_and_bias.CLAIM
