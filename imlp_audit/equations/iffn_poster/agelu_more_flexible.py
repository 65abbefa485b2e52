"""AGeLU is more flexible than RPReLU.

Read as: what RPReLU can do AGeLU can, so that there is an AGeLU of the slopes of every RPReLU at both ends. AGeLU has
alpha beta at one end and 0 at the other (agelu_learnable_slope); RPReLU has beta and 1.

In the sense of the sentence after it, a slope to learn and a shape to switch, it holds (agelu_learnable_slope).

Place: "A more Powerful Nonlinear Function", last sentence
Printed: AGeLU is more flexible than other modified nonlinear functions such as RPReLU by having learnable slope and can
    switch the whole shape
Nearest: agelu_more_flexible_corrected
Bound: none: the slopes are exact
"""

from __future__ import annotations

from imlp_audit.equations.imlp import agelu_more_flexible

CLAIM = agelu_more_flexible.CLAIM
