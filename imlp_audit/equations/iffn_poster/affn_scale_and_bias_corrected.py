"""Each output of the AFFN is a sum of GeLUs, each of a scale times x_c plus a bias, and of the weighted theta_j.

Place: "Channel-wise Enhancement Part", second equation
Corrected: y' = (sum_{j=1}^{C'} (w^{e'}_{jc} GeLU(m'_{cj} x_c + n'_{cj}) + w^e_{jc} theta_j))_{c=1}^{C},
    w^{e'}_{jc} = w^e_{jc} beta_j, m'_{cj} = alpha_j w^d_{c,f(j)},
    n'_{cj} = alpha_j sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j
Bound: gamma_{C+2} times the magnitudes under GeLU, times its largest slope, then gamma_{C'+4} times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.imlp import eq6_scale_and_bias_corrected

CLAIM = eq6_scale_and_bias_corrected.CLAIM
