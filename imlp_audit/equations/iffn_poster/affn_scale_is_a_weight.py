"""The scale of x_c under GeLU in the AFFN is a learnable weight, the entry w^d_{c,f(j)} of W^d.

Read as: what GeLU is applied to changes with x_c at the rate w^d_{c,f(j)}.

Place: "Channel-wise Enhancement Part", last sentence
Printed: Each scale is a learnable weight independent to the input
Nearest: affn_scale_is_a_weight_corrected
Bound: gamma_1 of the product of the scale's factors
"""

from __future__ import annotations

from imlp_audit.equations.imlp import eq6_scale_is_a_weight

CLAIM = eq6_scale_is_a_weight.CLAIM
