"""Formulas of matrix products, in multiply-accumulates."""

from __future__ import annotations

from collections import Counter

from imlp_audit.measure.call import Call
from imlp_audit.measure.einsum import contractions
from imlp_audit.measure.operations import Operation, Work
from imlp_audit.measure.tables import Table, each, join


def linear(call: Call) -> Work:
    """Every input element meets every row of the weight (out features, in features)."""
    rows = call.shape("weight")[:-1]
    work = {Operation.LINEAR: call.shape("input").numel * (rows[0] if rows else 1)}
    return work | {Operation.BIAS: call.out.numel} if call.given("bias") else work


def mm(call: Call) -> Work:
    """(n, k) times (k, m): what a linear layer written out calls."""
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
    """Each contraction of two operands: a product where it sums, an elementwise product where it doesn't."""
    shapes = call.shapes("tensors")
    work: Counter[Operation] = Counter()
    for step in contractions(str(call.arguments["equation"]), shapes):
        work[Operation.PRODUCT if step.sums else Operation.ELEMENTWISE] += step.size
    return work or {Operation.REDUCTION: shapes[0].numel if call.out.numel < shapes[0].numel else 0}


def attention(call: Call) -> Work:
    """softmax(scale Q K^T + mask) V, dense whatever the mask hides; (L, E), (S, E), (S, Ev)."""
    query, key, value = call.shape("query"), call.shape("key"), call.shape("value")
    scores = call.out.numel // value[-1] * key[-2]
    masked = call.given("attn_mask") or call.given("is_causal")
    return {
        Operation.PRODUCT: scores * (query[-1] + value[-1]),
        Operation.SOFTMAX: scores,
        Operation.ELEMENTWISE: query.numel + (scores if masked else 0),
    }


PRODUCTS: Table = join(
    each("linear", linear),
    each("mm", mm),
    each("addmm", addmm),
    each("matmul bmm mv dot", matmul),
    each("baddbmm", baddbmm),
    each("einsum", einsum),
    each("scaled_dot_product_attention", attention),
)
