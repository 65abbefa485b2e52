"""The modules whose costs the paper compares, with biases."""

from collections.abc import Callable
from functools import partial

from torch import nn

from imlp_audit.models.blocks import Part
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.mixer import Mlp
from imlp_audit.models.readings import PRINTED

Build = Callable[[], nn.Module]


def mlp(width: int, hidden: int) -> Build:
    """The MLP of Eq. 1, C to C' to C."""
    return partial(Mlp, width, hidden)


def amlp(width: int, hidden: int) -> Build:
    """The AMLP of Eq. 5, C to C'/2, of which the second FC layer reads C'."""
    return partial(Imlp, width, hidden // 2, reading=PRINTED, part=Part.CHANNEL)


def imlp(width: int, hidden: int, kernel: int, tokens: int = 0) -> Build:
    """The IMLP of Fig. 4; its tokens lie in one row, where their number is given, else on a square."""
    grid = (1, tokens) if tokens else None
    return partial(Imlp, width, hidden // 2, reading=PRINTED, kernel=kernel, grid=grid)
