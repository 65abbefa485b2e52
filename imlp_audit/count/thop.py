"""What thop 0.1.1 counts: rules for layers of torch by their exact type, each applied when its forward pass runs.

Subclasses, bare parameters and whatever happens outside of these layers are left out, as thop leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from torch import Tensor, nn

_BY_MODE = {"linear": 5, "bilinear": 11, "bicubic": 259}

Rule = Callable[[Any, Tensor, Tensor], int]


def _nothing(_layer: nn.Module, _x: Tensor, _y: Tensor) -> int:
    return 0


def _conv(layer: nn.Conv2d, x: Tensor, y: Tensor) -> int:
    return y.numel() * (x.shape[1] // layer.groups) * prod(layer.weight.shape[2:])


def _linear(layer: nn.Linear, _x: Tensor, y: Tensor) -> int:
    return layer.in_features * y.numel()


def _norm(layer: nn.Module, x: Tensor, _y: Tensor) -> int:
    scaled = getattr(layer, "affine", False) or getattr(layer, "elementwise_affine", False)
    return (4 if scaled else 2) * x.numel()


def _softmax(layer: nn.Softmax, x: Tensor, _y: Tensor) -> int:
    features = x.shape[layer.dim if layer.dim is not None else -1]
    return x.numel() // features * (3 * features - 1)


def _adaptive_pool(_layer: nn.Module, x: Tensor, y: Tensor) -> int:
    return int((prod(x.shape[2:]) / prod(y.shape[2:]) + 1) * y.numel())


_RULES: dict[type[nn.Module], Rule] = {
    **dict.fromkeys(
        (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d), _conv
    ),
    **dict.fromkeys((nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm, nn.LayerNorm), _norm),
    **dict.fromkeys((nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d), _norm),
    **dict.fromkeys((nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d), lambda _layer, _x, y: y.numel()),
    **dict.fromkeys((nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d), _adaptive_pool),
    **dict.fromkeys(
        (nn.Upsample, nn.UpsamplingBilinear2d, nn.UpsamplingNearest2d),
        lambda layer, _x, y: _BY_MODE.get(layer.mode, 1 if layer.mode == "nearest" else 0) * y.numel(),
    ),
    nn.Linear: _linear,
    nn.Softmax: _softmax,
    nn.PReLU: lambda _layer, x, _y: x.numel(),
}
_UNKNOWN = (nn.RNNBase, nn.RNNCellBase)  # thop has rules for these, which are not followed here


class ThopCounter:
    """A hook on forward passes that sums what thop counts."""

    def __init__(self) -> None:
        self.flops = 0
        self.known = True

    def __call__(self, module: nn.Module, inputs: tuple[object, ...], output: object) -> None:
        """Count a module that has run."""
        self.known &= not isinstance(module, _UNKNOWN)
        rule = _RULES.get(type(module), _nothing)
        if inputs and isinstance(inputs[0], Tensor) and isinstance(output, Tensor):
            self.flops += rule(module, inputs[0], output)


def thop_parameters(model: nn.Module) -> int:
    """Return the parameters in layers that thop knows."""
    known = (layer for layer in model.modules() if type(layer) in _RULES or isinstance(layer, _UNKNOWN))
    return sum({one: one.numel() for layer in known for one in layer.parameters(recurse=False)}.values())
