"""The classes of work in a ledger, and the unit of each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias


class Operation(StrEnum):
    """A class of work; amounts are exact integers in the unit given below.

    A class exists if some counting convention gives it a weight of its own. The `*_affine` classes count the
    elements of norms that have a learned weight, so that the norm and its weight can be weighed separately.
    """

    # Multiply-accumulates.
    LINEAR = "linear"  # products with a weight matrix
    PRODUCT = "product"  # products of two activations, including both products of attention
    CONV = "conv"  # convolutions, also transposed; positions in the padding count like any other

    # The part of LINEAR and CONV done by layers of torch.nn: all that a counter of modules, such as thop, can see.
    IN_LAYERS = "in_layers"
    # The part of all three done by the modules of `get_classifier()`: those that parameters without the head leave out.
    IN_CLASSIFIER = "in_classifier"

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
    UPSAMPLE_BILINEAR = "upsample_bilinear"  # also linear and trilinear
    UPSAMPLE_BICUBIC = "upsample_bicubic"
    GRID_SAMPLE = "grid_sample"
    ELEMENTWISE = "elementwise"
    UNKNOWN = "unknown"  # operations without a formula

    # What fvcore counts beyond its own weights times the exact work: signed, in fvcore's flops.
    FVCORE_EXCESS = "fvcore_excess"


MULTIPLY_ACCUMULATES = (Operation.LINEAR, Operation.PRODUCT, Operation.CONV)

Work: TypeAlias = Mapping[Operation, int]
"""An amount for each class of work that was done."""
