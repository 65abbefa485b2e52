"""Sec. 5.1, Table 1: LVT, the baseline that no library has, as the formulas of its paper (arXiv 2112.10809)."""

from functools import partial
from math import sqrt

import torch
import torch.nn.functional as F
from hypothesis.strategies import booleans
from timm.layers import Mlp
from timm.models.volo import ClassAttention
from torch import Tensor, cat, einsum, nn, unflatten

from imlp_audit.claims import Side, Sides, below, choice, claim, gradients, modules, tensors
from imlp_audit.models.new_modules import keeps_type, starts_as_torchs

from ..models import (
    AtrousConvolution,
    Block,
    ConvolutionalSelfAttention,
    DepthwiseMlp,
    LiteVisionTransformer,
    RecursiveAtrousSelfAttention,
    Stage,
)
from ._imlp import SMALL, window_sum

Size = tuple[int, int]
SIZES = (  # of LVT's released code
    Stage(width=64, heads=2, mlp_ratio=4, patch=7, stride=4, reduction=None),
    Stage(width=64, heads=2, mlp_ratio=8, patch=3, stride=2, reduction=4),
    Stage(width=160, heads=5, mlp_ratio=4, patch=3, stride=2, reduction=2),
    Stage(width=256, heads=8, mlp_ratio=4, patch=3, stride=2, reduction=1),
)


def linear(x: Tensor, layer: nn.Module, *, bias: bool = True) -> Tensor:
    """Return x W + b of each position, or x W; W may be that of a 1 x 1 convolution."""
    y = x @ layer.get_parameter("weight").flatten(1).T
    return y + layer.get_parameter("bias") if bias else y


def norm(x: Tensor, layer: nn.Module) -> Tensor:
    """Return LayerNorm over channels, with 10^-5 added to the variance."""
    return F.layer_norm(x, x.shape[-1:], layer.get_parameter("weight"), layer.get_parameter("bias"), 1e-5)


def csa(x: Tensor, m: nn.Module, heads: int) -> Tensor:
    """Return convolutional self-attention: in windows of 3 x 3, one at every second position, which add up.

    Each of the 9 places p has a matrix W_p of its own, and attends to all 9 with weights of the window's centre, the
    mean of the 2 x 2 pixels that begin there.
    """
    (batch, H, W, C), per_place = x.shape, m.get_parameter("weight.weight").reshape(9, x.shape[-1], x.shape[-1])
    padded, y = F.pad(x, (0, 0, 1, 1, 1, 1)), x.new_zeros(batch, H + 2, W + 2, C)
    for i in range(0, H, 2):
        for j in range(0, W, 2):
            window = padded[:, i : i + 3, j : j + 3].flatten(1, 2)
            scores = linear(x[:, i : i + 2, j : j + 2].mean((1, 2)), m.get_submodule("attn"))
            weights = (scores.reshape(batch, heads, 9, 9) / sqrt(C / heads)).softmax(-1)
            values = einsum("pdc,bpc->bpd", per_place, window).reshape(batch, 9, heads, -1)
            mixed = einsum("bhpq,bqhd->bphd", weights, values).reshape(batch, 3, 3, C)
            y = y + F.pad(mixed, (0, 0, j, W - 1 - j, i, H - 1 - i))
    return linear(y[:, 1:-1, 1:-1], m.get_submodule("proj"))


def asa(x: Tensor, m: nn.Module, heads: int, reduction: int) -> Tensor:
    """Return atrous self-attention: softmax(q k' / sqrt(C / heads)) v in each head, of queries at three dilations.

    q is the sum over the dilations d of SiLU of a depthwise 3 x 3 convolution; k and v are of a grid whose sides are
    divided by `reduction`, by a convolution and a norm.
    """
    (H, W, C), a = x.shape[1:], m.get_parameter("ds.weight")[:, 0]
    maps, q = linear(x, m.get_submodule("q"), bias=False).permute(0, 3, 1, 2), torch.zeros(())
    for d in (1, 3, 5):
        wide = a.new_zeros(C, 2 * d + 1, 2 * d + 1)
        wide[:, ::d, ::d] = a
        q = q + F.silu(window_sum(wide, maps))
    if reduction > 1:
        patches = x.unfold(1, reduction, reduction).unfold(2, reduction, reduction)  # batch, rows, columns, C, r, r
        reduced = einsum("bijcyx,dcyx->bijd", patches, m.get_parameter("sr.weight")) + m.get_parameter("sr.bias")
        x = norm(reduced, m.get_submodule("norm"))
    k, v = linear(x.flatten(1, 2), m.get_submodule("kv"), bias=False).chunk(2, -1)
    by_head = [each.chunk(heads, -1) for each in (q.flatten(2).mT, k, v)]
    mixed = [(q_h @ k_h.mT / sqrt(C / heads)).softmax(-1) @ v_h for q_h, k_h, v_h in zip(*by_head, strict=True)]
    return linear(unflatten(cat(mixed, -1), 1, (H, W)), m.get_submodule("proj"))


def rasa(x: Tensor, m: nn.Module, stage: Stage, recursions: int) -> Tensor:
    """Return h_r, h_t = SiLU(ASA(x_t)), x_{t+1} = h_t + x_t; without recursion ASA(x_1)."""
    attend = partial(asa, m=m, heads=stage.heads, reduction=stage.reduction or 1)
    if recursions == 1:
        return attend(x)
    h = F.silu(attend(x))
    for _ in range(recursions - 1):
        x = h + x
        h = F.silu(attend(x))
    return h


def block_of(x: Tensor, m: nn.Module, stage: Stage, recursions: int) -> Tensor:
    """Return y + MLP(LN(y)), y = x + attention(LN(x)); of a later stage, the MLP has a depthwise convolution."""
    attn, mlp, normal = m.get_submodule("attn"), m.get_submodule("mlp"), norm(x, m.get_submodule("norm1"))
    local = stage.reduction is None
    y = x + (csa(normal, attn, stage.heads) if local else rasa(normal, attn, stage, recursions))
    hidden = linear(norm(y, m.get_submodule("norm2")), mlp.get_submodule("fc1"))
    if not local:
        a, bias = mlp.get_parameter("depconv.weight")[:, 0], mlp.get_parameter("depconv.bias")
        hidden = window_sum(a, hidden.permute(0, 3, 1, 2)).permute(0, 2, 3, 1) + bias
    return y + linear(F.gelu(hidden), mlp.get_submodule("fc2"))


def make(stage: Stage, recursions: int) -> Block:
    """Return the package's block, of the sizes of a stage."""
    width, hidden = stage.width, stage.mlp_ratio * stage.width
    if stage.reduction is None:
        csa = ConvolutionalSelfAttention(width, stage.heads)
        return Block(width, csa, Mlp(width, hidden), on_maps=False)
    rasa = RecursiveAtrousSelfAttention(width, stage.heads, reduction=stage.reduction, recursions=recursions)
    return Block(width, rasa, DepthwiseMlp(width, hidden), on_maps=True)


BLOCKS = choice(
    "block",
    (Stage(4, 2, 2, 3, 2, None), 1, (3, 4)),
    (Stage(3, 1, 1, 3, 2, None), 1, (2, 5)),
    (Stage(4, 2, 2, 3, 2, 2), 1, (4, 6)),
    (Stage(6, 3, 1, 3, 2, 1), 2, (2, 3)),
    (Stage(2, 1, 3, 3, 2, 3), 4, (6, 3)),
)


@claim(
    case=BLOCKS,
    m=modules(lambda case: make(*case[:2]), BLOCKS, training=booleans(), values=SMALL),
    x=BLOCKS.flatmap(lambda case: tensors(2, *case[2], case[0].width, values=SMALL)),
    share=0.3,
    tolerance=1e-8,
    because="a LayerNorm can enlarge the rounding of nearly equal numbers a thousandfold",
    place="Sec. 5.1, Table 1, the baselines LVT-R1 to R4",
    corrected="y = x + A(LN(x)), z = y + MLP(LN(y)); A is CSA, or RASA: x_{t+1} = h_t + x_t, h_t = SiLU(ASA(x_t))",
)
def replaced_lvt_blocks(case: tuple[Stage, int, Size], m: Block, x: Tensor) -> Sides:
    """The blocks of the package's LVT, whose MLPs Table 1 replaces, are convolutional self-attention or recursive
    atrous self-attention, and an MLP.

    Read as: those of LVT's paper and its released code, without what that does only in training.
    """
    stage, recursions, _ = case
    y, printed = m(x), block_of(x, m, stage, recursions)
    own, typed = len([*m.parameters()]) == len(m.state_dict()), keeps_type(partial(make, stage, recursions), x)
    return [(y, printed), (m(x[1:]), printed[1:]), (gradients(y, m), gradients(printed, m)), own, typed]


@claim(
    images=tensors(2, 3, 32, 64, values=SMALL),
    share=0.02,
    place="Sec. 5.1, Table 1, the baselines LVT-R1 to R4",
    corrected="logits = W z_cls + b + max_i (W' z_i + b') / 2, z = LN of two blocks of class-attention after four "
    "stages of two blocks",
)
def replaced_lvt(images: Tensor) -> Sides:
    """The package's LVT is four stages of overlapping patches and two blocks, and two blocks of class-attention; half
    of the largest logits of the patches are added to those of the class token.

    Read as: with two recursions; sizes are those of LVT's released code, what cuts the patches and the class-attention
    are timm's. A new network's layers start as torch's, its atrous kernels uniform up to sqrt(6 / 9) as He's for ReLU.
    """
    m, maps = LiteVisionTransformer(2, classes=5), images
    sides: list[Side] = [*starts_as_torchs(m), below((m.cls_token.square().mean() / 0.02**2 - 1).abs(), 0.35)]
    kernels = cat([part.weight.flatten() for part in m.modules() if isinstance(part, AtrousConvolution)])
    sides += [below(kernels.abs().max(), sqrt(6 / 9)), below((kernels.square().mean() / (2 / 9) - 1).abs(), 0.1)]
    for i, stage in enumerate(SIZES):
        cut, blocks = m.get_submodule(f"backbone.{i}.0"), [*m.get_submodule(f"backbone.{i}.1").children()]
        sides.append([part.stride for part in cut.modules() if isinstance(part, nn.Conv2d)] == [(stage.stride,) * 2])
        sides.append(cut.get_parameter("proj.weight").shape[2:] == (stage.patch, stage.patch))
        hidden = [len(block.get_parameter("mlp.fc1.weight")) for block in blocks]
        sides.append(hidden == [stage.mlp_ratio * stage.width] * 2)
        maps = cut(maps)
        for block in blocks:
            maps = block_of(maps, block, stage, 2)
        maps = maps.permute(0, 3, 1, 2)
    heads = [part.num_heads for part in m.modules() if isinstance(part, ClassAttention)]
    hidden = [len(block.get_parameter("mlp.fc1.weight")) for block in m.post_network]
    tokens = cat([m.cls_token.expand(2, -1, -1), maps.flatten(2).mT], 1)
    z = norm(m.post_network(tokens), m.norm)
    logits = linear(z[:, 0], m.head) + linear(z[:, 1:], m.aux_head).amax(1) / 2
    classifiers = m.get_classifier() == (m.head, m.aux_head)
    with torch.device("meta"):
        usual = LiteVisionTransformer(4)
        wide = usual(torch.empty(1, 3, 32, 32)).shape == (1, 1000)
    recursions = [part.recursions for part in usual.modules() if isinstance(part, RecursiveAtrousSelfAttention)]
    sides += [recursions == [4] * 6, wide]
    return [*sides, (m(images), logits), classifiers, heads == [8, 8], hidden == [1024, 1024]]
