"""The paper's DW block after an AGeLU, with the symbols of Eq. 10 in it."""

from __future__ import annotations

from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.imlp._agelu import Coefficients
from imlp_audit.equations.imlp._series import Series
from imlp_audit.equations.rounded import Rounded
from imlp_audit.models.agelu import AGeLU
from imlp_audit.models.imlp import DepthwiseBlock
from imlp_audit.models.reading import Reading


def block_of(case: Series, reading: Reading, arithmetic: Arithmetic) -> DepthwiseBlock:
    """Return the DW block whose convolution has the weights a; its norm, if any, is as it starts."""
    block = DepthwiseBlock(len(case.b), 2 * case.n + 1, reading, nn.GELU)
    block.conv.weight.data = case.weight(arithmetic)
    arithmetic.place(block)
    return block


def after_agelu(block: DepthwiseBlock, case: Series, arithmetic: Arithmetic) -> Tensor:
    """Return DWBlock(AGeLU(x)) with alpha = beta = 1, gamma = b, theta = 0, of shape (channels, H, W)."""
    channels = len(case.b)
    ones, zeros = (1.0,) * channels, (0.0,) * channels
    agelu = Coefficients(ones, ones, case.b, zeros).load_into(AGeLU(channels, channels_first=True), arithmetic)
    y: Tensor = block(agelu(arithmetic.tensor(case.x)[None]))[0]
    return y


def everywhere(case: Series, arithmetic: Arithmetic) -> list[list[list[Rounded]]]:
    """Return Eq. 10, i and j from -n to n, at every position of the grid."""
    height, width = case.size
    return case.printed(arithmetic, range(-case.n, case.n + 1), range(height), range(width))
