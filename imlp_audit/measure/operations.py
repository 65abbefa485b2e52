"""The classes of work that a ledger tells apart, and the unit of each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias


class Operation(StrEnum):
    """A class of work; amounts are exact integers in the unit written beside it.

    A class exists where some counting convention gives it a weight of its own. The `*_affine` classes count
    the same elements as their norm, where that norm has a learned weight, so that both can be weighed.
    """

    # Multiply-accumulates.
    LINEAR = "linear"  # products with a weight matrix
    PRODUCT = "product"  # products of two activations, both of attention's included
    CONV = "conv"  # convolutions, transposed ones included; positions in the padding count like any other

    # Of LINEAR and CONV, what a layer of torch.nn does itself: all that a counter of modules, such as thop, can see.
    IN_LAYERS = "in_layers"

    BIAS = "bias"  # output elements of a linear layer or convolution with bias

    # Input elements.
    LAYER_NORM = "layer_norm"
    LAYER_NORM_AFFINE = "layer_norm_affine"
    GROUP_NORM = "group_norm"
    GROUP_NORM_AFFINE = "group_norm_affine"
    INSTANCE_NORM = "instance_norm"
    INSTANCE_NORM_AFFINE = "instance_norm_affine"
    BATCH_NORM = "batch_norm"  # with running statistics
    BATCH_NORM_TRAINING = "batch_norm_training"  # with the batch's own statistics
    BATCH_NORM_AFFINE = "batch_norm_affine"  # of either kind
    RMS_NORM = "rms_norm"
    RMS_NORM_AFFINE = "rms_norm_affine"
    ACTIVATION = "activation"
    SOFTMAX = "softmax"
    ADAPTIVE_POOL = "adaptive_pool"
    POOL = "pool"  # over a sliding window
    REDUCTION = "reduction"

    # Output elements.
    UPSAMPLE_NEAREST = "upsample_nearest"
    UPSAMPLE_BILINEAR = "upsample_bilinear"  # linear and trilinear ones included
    UPSAMPLE_BICUBIC = "upsample_bicubic"
    GRID_SAMPLE = "grid_sample"
    ELEMENTWISE = "elementwise"
    UNKNOWN = "unknown"  # of operations that have no formula

    # What fvcore counts of a call beyond its own weights times the exact work: signed, in fvcore's flops.
    FVCORE_EXCESS = "fvcore_excess"


Work: TypeAlias = Mapping[Operation, int]
"""An amount for each class of work that was done."""
