"""Formulas of work that is proportional to the elements going in or coming out."""

from __future__ import annotations

from imlp_audit.measure.call import Call
from imlp_audit.measure.operations import Operation, Work
from imlp_audit.measure.tables import Formula, Table, each, join


def per_input(operation: Operation) -> Formula:
    """One for each element of the first tensor."""
    return lambda call: {operation: call.operand.numel}


def per_output(operation: Operation) -> Formula:
    """One for each element of the first output."""
    return lambda call: {operation: call.out.numel}


def dropout(call: Call) -> Work:
    """Nothing in evaluation; a product with the mask in training."""
    return {Operation.ELEMENTWISE: call.out.numel} if call.given("train") else {}


ELEMENTS: Table = join(
    each(
        "relu relu6 prelu leaky_relu rrelu elu celu selu gelu silu mish sigmoid tanh softplus softsign"
        " hardtanh hardsigmoid hardswish log_sigmoid glu threshold",
        per_input(Operation.ACTIVATION),
    ),
    each("softmax _softmax log_softmax _log_softmax", per_input(Operation.SOFTMAX)),
    each(
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d"
        " adaptive_max_pool2d adaptive_max_pool3d",
        per_input(Operation.ADAPTIVE_POOL),
    ),
    each(
        "avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d max_pool2d_with_indices",
        per_input(Operation.POOL),
    ),
    each(
        "mean sum prod amax amin aminmax argmax argmin all any logsumexp cumsum cumprod var std"
        " var_mean std_mean norm linalg_norm linalg_vector_norm col2im max min",
        per_input(Operation.REDUCTION),
    ),
    each("upsample_nearest1d upsample_nearest2d upsample_nearest3d", per_output(Operation.UPSAMPLE_NEAREST)),
    each(
        "upsample_linear1d upsample_bilinear2d upsample_trilinear3d _upsample_bilinear2d_aa",
        per_output(Operation.UPSAMPLE_BILINEAR),
    ),
    each("upsample_bicubic2d _upsample_bicubic2d_aa", per_output(Operation.UPSAMPLE_BICUBIC)),
    each("grid_sampler", per_output(Operation.GRID_SAMPLE)),
    each(
        "add sub rsub mul div true_divide floor_divide remainder fmod neg abs sign pow square sqrt"
        " rsqrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan erf floor ceil round trunc"
        " clamp clamp_min clamp_max minimum maximum where masked_fill lerp addcmul addcdiv eq ne lt le"
        " gt ge logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_not"
        " bitwise_xor __and__ __or__ isnan isinf",
        per_output(Operation.ELEMENTWISE),
    ),
    each("dropout feature_dropout alpha_dropout", dropout),
)
