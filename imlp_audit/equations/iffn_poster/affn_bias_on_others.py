"""The bias of x_c under GeLU in the AFFN depends on the other input elements, and not on x_c.

Read as: with weights that are not zero, on every other one: n'_{cj} is what is left under GeLU without m'_{cj} x_c.

Place: "Channel-wise Enhancement Part", last sentence
Printed: each bias is dependent on other input elements
Bound: none: a derivative that is exactly zero is told from one that is not
"""

from __future__ import annotations

from imlp_audit.equations.imlp import eq6_bias_on_others

CLAIM = eq6_bias_on_others.CLAIM
