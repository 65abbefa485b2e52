"""What Transformers cost, and how costs grow."""

from collections.abc import Sequence

from timm.models.vision_transformer import Attention

from imlp_audit.claims import macs
from imlp_audit.models.mixer import ChannelMixing


def transformer_macs(S: int, C: int, D_C: int) -> int:
    """Return the multiply-accumulates of self-attention and of fully connected layers of width D_C, one sequence."""
    return macs(lambda: Attention(C, 1), 1, S, C) + macs(lambda: ChannelMixing(C, D_C), 1, S, C)


def second_differences(costs: Sequence[int]) -> list[int]:
    """Return by how much equal steps grow: the same each time for a polynomial of degree 2, and 0 for a line."""
    return [after - 2 * at + before for before, at, after in zip(costs, costs[1:], costs[2:], strict=False)]
