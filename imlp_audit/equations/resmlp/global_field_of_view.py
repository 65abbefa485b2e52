"""The linear layer across patches sees all of them, as self-attention does: every output depends on every patch. A
3 x 3 convolution on a grid of 3 x 3 patches or more does not.

Place: Related work, Other architectures with similar components
Printed: Both layers have a global field-of-view, unlike convolutional layers
Bound: none: a derivative is exactly zero or it is not
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.resmlp._layer import Values, loaded
from imlp_audit.models.attention import SelfAttention
from imlp_audit.models.resmlp import CrossPatch


def judge(side: int, arithmetic: Arithmetic) -> Trial:
    """Look for patches that an output does not depend on, with weights of 1 and features of zero."""
    patches = side**2
    across: dict[str, Values] = {"a.weight": ((1.0,) * patches,) * patches}
    attention: dict[str, Values] = {"qkv.weight": ((1.0,), (1.0,), (1.0,)), "proj.weight": ((1.0,),)}
    convolution = arithmetic.place(nn.Conv2d(1, 1, 3, padding=1, bias=False))
    nn.init.ones_(next(convolution.parameters()))

    def convolve(x: Tensor) -> Tensor:
        grid: Tensor = convolution(x.view(1, 1, side, side))
        return grid.view(x.shape)

    layers: dict[str, Callable[[Tensor], Tensor]] = {
        "linear": loaded(CrossPatch(patches, bias=False), across, arithmetic),
        "self-attention": loaded(SelfAttention(1, bias=False), attention, arithmetic),
        "convolution": convolve,
    }
    x = torch.zeros_like(arithmetic.tensor([[[0.0]] * patches]))
    sees_all = {name: bool(depends(layer, x).all()) for name, layer in layers.items()}
    printed = {"linear": True, "self-attention": True, "convolution": False}
    return Trial(sees_all == printed, {"N": side, "sees all patches": sees_all})


CLAIM = Claim(st.sampled_from((3, 4, 5)), judge)
