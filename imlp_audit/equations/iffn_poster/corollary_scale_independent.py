"""The scale of x_c in the FFN is a learnable weight and does not depend on x_c, nor on any input.

Read as: what phi is applied to changes with x_c at the same rate, the weight w^a_{cj}, wherever x_c is.

Place: "FFN Module is a Non-linearity Generator", corollary, third sentence
Printed: The scale is a learnable weight independent to the input element x_c
Bound: none: the derivative of a linear function is the weight itself
"""

from __future__ import annotations

from imlp_audit.equations.imlp import corollary1_scale_independent

CLAIM = corollary1_scale_independent.CLAIM
