"""Each output of the AFFN is a sum of GeLUs weighted by w^{e'}_{jc} plus the theta_j, which no weight multiplies.

theta_j is AGeLU's, and carries the index of the sum, so it stands inside it. The poster does
not say what m' and n' are; all alpha_j are 1 here, so that they are those of the paper's Eq. 6, right as printed there.

Place: "Channel-wise Enhancement Part", second equation
Printed: y' = (sum_{j=1}^{C'} w^{e'}_{jc} GeLU(m'_{cj} x_c + n'_{cj}) + theta_j)_{c=1}^{C}
Nearest: affn_scale_and_bias_corrected
Bound: gamma_2 times the magnitudes under GeLU, times its largest slope, then gamma_5 times those of the sum
"""

from __future__ import annotations

from imlp_audit.equations.imlp import eq6_scale_and_bias

CLAIM = eq6_scale_and_bias.CLAIM
