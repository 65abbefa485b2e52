"""Which tokens of a gMLP block's output depend on which of its input."""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.dependence import depends
from imlp_audit.models.blocks import Gate

from ._gmlp import Block


def linked_tokens(case: Block, arithmetic: Arithmetic) -> list[tuple[int, int]]:
    """Return the pairs (i, j), from 1, of a token of Y and one of X that it depends on, for the product unit."""
    links = depends(case.module(arithmetic, Gate.PRODUCT), arithmetic.tensor(case.x)).any(3).any(1).tolist()
    return [(i, j) for i, row in enumerate(links, start=1) for j, linked in enumerate(row, start=1) if linked]
