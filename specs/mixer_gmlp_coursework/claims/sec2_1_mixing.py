"""Sec. 2.1: what the parts of a model mix, tokens, channels or both."""

import torch
import torch.nn.functional as F
from hypothesis import assume
from timm.models.vision_transformer import Attention
from torch import Tensor, cat, zeros

from imlp_audit.claims import NONZERO, POSITIVE, Sides, claim, mixes, modules, size, tensors
from imlp_audit.models.mixer import ChannelMixing, TokenMixing

from ._formulas import EPSILON, filled


@claim(
    X=tensors(size("S", 2, 3), 2),
    W_v=tensors(2, 2, values=POSITIVE),
    W_out=tensors(2, 2, values=POSITIVE),
    place="Sec. 2.1, paragraph on mixing",
    printed="Трансформеры так же производят смешивание одновременно за счёт блока внимания (self-attention).",
)
def mixer_attention_mixes_both(X: Tensor, W_v: Tensor, W_out: Tensor) -> Sides:
    """An attention block mixes channels and space at once.

    Read as: with its projection of the values, attention can do both in one block. Queries of 0 show it: every token
    gets the mean of the projected values of all tokens.
    """
    weights = {"qkv.weight": cat([0 * W_v, 0 * W_v, W_v]), "proj.weight": W_out}
    attention = filled(Attention(2, 1, proj_bias=False), weights)
    return mixes(lambda x: attention(x[None])[0], X) == {"tokens", "channels"}


N = size("N", 2, 3)


@claim(
    kernel=tensors(2, 2, N, N, values=NONZERO),
    place="Sec. 2.1, paragraph on mixing",
    printed="в свёрточных нейронных сетях это можно сделать одновременно, используя размер ядра N x N (N > 1)",
)
def mixer_convolution_mixes_both(kernel: Tensor) -> Sides:
    """A convolution with an N x N kernel, N > 1, mixes channels and space at once.

    Read as: some output depends on an input at another place, and some on an input of another channel, for any kernel
    without a zero.
    """

    def convolve(table: Tensor) -> Tensor:
        grid = F.pad(table.T.reshape(2, 2, 2), (len(kernel[0, 0]) // 2, (len(kernel[0, 0]) - 1) // 2) * 2)
        return F.conv2d(grid, kernel).flatten(1).T

    return mixes(convolve, zeros(4, 2, dtype=kernel.dtype)) == {"tokens", "channels"}


@claim(
    normal=tensors(2, 2, values=POSITIVE),
    W_1=tensors(1, 2, values=POSITIVE),
    W_2=tensors(2, 1, values=POSITIVE),
    W_3=tensors(1, 2, values=POSITIVE),
    W_4=tensors(2, 1, values=POSITIVE),
    place="Sec. 2.1, paragraph on mixing",
    printed="Идея MLP-Mixer состоит в том, чтобы выполнять данные операции строго по очереди.",
)
def mixer_in_turn(normal: Tensor, W_1: Tensor, W_2: Tensor, W_3: Tensor, W_4: Tensor) -> Sides:
    """A layer mixes over tokens and over channels strictly in turn: its first MLP does the one, its second the other.

    Read as: the operations are the two MLPs. In the first some output depends on an input of another token and none on
    one of another channel; in the second it is the other way round. Numbers are positive, where no slope of GELU is
    near 0 and no two paths cancel.
    """
    over_tokens = filled(TokenMixing(2, 2, 1, bias=False).mlp, {"fc1.weight": W_1, "fc2.weight": W_2})
    over_channels = filled(ChannelMixing(2, 1, bias=False).mlp, {"fc1.weight": W_3, "fc2.weight": W_4})
    return [mixes(lambda n: over_tokens(n.T).T, normal) == {"tokens"}, mixes(over_channels, normal) == {"channels"}]


@claim(
    X=tensors(2, size("C", 2, 3)),
    w=tensors(values=NONZERO),
    v=tensors(values=NONZERO),
    place="Sec. 2.1, last paragraph",
    printed="MLP-Mixer не использует позиционное кодирование, так как слой token-mixing благодаря своей реализации "
    "позволяет улавливать связи между различными патчами и учитывает их местоположение.",
)
def mixer_token_mixing_sees_places(X: Tensor, w: Tensor, v: Tensor) -> Sides:
    """Token mixing takes account of where a patch is.

    Read as: two tokens that change places do not merely change places in the output. Weights that read and write the
    first token alone show it: W_1 = (w, 0), W_2 = (v, 0)^T, w and v not 0, for a first token whose channels differ.
    """
    assume(len(set(X[0].tolist())) > 1)
    ones, zero = torch.ones_like(X[0]), torch.zeros_like(w)
    weights = {"norm.weight": ones, "norm.bias": 0 * ones}
    weights |= {"mlp.fc1.weight": torch.stack([w, zero])[None], "mlp.fc2.weight": torch.stack([v, zero])[:, None]}
    mix = filled(TokenMixing(2, len(X[0]), 1, bias=False), weights)
    first = v * F.gelu(w * F.layer_norm(X[0], X[0].shape, eps=EPSILON))
    U, U_of_exchanged = mix(torch.stack([X, X.flip(0)]))
    return [(U, torch.stack([X[0] + first, X[1]])), not torch.allclose(U_of_exchanged, U.flip(0), rtol=1e-9)]


C = size("C", 1, 2)


@claim(
    normal=tensors(size("S", 2, 4), C),
    step=modules(ChannelMixing, C, size("D_C")),
    place="Sec. 2.1, last paragraph",
    printed="в крайнем случае блок channel-mixing можно рассматривать как 1 x 1 свёртку",
)
def mixer_channel_mixing_as_convolution(normal: Tensor, step: ChannelMixing) -> Sides:
    """Channel mixing is 1 x 1 convolution over the grid of patches.

    Read as: each of its two fully-connected layers is a 1 x 1 convolution of the table laid out as a grid, with GELU
    between them.
    """
    W_3, b_3, W_4, b_4 = step.mlp.parameters()
    grid = normal.T.reshape(len(normal.T), -1, 2)  # two patches wide
    convolved = F.conv2d(F.gelu(F.conv2d(grid, W_3[:, :, None, None], b_3)), W_4[:, :, None, None], b_4)
    return step.mlp(normal), convolved.flatten(1).T
