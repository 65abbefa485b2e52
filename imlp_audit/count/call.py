"""A call of an operation as a formula sees it (names and shapes, no tensors), its classes of work, and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import prod
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

    # What was booked above, once more: a part of it, or in the units of one counter.
    IN_LAYERS = "in_layers"  # the part of LINEAR and CONV done by layers of torch.nn, which hooks on modules see
    # The part of all three done by the modules of `get_classifier()`: those that parameters without the head leave out.
    IN_CLASSIFIER = "in_classifier"
    BIAS_APART = "bias_apart"  # the part of BIAS that torch adds after the product, as on transposed tokens
    IN_FUSED = "in_fused"  # the part of PRODUCT that timm leaves to torch's fused attention
    AVERAGE_POOL = "average_pool"  # output elements of average pools, adaptive or not
    SOFTMAX_ROW = "softmax_row"  # sums that softmaxes divide by
    TRANSPOSED = "transposed"  # CONV of transposed convolutions, if each output element had all of the kernel
    THOP = "thop"  # what thop counts, and mmcv, and ptflops by its hooks alone
    MMCV = "mmcv"
    PTFLOPS_HOOKS = "ptflops_hooks"
    # What fvcore counts beyond its own weights times the exact work: signed, in fvcore's flops.
    FVCORE_EXCESS = "fvcore_excess"


MULTIPLY_ACCUMULATES = (Operation.LINEAR, Operation.PRODUCT, Operation.CONV)
BOOKED_TWICE = tuple(Operation)[tuple(Operation).index(Operation.IN_LAYERS) :]

Work: TypeAlias = Mapping[Operation, int]
"""An amount for each class of work that was done."""


class TensorShape(tuple[int, ...]):
    """The shape of a tensor argument, a type of its own: a plain list of integers may be a stride."""

    @property
    def numel(self) -> int:
        """Number of elements."""
        return prod(self)


Argument: TypeAlias = "TensorShape | int | float | str | tuple[Argument, ...] | None"
"""A tensor's shape, a scalar, None, or a list of these; any other kind of argument is kept as its text."""


@dataclass(frozen=True)
class Call:
    """A call of the operation `name` (`aten::linear`), with its arguments under the names of its schema."""

    name: str
    arguments: Mapping[str, Argument]
    outputs: tuple[TensorShape, ...]
    row_by_row: bool = True  # whether the first tensor is stored so

    @property
    def out(self) -> TensorShape:
        """Shape of the first output."""
        return self.outputs[0]

    def shape(self, argument: str) -> TensorShape:
        """Shape of a tensor argument; raises TypeError if it isn't a tensor."""
        value = self.arguments[argument]
        if not isinstance(value, TensorShape):
            raise TypeError(f"{self.name}: {argument} is not a tensor")
        return value

    def shapes(self, argument: str) -> tuple[TensorShape, ...]:
        """Shapes of a list of tensors; raises TypeError if it isn't a list."""
        value = self.arguments[argument]
        if not isinstance(value, tuple) or isinstance(value, TensorShape):
            raise TypeError(f"{self.name}: {argument} is not a list of tensors")
        return tuple(shape for shape in value if isinstance(shape, TensorShape))

    def has(self, argument: str) -> bool:
        """Whether an optional argument is present: not None, not False, not zero."""
        return self.arguments[argument] not in (None, False)

    @property
    def operand(self) -> TensorShape:
        """Shape of the first tensor among the arguments."""
        return next(value for value in self.arguments.values() if isinstance(value, TensorShape))


Formula: TypeAlias = Callable[[Call], Work]
FormulaTable: TypeAlias = Mapping[str, Formula]
"""Formulas by the name of their operation."""


def each(names: str, formula: Formula) -> FormulaTable:
    """One formula for the aten operations named in a space-separated text."""
    return join(*({f"aten::{name}": formula} for name in names.split()))


def join(*tables: FormulaTable) -> FormulaTable:
    """All entries of all tables; raises ValueError if two tables name the same operation."""
    joined: dict[str, Formula] = {}
    for table in tables:
        if repeated := joined.keys() & table.keys():
            raise ValueError(f"registered twice: {', '.join(sorted(repeated))}")
        joined |= table
    return joined
