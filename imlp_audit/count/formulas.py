"""The work of each operation: products, convolutions, elementwise work, norms, and what only moves data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from string import ascii_letters

from imlp_audit.count.call import Call, Formula, FormulaTable, Operation, Work, each, join


def linear(call: Call) -> Work:
    """Every input element is multiplied with every row of the weight (out features, in features)."""
    rows = call.shape("weight")[:-1]
    work = {Operation.LINEAR: call.shape("input").numel * (rows[0] if rows else 1)}
    if call.has("bias"):
        work[Operation.BIAS] = call.out.numel
        if not call.row_by_row and len(call.out) > 2:
            work[Operation.BIAS_APART] = call.out.numel
    return work


def mm(call: Call) -> Work:
    """(n, k) times (k, m): what a linear layer calls inside."""
    return {Operation.LINEAR: call.shape("self").numel * call.shape("mat2")[1]}


def addmm(call: Call) -> Work:
    """A matrix product to which the first argument is added, as a bias is."""
    product = call.shape("mat1").numel * call.shape("mat2")[1]
    return {Operation.LINEAR: product, Operation.BIAS: call.out.numel}


def matmul(call: Call) -> Work:
    """Products of two activations, batches broadcast; every output element sums over the inner dimension."""
    return {Operation.PRODUCT: call.out.numel * call.shape("self")[-1]}


def baddbmm(call: Call) -> Work:
    """A batched product added to the first argument."""
    inner = call.shape("batch1")[-1]
    return {Operation.PRODUCT: call.out.numel * inner, Operation.ELEMENTWISE: call.out.numel}


def einsum(call: Call) -> Work:
    """Each contraction of two operands: a product if it sums over a label, elementwise otherwise."""
    shapes = call.shapes("tensors")
    work: Counter[Operation] = Counter()
    for step in contractions(str(call.arguments["equation"]), shapes):
        work[Operation.PRODUCT if step.sums else Operation.ELEMENTWISE] += step.size
    return work or {Operation.REDUCTION: shapes[0].numel if call.out.numel < shapes[0].numel else 0}


def attention(call: Call) -> Work:
    """softmax(scale Q K^T + mask) V, counted as dense whatever the mask hides; (L, E), (S, E), (S, Ev)."""
    query, key, value = call.shape("query"), call.shape("key"), call.shape("value")
    scores = call.out.numel // value[-1] * key[-2]
    masked = call.has("attn_mask") or call.has("is_causal")
    return {
        Operation.PRODUCT: scores * (query[-1] + value[-1]),
        Operation.SOFTMAX: scores,
        Operation.ELEMENTWISE: query.numel + (scores if masked else 0),
    }


def conv(call: Call) -> Work:
    """Every output element sums over its group's channels and kernel; weight (out, in/groups, *kernel)."""
    return _with_bias(call, call.out.numel * prod(call.shape("weight")[1:]))


def conv_transpose(call: Call) -> Work:
    """Every input element contributes to its group's outputs and kernel; weight (in, out/groups, *kernel)."""
    inputs, outputs, *kernel = call.shape("weight")
    groups = call.out[-len(kernel) - 1] // outputs
    work = _with_bias(call, call.shape("input").numel * outputs * prod(kernel))
    return {**work, Operation.TRANSPOSED: call.out.numel * inputs // groups * prod(kernel)}


def convolution(call: Call) -> Work:
    """The general operation, transposed or not."""
    return conv_transpose(call) if call.has("transposed") else conv(call)


def _with_bias(call: Call, macs: int) -> Work:
    work = {Operation.CONV: macs}
    return work | {Operation.BIAS: call.out.numel} if call.has("bias") else work


@dataclass(frozen=True)
class Contraction:
    """A step that combines two operands: the extent of every label involved, and whether any label is summed."""

    extents: tuple[int, ...]
    sums: bool

    @property
    def size(self) -> int:
        """Multiplications made (multiply-accumulates where a label is summed)."""
        return prod(self.extents)


def contractions(equation: str, shapes: Sequence[Sequence[int]]) -> Iterator[Contraction]:
    """The contractions from left to right, as torch makes them; a single operand is only summed or permuted.

    A label is summed as soon as neither a later operand nor the output has it. If only one of the two operands
    has such a label, it is summed before they are multiplied, so it is not a factor of the work.
    """
    terms, output = _labels(equation, shapes)
    extents = _extents(terms, shapes)
    left = set(terms[0])
    for position, term in enumerate(terms[1:], start=1):
        right = set(term)
        later = set(output).union(*terms[position + 1 :])
        summed = (left | right) - later
        met = (left & right) | ((left | right) & later)
        yield Contraction(tuple(extents[label] for label in sorted(met)), bool(summed))
        left = (left | right) & later


def _labels(equation: str, shapes: Sequence[Sequence[int]]) -> tuple[list[str], str]:
    """Labels of each operand and of the output, with `...` expanded and an implicit output filled in."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    free = [letter for letter in ascii_letters if letter not in equation]
    terms, dots = [], ""
    for term, shape in zip(inputs.split(","), shapes, strict=True):
        width = len(shape) - len(term.replace("...", "")) if "..." in term else 0
        spelt = "".join(free[:width])[::-1]
        dots = max(dots, spelt, key=len)
        terms.append(term.replace("...", spelt))
    named = "".join(sorted(letter for letter in set(inputs) - set("., ") if inputs.count(letter) == 1))
    return terms, output.replace("...", dots) if arrow else dots + named


def _extents(terms: Sequence[str], shapes: Sequence[Sequence[int]]) -> dict[str, int]:
    extents: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for label, extent in zip(term, shape, strict=True):
            extents[label] = max(extent, extents.get(label, 1))
    return extents


PRODUCTS: FormulaTable = join(
    each("linear", linear),
    each("mm", mm),
    each("addmm", addmm),
    each("matmul bmm mv dot", matmul),
    each("baddbmm", baddbmm),
    each("einsum", einsum),
    each("scaled_dot_product_attention", attention),
    each("conv1d conv2d conv3d", conv),
    each("conv_transpose1d conv_transpose2d conv_transpose3d", conv_transpose),
    each("convolution _convolution", convolution),
)


def per_input(operation: Operation) -> Formula:
    """One unit of work for each element of the first tensor."""
    return lambda call: {operation: call.operand.numel}


def per_output(operation: Operation) -> Formula:
    """One unit of work for each element of the first output."""
    return lambda call: {operation: call.out.numel}


def dropout(call: Call) -> Work:
    """Nothing in evaluation; a product with the mask in training."""
    return {Operation.ELEMENTWISE: call.out.numel} if call.has("train") else {}


def softmax(call: Call) -> Work:
    """Every element is raised and divided; each row has a sum of its own."""
    dim = call.arguments["dim"]
    rows = call.operand.numel // call.operand[dim] if isinstance(dim, int) and call.operand.numel else 0
    return {Operation.SOFTMAX: call.operand.numel, Operation.SOFTMAX_ROW: rows}


def average_pool(operation: Operation) -> Formula:
    """One unit of work for each element of the input, and one for each average."""
    return lambda call: {operation: call.operand.numel, Operation.AVERAGE_POOL: call.out.numel}


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
    each("softmax _softmax log_softmax _log_softmax", softmax),
    each("adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d", average_pool(Operation.ADAPTIVE_POOL)),
    each("adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d", per_input(Operation.ADAPTIVE_POOL)),
    each("avg_pool1d avg_pool2d avg_pool3d", average_pool(Operation.POOL)),
    each("max_pool1d max_pool2d max_pool3d max_pool2d_with_indices", per_input(Operation.POOL)),
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
