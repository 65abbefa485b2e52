"""Sec. 3.4 and 3.5, Fig. 4: the tiny attention of aMLP."""

from __future__ import annotations

from dataclasses import replace

import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.rounded import total
from imlp_audit.equations.strategies import Vector, matrices, plain, vectors
from imlp_audit.models.gmlp import TinyAttention

from ._attention import Attention, attentions
from ._gmlp import all_hold

# widths whose roots floating point holds
_PROOF = Proof("all numbers", Attention.sizes, cases=attentions(2, st.sampled_from((1, 4))))


@claim(attentions(), proof=_PROOF)
def attention_pseudo_code(case: Attention, arithmetic: Arithmetic) -> Trial:
    """The tiny attention is what its pseudo-code says, element by element, and gives d_out channels for each token.

    Read as: q, k and v are the three thirds of the channels, in this order, and the softmax, whose axis is not named,
    is over m, the tokens attended to; the first projection's bias left out.

    Place: Fig. 4
    Printed: qkv = proj(x, 3 * d_attn); q, k, v = split(qkv, 3); w = einsum("bnd,bmd->bnm", q, k); a = softmax(w *
        rsqrt(d_attn)); x = einsum("bnm,bmd->bnd", a, v); return proj(x, d_out)
    Bound: that of w carried through the softmax (functions_softmax.py), then gamma of the sums over m and d
    """
    # Hold the package's attention against the pseudo-code, batch of one.
    return equal(case.output(arithmetic), case.printed(arithmetic), **case.shown())


@claim(st.tuples(st.integers(1, 4), st.integers(1, 4)))
def attention_width(case: tuple[int, int], arithmetic: Arithmetic) -> Trial:
    """Where nothing else is said, the queries, keys and values of the tiny attention are 64 wide each.

    Place: Fig. 4
    Printed: def tiny_attn(x, d_out, d_attn=64): qkv = proj(x, 3 * d_attn, axis="channel"); return proj(x, d_out,
        axis="channel")
    Bound: none: shapes are compared
    """
    # Hold the shapes of both projections against the pseudo-code's default.
    channels, d_out = case
    module = TinyAttention(channels, d_out)
    found = [tuple(projection.weight.shape) for projection in (module.qkv, module.out)]
    printed = [(3 * 64, channels), (d_out, 64)]
    return Trial(found == printed, {"C": channels, "d_out": d_out, "shapes in the module": found, "printed": printed})


def _equal_values(tokens: Vector) -> st.Strategy[Attention]:
    """Attentions in which v is the first channel of x, which is 1, and the output is v."""
    x, taken = st.just(tuple((1.0, token) for token in tokens)), st.just(((1.0,), (0.0,)))
    return st.builds(Attention, x, matrices(2, 1), matrices(2, 1), taken, st.just(((1.0,),)), st.just((0.0,)))


@claim(plain(st.integers(2, 3).flatmap(vectors).flatmap(_equal_values)))
def attention_weights_sum_to_one(case: Attention, arithmetic: Arithmetic) -> Trial:
    """The weights with which a token attends to all tokens sum to one: the mean of equal values is that value.

    Read as: the softmax, whose axis is not named, is over the last, m. Every token has the value 1 in the first channel
    of x, which v takes as it is, so that each token gets 1.

    Place: Fig. 4
    Printed: a = softmax(w * rsqrt(d_attn)); x = einsum("bnm,bmd->bnd", a, v)
    Bound: that of w carried through the softmax (functions_softmax.py), then gamma_n of the sum over m
    """
    # Hold the package's attention against the sums of weights, and those against one.
    sums = [[total(row)] for row in case.a(arithmetic)]
    one = [[arithmetic.number(1)]] * len(sums)
    sides = ((case.output(arithmetic), sums), (one, sums))
    return all_hold(equal(left, right, **case.shown()) for left, right in sides)


@claim(attentions(), proof=_PROOF)
def attention_one_head(case: Attention, arithmetic: Arithmetic) -> Trial:
    """Between its two projections, the tiny attention is scaled dot-product attention with one head.

    Read as: what torch calls scaled_dot_product_attention, of the q, k and v that the package's module projects.

    Place: Sec. 3.4 and Fig. 4
    Printed: предлагается использовать маленький блок внимания с одной головкой
    Bound: that of w carried through the softmax (functions_softmax.py), then gamma of the sums over m and d
    """
    # Hold torch's attention, between the package's projections, against the pseudo-code.
    module = case.module(arithmetic)
    q, k, v = module.qkv(arithmetic.tensor(case.x)[None]).split(case.d_attn, dim=-1)
    with sdpa_kernel(SDPBackend.MATH):  # the others may take a coarser exp
        torchs = module.out(F.scaled_dot_product_attention(q, k, v))[0]
    return equal(torchs, case.printed(arithmetic), **case.shown())


def _with_places(case: Attention) -> st.Strategy[tuple[Attention, tuple[int, ...]]]:
    return st.tuples(st.just(case), st.permutations(range(len(case.x))).map(tuple))


@claim(
    attentions().flatmap(_with_places),
    proof=Proof(
        "all numbers",
        lambda drawn: {**drawn[0].sizes(), "order": str(drawn[1])},
        cases=attentions(2, st.just(1)).flatmap(_with_places),
    ),
)
def attention_follows_shifts(drawn: tuple[Attention, tuple[int, ...]], arithmetic: Arithmetic) -> Trial:
    """The tiny attention follows words and sentences wherever they are moved.

    Read as: it is equivariant to every permutation of the tokens, shifts included: when the tokens of x change places,
    those of its output change places with them.

    Place: Sec. 3.5, last sentence
    Printed: Этот блок позволяет, учитывать смещения слов и предложений в тексте.
    Bound: that of w carried through the softmax (functions_softmax.py), then gamma of the sums over m and d
    """
    # Hold the output for moved tokens against the moved output.
    case, places = drawn
    moved = replace(case, x=tuple(case.x[place] for place in places))
    printed = case.printed(arithmetic)
    shown = {**case.shown(), "x moved": moved.x}
    return equal(moved.output(arithmetic), [printed[place] for place in places], **shown)
