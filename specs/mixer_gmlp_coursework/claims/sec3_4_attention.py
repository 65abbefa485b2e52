"""Sec. 3.4, Fig. 4 and Sec. 3.5: the tiny attention of aMLP."""

import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor, cat, einsum
from torch.func import functional_call
from torch.nn.attention import SDPBackend, sdpa_kernel

from imlp_audit.claims import Sides, claim_about, modules, size, tensors
from imlp_audit.models.gmlp import TinyAttention

from ._formulas import filled

S, C = size("S", 1, 3), size("C", 1, 2)
D_OUT = C.map(lambda channels: 3 - channels)
claim = claim_about(x=tensors(2, S, C), tiny_attn=modules(TinyAttention, C, D_OUT, size("d_attn", 1, 4)))


@claim(
    place="Fig. 4",
    printed='qkv = proj(x, 3 * d_attn); q, k, v = split(qkv, 3); w = einsum("bnd,bmd->bnm", q, k); a = softmax(w '
    '* rsqrt(d_attn)); x = einsum("bnm,bmd->bnd", a, v); return proj(x, d_out)',
)
def attention_pseudo_code(x: Tensor, tiny_attn: TinyAttention) -> Sides:
    """The tiny attention is what its pseudo-code says, element by element, and gives d_out channels for each token.

    Read as: q, k and v are the three thirds of the channels, in this order, and the softmax, whose axis is not named,
    is over m, the tokens attended to; the first projection's bias left out.
    """
    no_bias = {"qkv.bias": torch.zeros_like(tiny_attn.qkv.bias)}
    q, k, v = (x @ tiny_attn.qkv.weight.T).chunk(3, dim=-1)
    w = einsum("bnd,bmd->bnm", q, k)
    a = (w / q.shape[-1] ** 0.5).softmax(dim=2)
    y = einsum("bnm,bmd->bnd", a, v) @ tiny_attn.out.weight.T + tiny_attn.out.bias
    return functional_call(tiny_attn, no_bias, (x,)), y


@claim(
    C=st.integers(1, 4),
    d_out=st.integers(1, 4),
    place="Fig. 4",
    printed='def tiny_attn(x, d_out, d_attn=64): qkv = proj(x, 3 * d_attn, axis="channel"); return proj(x, d_out, '
    'axis="channel")',
)
def attention_width(C: int, d_out: int) -> Sides:
    """Where nothing else is said, the queries, keys and values of the tiny attention are 64 wide each."""
    module = TinyAttention(C, d_out)
    shapes = [list(projection.weight.shape) for projection in (module.qkv, module.out)]
    return torch.tensor(shapes), torch.tensor([[3 * 64, C], [d_out, 64]])


@claim(
    tokens=tensors(size("S", 2, 3)),
    W_q=tensors(1, 2),
    W_k=tensors(1, 2),
    place="Fig. 4",
    printed='a = softmax(w * rsqrt(d_attn)); x = einsum("bnm,bmd->bnd", a, v)',
)
def attention_weights_sum_to_one(tokens: Tensor, W_q: Tensor, W_k: Tensor) -> Sides:
    """The weights with which a token attends to all tokens sum to one: the mean of equal values is that value.

    Read as: the softmax, whose axis is not named, is over the last, m. Every token has the value 1 in the first channel
    of x, which v takes as it is, so that each token gets 1.
    """
    W_v, one, zero = tokens.new_tensor([[1.0, 0.0]]), tokens.new_ones(1, 1), tokens.new_zeros(1)
    weights = {"qkv.weight": cat([W_q, W_k, W_v]), "qkv.bias": zero.expand(3), "out.weight": one, "out.bias": zero}
    values = torch.ones_like(tokens)
    x = torch.stack([values, tokens], dim=1)
    return filled(TinyAttention(2, 1, 1), weights)(x[None])[0, :, 0], values


@claim(place="Sec. 3.4 and Fig. 4", printed="предлагается использовать маленький блок внимания с одной головкой")
def attention_one_head(x: Tensor, tiny_attn: TinyAttention) -> Sides:
    """Between its two projections, the tiny attention is scaled dot-product attention with one head.

    Read as: what torch calls scaled_dot_product_attention, of the q, k and v that the package's module projects.
    """
    q, k, v = tiny_attn.qkv(x).chunk(3, dim=-1)
    with sdpa_kernel(SDPBackend.MATH):  # the others may take a coarser exp
        return tiny_attn(x), tiny_attn.out(F.scaled_dot_product_attention(q, k, v))


@claim(
    order=S.flatmap(lambda S: st.permutations(range(S))),
    place="Sec. 3.5, last sentence",
    printed="Этот блок позволяет, учитывать смещения слов и предложений в тексте.",
)
def attention_follows_shifts(x: Tensor, tiny_attn: TinyAttention, order: list[int]) -> Sides:
    """The tiny attention follows words and sentences wherever they are moved.

    Read as: it is equivariant to every permutation of the tokens, shifts included: when the tokens of x change places,
    those of its output change places with them.
    """
    return tiny_attn(x[:, order]), tiny_attn(x)[:, order]
