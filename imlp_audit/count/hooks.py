"""What counters see that hook layers of torch.nn by their exact types: thop, mmcv, and ptflops without functions."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TypeAlias

from torch import nn

from imlp_audit.count.call import Operation, Work
from imlp_audit.count.fvcore import is_unfused

Bucket: TypeAlias = Counter[Operation]
"""The work booked so far under one module path."""
Layers: TypeAlias = tuple[type[nn.Module], ...]

TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, *TRANSPOSED)
LAYERS = (nn.Linear, *CONVOLUTIONS)
_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
_INSTANCE_NORMS = (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)
_AVERAGE_POOLS = (nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)
_MAX_POOLS = (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)
_ADAPTIVE_AVERAGE_POOLS = (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d)
_ADAPTIVE_MAX_POOLS = (nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d)
_ADAPTIVE_POOLS = (*_ADAPTIVE_AVERAGE_POOLS, *_ADAPTIVE_MAX_POOLS)

_PLAIN = "layer_norm group_norm instance_norm batch_norm batch_norm_training"
_UPSAMPLE = {Operation.UPSAMPLE_BILINEAR: 11, Operation.UPSAMPLE_BICUBIC: 259}
_AFFINE = "layer_norm_affine group_norm_affine instance_norm_affine batch_norm_affine"


def _each(layers: Layers, classes: str, weight: int = 1) -> Mapping[type[nn.Module], Work]:
    weights = {Operation(name): weight for name in classes.split()}
    return dict.fromkeys(layers, weights)


_HOOKED: Mapping[Operation, Mapping[type[nn.Module], Work]] = {
    Operation.IN_LAYERS: _each(LAYERS, "linear conv"),
    # thop 0.1.1: a row of n elements has a softmax of 3n - 1; group norms, activations and biases are free.
    Operation.THOP: {
        **_each(LAYERS, "linear conv"),
        **_each(TRANSPOSED, "transposed"),
        **_each((*_BATCH_NORMS, *_INSTANCE_NORMS, nn.SyncBatchNorm, nn.LayerNorm), f"{_PLAIN} {_AFFINE}", 2),
        **_each(_AVERAGE_POOLS, "average_pool"),
        **_each(_ADAPTIVE_AVERAGE_POOLS, "adaptive_pool average_pool"),
        nn.PReLU: {Operation.ACTIVATION: 1},
        nn.Softmax: {Operation.SOFTMAX: 3, Operation.SOFTMAX_ROW: -1},
        nn.Upsample: {Operation.UPSAMPLE_NEAREST: 1, **_UPSAMPLE},
    },
    # mmcv 1.2.8 to 2.2: biases of convolutions, but not of linear layers.
    Operation.MMCV: {
        **_each((*CONVOLUTIONS[:3], nn.ConvTranspose2d), "conv bias"),
        **_each((nn.Linear,), "linear"),
        **_each((nn.ReLU, nn.PReLU, nn.ELU, nn.LeakyReLU, nn.ReLU6), "activation"),
        **_each((*_AVERAGE_POOLS, *_MAX_POOLS), "pool"),
        **_each(_ADAPTIVE_POOLS, "adaptive_pool"),
        **_each((*_BATCH_NORMS, *_INSTANCE_NORMS, nn.GroupNorm, nn.LayerNorm), f"{_PLAIN} {_AFFINE}"),
        **_each((nn.Upsample,), "upsample_nearest upsample_bilinear upsample_bicubic"),
    },
}
OLD_THOP: Mapping[type[nn.Module], Work] = {
    **_each(CONVOLUTIONS, "conv bias"),
    **_each(TRANSPOSED, "transposed bias"),
    **_each((nn.Linear,), "linear"),
    **_each((*_BATCH_NORMS, nn.SyncBatchNorm), "batch_norm batch_norm_training", 2),
    **_each((nn.LeakyReLU,), "activation"),
    **_each(_AVERAGE_POOLS, "average_pool"),
    **_each(_ADAPTIVE_AVERAGE_POOLS, "adaptive_pool average_pool"),
    nn.Upsample: _UPSAMPLE,
    nn.UpsamplingBilinear2d: _UPSAMPLE,
}
"""thop 0.0.31: biases of convolutions count, and batch norms alone of all norms, at half of what 0.1 counts."""
THOPS_LAYERS = {*_HOOKED[Operation.THOP], nn.RNN, nn.GRU, nn.LSTM, nn.RNNCell, nn.GRUCell, nn.LSTMCell}
_ATTENTION = "product softmax elementwise"
_HOOKED_PTFLOPS = {
    **_HOOKED[Operation.MMCV],
    **_each(CONVOLUTIONS, "conv bias"),
    **_each((nn.Linear,), "linear bias"),
    **_each((nn.GELU,), "activation"),
    **_each((nn.LayerNorm,), "layer_norm"),  # it looks for `affine`, which a layer norm calls `elementwise_affine`
    **_each((nn.MultiheadAttention,), f"linear bias {_ATTENTION}"),
}


def _by_type() -> Mapping[type[nn.Module], Mapping[Operation, list[tuple[Operation, int]]]]:
    found: defaultdict[type[nn.Module], defaultdict[Operation, list[tuple[Operation, int]]]]
    found = defaultdict(lambda: defaultdict(list))
    for counter, layers in {**_HOOKED, Operation.PTFLOPS_HOOKS: _HOOKED_PTFLOPS}.items():
        for kind, weights in layers.items():
            for operation, weight in weights.items():
                found[kind][operation].append((counter, weight))
    return found


_BY_TYPE = _by_type()


def book_hooks(own: Mapping[nn.Module, Bucket]) -> None:
    """Book a second time what layers of torch.nn did, by each counter; classes derived from them are not included."""
    unfused = [module for module in own if is_unfused(module)]
    idle = {child for module in unfused for child in module.children() if type(child) is nn.Softmax}
    for module, bucket in own.items():
        weights = _BY_TYPE.get(type(module))
        if weights is None or module in idle:
            continue
        for operation, amount in tuple(bucket.items()):
            for counter, weight in weights.get(operation, ()):
                bucket[counter] = bucket.get(counter, 0) + amount * weight
    for module in unfused:
        own[module][Operation.IN_FUSED] = own[module][Operation.PRODUCT]
    attention = getattr(sys.modules.get("timm.models.vision_transformer"), "Attention", None)
    for module in [module for module in own if type(module) is attention]:
        for inner in module.modules():  # ptflops has a formula for the whole, which leaves out the linear layers
            own[inner][Operation.PTFLOPS_HOOKS] = 0
        own[module][Operation.PTFLOPS_HOOKS] = sum(own[module][Operation(name)] for name in _ATTENTION.split())
