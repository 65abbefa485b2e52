"""The AMLP module that is built here, with biases, is the function of Theorem 1 and Eq. 11.

Place: Appendix A.1, Eq. 11; Theorem 1
Printed: f(x) = W^1 concat(phi_1(W^0 x + b^0), phi_2(W^0 x + b^0)) + b^1
Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
"""

from __future__ import annotations

import torch
from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.imlp._theorem import Module, affine, modules
from imlp_audit.equations.strategies import Vector
from imlp_audit.models.imlp import ChannelPart, Imlp, amlp


def judge(case: Module, arithmetic: Arithmetic) -> Trial:
    """Run the module on x, and hold it against the printed formula with b^1 = b^11."""
    first, second = case.halves
    concat = [*case.activated(0, case.x, arithmetic), *case.activated(1, case.x, arithmetic)]
    w1 = [a + b for a, b in zip(first.w1, second.w1, strict=True)]
    return equal(
        _built(case, w1, arithmetic)(arithmetic.tensor([case.x]))[0], affine(w1, concat, first.b1), **case.shown()
    )


def _built(case: Module, w1: list[Vector], arithmetic: Arithmetic) -> Imlp:
    """Return the package's module with the case's weights."""
    module = amlp(len(case.x), len(case.w0), len(w1))
    arithmetic.place(module)
    assert isinstance(module.fc1, nn.Linear)
    assert isinstance(module.fc2, nn.Linear)
    assert isinstance(module.act, ChannelPart)
    with torch.no_grad():
        for parameter, values in (
            (module.fc1.weight, case.w0), (module.fc1.bias, case.b0),
            (module.fc2.weight, w1), (module.fc2.bias, case.halves[0].b1),
        ):  # fmt: skip
            parameter.copy_(arithmetic.tensor(values))
        for agelu, half in zip((module.act.agelu1, module.act.agelu2), case.halves, strict=True):
            half.phi.load_into(agelu, arithmetic)
    return module


CLAIM = Claim(modules(), judge)
