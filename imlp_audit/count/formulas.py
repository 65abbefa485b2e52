"""The table of all formulas; here those of elementwise work, norms, and operations that only move data."""

from __future__ import annotations

from imlp_audit.count.call import Call, Formula, FormulaTable, each, join
from imlp_audit.count.operations import Operation, Work
from imlp_audit.count.products import PRODUCTS


def per_input(operation: Operation) -> Formula:
    """One unit of work for each element of the first tensor."""
    return lambda call: {operation: call.operand.numel}


def per_output(operation: Operation) -> Formula:
    """One unit of work for each element of the first output."""
    return lambda call: {operation: call.out.numel}


def dropout(call: Call) -> Work:
    """Nothing in evaluation; a product with the mask in training."""
    return {Operation.ELEMENTWISE: call.out.numel} if call.has("train") else {}


def norm(plain: Operation, affine: Operation) -> Formula:
    """A normalisation of its input, with or without a learned weight."""

    def formula(call: Call) -> Work:
        elements = call.operand.numel
        return {plain: elements, affine: elements} if call.has("weight") else {plain: elements}

    return formula


def batch_norm(call: Call) -> Work:
    """Uses running statistics in evaluation, the batch's own in training."""
    plain = Operation.BATCH_NORM_TRAINING if call.has("training") else Operation.BATCH_NORM
    return norm(plain, Operation.BATCH_NORM_AFFINE)(call)


def no_work(_: Call) -> Work:
    """No work."""
    return {}


ELEMENTS: FormulaTable = join(
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

NORMS: FormulaTable = join(
    each("layer_norm", norm(Operation.LAYER_NORM, Operation.LAYER_NORM_AFFINE)),
    each("group_norm", norm(Operation.GROUP_NORM, Operation.GROUP_NORM_AFFINE)),
    each("instance_norm", norm(Operation.INSTANCE_NORM, Operation.INSTANCE_NORM_AFFINE)),
    each("rms_norm", norm(Operation.RMS_NORM, Operation.RMS_NORM_AFFINE)),
    each("batch_norm", batch_norm),
)

MOVEMENT: FormulaTable = join(
    each(
        "view reshape view_as reshape_as _unsafe_view _reshape_alias flatten unflatten squeeze"
        " unsqueeze expand expand_as permute transpose t numpy_T mT movedim swapaxes swapdims moveaxis"
        " select slice narrow split split_with_sizes tensor_split chunk unbind unfold diagonal"
        " as_strided alias detach real imag view_as_real view_as_complex",
        no_work,
    ),
    each(
        "cat concat concatenate stack hstack vstack contiguous clone copy _to_copy to type_as"
        " lift_fresh lift pad constant_pad_nd reflection_pad1d reflection_pad2d replication_pad1d"
        " replication_pad2d _pad_circular roll flip rot90 repeat tile repeat_interleave broadcast_to"
        " broadcast_tensors meshgrid pixel_shuffle pixel_unshuffle channel_shuffle"
        " native_channel_shuffle im2col",
        no_work,
    ),
    each(
        "index index_select index_put _unsafe_index gather take take_along_dim scatter select_scatter"
        " slice_scatter masked_select embedding one_hot tril triu",
        no_work,
    ),
    each(
        "empty empty_like empty_strided new_empty zeros zeros_like new_zeros ones ones_like new_ones"
        " full full_like new_full arange linspace eye scalar_tensor fill zero tril_indices triu_indices",
        no_work,
    ),
    each("size stride numel dim is_complex is_floating_point is_same_size", no_work),
)

FORMULAS = join(PRODUCTS, ELEMENTS, NORMS, MOVEMENT)


def formula_of(name: str) -> Formula | None:
    """The formula of `aten::relu`, or of its in-place twin `aten::relu_`; None if there is none."""
    return FORMULAS.get(name) or FORMULAS.get(name.removesuffix("_"))
