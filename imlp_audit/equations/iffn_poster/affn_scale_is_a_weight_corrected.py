"""The scale of x_c under GeLU in the AFFN is a product of two learnable numbers, and depends on no input.

Place: "Channel-wise Enhancement Part", last sentence
Corrected: m'_{cj} = alpha_j w^d_{c,f(j)}, whatever x is
Bound: gamma_1 of the product
"""

from __future__ import annotations

from imlp_audit.equations.imlp import eq6_scale_is_a_weight_corrected

CLAIM = eq6_scale_is_a_weight_corrected.CLAIM
