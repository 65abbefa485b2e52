"""The scale of x_c under GeLU in the AFFN is learnable, and depends on no input: it is alpha_j w^d_{c,f(j)}.

Place: "Channel-wise Enhancement Part", last sentence
Printed: Each scale is a learnable weight independent to the input
Bound: gamma_1 of the product
"""

from __future__ import annotations

from imlp_audit.equations.imlp import eq6_scale_is_a_weight

CLAIM = eq6_scale_is_a_weight.CLAIM
