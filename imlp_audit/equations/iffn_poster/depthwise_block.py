"""The DW block is a depthwise convolution, then a batch norm, then GeLU.

Read as: in the order in which they are named, in evaluation, without a skip; what comes in is AGeLU(x). (The labels
that are left of the figure have an AGeLU2 behind the convolution, where the text has a GeLU.)

Place: "Spatial-wise Enhancement Part and Overall Architecture"
Printed: We modify AFFN module by introducing a DW Block (DW Conv with BN and GeLU) after AGeLU
Bound: that of Eq. 10 of the paper and its batch norm, times GeLU's largest slope, and GeLU's own error
"""

from __future__ import annotations

from imlp_audit.equations.imlp import depthwise_block

CLAIM = depthwise_block.CLAIM
