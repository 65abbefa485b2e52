"""Hidden units of AMLPs as functions of x_1, sampled: the package's modules against the units' formulas."""

from __future__ import annotations

import torch
from torch import Tensor

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, equal

from ._amlp import Amlp
from ._units import POINTS, Unit


def first_layer(case: Amlp, arithmetic: Arithmetic) -> Tensor:
    """Return t_0 where x_1 is each of the sample points in turn, one a row."""
    x = arithmetic.tensor(case.x).repeat(len(POINTS), 1)
    x[:, 0] = arithmetic.tensor(POINTS)
    return x @ arithmetic.tensor(case.wd)


def sampled_equal(hidden: Tensor, units: list[Unit], arithmetic: Arithmetic, **shown: object) -> Trial:
    """Hold sampled hidden units, one a column, against their formulas."""
    return equal(hidden, [[unit.at(x, arithmetic) for unit in units] for x in POINTS], **shown)


def replicated(hidden: Tensor) -> bool:
    """Return whether the second half of the columns is the first, bit for bit."""
    left, right = hidden.chunk(2, dim=-1)
    return torch.equal(left, right)
