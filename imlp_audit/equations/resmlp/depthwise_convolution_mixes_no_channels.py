"""Like the linear patch communication layer, a depth-wise 3 x 3 convolution implements no interaction across channels:
no channel's output has a derivative by another channel. With a full convolution every channel's output has.

Place: Sec. 3.3, Communication across patches
Printed: The depth-wise convolution does not implement interaction across channels - as our linear patch communication
    layer
Bound: none: a derivative is exactly zero or it is not
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor, nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.models.resmlp import CrossPatch


@dataclass(frozen=True)
class Size:
    """A number of channels and the side N of the grid."""

    d: int
    side: int


def judge(case: Size, arithmetic: Arithmetic) -> Trial:
    """Hold which channels depend on which, with weights of 1, against the diagonal and against all of them."""
    d, side = case.d, case.side

    def on_patches(x: Tensor) -> Tensor:
        patches: Tensor = linear(x.flatten(2).transpose(1, 2))
        return patches.transpose(1, 2).view(x.shape)

    linear = _of_ones(CrossPatch(side**2, bias=False), arithmetic)
    layers: dict[str, Callable[[Tensor], Tensor]] = {
        "linear": on_patches,
        "depth-wise": _of_ones(nn.Conv2d(d, d, 3, padding=1, groups=d), arithmetic),
        "full": _of_ones(nn.Conv2d(d, d, 3, padding=1), arithmetic),
    }
    x = arithmetic.tensor([[[[0.0] * side] * side] * d])
    mixing = {name: _channels(layer, x) for name, layer in layers.items()}
    own = torch.eye(d, dtype=torch.bool, device=x.device)
    holds = torch.equal(mixing["linear"], own) and torch.equal(mixing["depth-wise"], own) and mixing["full"].all()
    return Trial(bool(holds), {"d": d, "N": side, **{name: found.tolist() for name, found in mixing.items()}})


def _of_ones(module: nn.Module, arithmetic: Arithmetic) -> nn.Module:
    for parameter in module.parameters():
        nn.init.ones_(parameter)
    return arithmetic.place(module)


def _channels(layer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Which channel depends on which, over all patches."""
    return depends(layer, x)[0, :, :, :, 0].flatten(1, 2).any(dim=1).flatten(2).any(dim=2)


CLAIM = Claim(st.builds(Size, st.integers(1, 3), st.integers(1, 3)), judge)
