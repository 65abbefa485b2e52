"""Formulas of matrix products, einsums and convolutions, in multiply-accumulates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from string import ascii_letters

from imlp_audit.count.call import Call, FormulaTable, each, join
from imlp_audit.count.operations import Operation, Work


def linear(call: Call) -> Work:
    """Every input element is multiplied with every row of the weight (out features, in features)."""
    rows = call.shape("weight")[:-1]
    work = {Operation.LINEAR: call.shape("input").numel * (rows[0] if rows else 1)}
    return work | {Operation.BIAS: call.out.numel} if call.has("bias") else work


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
    return _with_bias(call, call.shape("input").numel * prod(call.shape("weight")[1:]))


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
