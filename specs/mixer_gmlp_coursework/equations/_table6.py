"""Table 6: units, and the parameters of the models that have them."""

from __future__ import annotations

from imlp_audit.models.blocks import Gate

from ._shapes import Sizes

MILLIONS = {Gate.LINEAR: 92, Gate.SUM: 92, Gate.PRODUCT: 92, Gate.SPLIT: 102}
WITHOUT_SPLIT = (Gate.LINEAR, Gate.SUM, Gate.PRODUCT)


def of_the_blocks(gate: Gate, d_c: int) -> int:
    """Return the parameters of 36 blocks of C = 512 on texts of 128 tokens, the longest in Sec. 3.3."""
    return 36 * sum(parameter.numel() for parameter in Sizes(128, 512, d_c).block(gate).parameters())
