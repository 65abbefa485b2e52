"""The two equations of the layer, and their shapes."""

from functools import partial
from operator import itemgetter

import torch
from hypothesis import strategies as st
from torch import Tensor, nn, stack
from torch.nn.functional import gelu, layer_norm

from imlp_audit.claims import Sides, choice, claim, gradients, modules, size, tensors
from imlp_audit.models.mixer import ChannelMixing, MixerLayer, TokenMixing

S, C, D_S, D_C = size("S", 1, 2), size("C", 2, 3), size("D_S", 1, 2), size("D_C", 1, 2)


def _unscaled(step: nn.Module) -> nn.Module:
    """Leave out LayerNorm's learned scale and shift."""
    nn.init.ones_(step.get_parameter("norm.weight"))
    nn.init.zeros_(step.get_parameter("norm.bias"))
    return step


@claim(
    X=tensors(2, S, C),
    step=modules(partial(TokenMixing, bias=False), S, C, D_S).map(_unscaled),
    place="first equation",
    printed="U = X^T + sigma(LayerNorm(X)^T x W_1^T) x W_2^T",
)
def token_mixing(X: Tensor, step: TokenMixing) -> Sides:
    """U, channels by tokens, is X^T plus the token-mixing MLP of LayerNorm(X)^T.

    Read as: U is the package's token mixing, transposed; LayerNorm over channels without a learned scale; no biases, as
    printed.
    """
    W_1, W_2 = step.mlp.fc1.weight, step.mlp.fc2.weight
    return step(X).mT, X.mT + gelu(_norm(X).mT @ W_1.T) @ W_2.T


@claim(
    U=tensors(2, C, S),
    step=modules(partial(ChannelMixing, bias=False), C, D_C).map(_unscaled),
    place="second equation",
    printed="Y = U^T + sigma(LayerNorm(U^T) x W_3^T) x W_4^T",
)
def channel_mixing(U: Tensor, step: ChannelMixing) -> Sides:
    """Y, tokens by channels, is U^T plus the channel-mixing MLP of LayerNorm(U^T).

    Read as: Y is the package's channel mixing of U^T; LayerNorm over channels without a learned scale; no biases, as
    printed.
    """
    W_3, W_4 = step.mlp.fc1.weight, step.mlp.fc2.weight
    return step(U.mT), U.mT + gelu(_norm(U.mT) @ W_3.T) @ W_4.T


def _norm(x: Tensor) -> Tensor:
    return layer_norm(x, x.shape[-1:], eps=1e-6)


_sizes = choice("S, C, D_S, D_C", (1, 2, 2, 1), (2, 3, 1, 2), (3, 2, 2, 2), (14 * 14, 192, 96, 768))
_s, _c, _d_s, _d_c = (_sizes.map(itemgetter(i)) for i in range(4))


@claim(
    X=tensors(2, _s, _c),
    mixer=modules(partial(MixerLayer, bias=False), _s, _c, _d_s, _d_c, training=st.booleans()),
    share=0.2,
    place="both equations",
    printed="A Mixer layer can be written as follows: U = X^T + sigma(LayerNorm(X)^T x W_1^T) x W_2^T, Y = U^T + "
    "sigma(LayerNorm(U^T) x W_3^T) x W_4^T",
)
def layer(X: Tensor, mixer: MixerLayer) -> Sides:
    """Both equations after each other are a Mixer layer, and give what those per column and per row give.

    Read as: the layer Y of X by the notes' matrix products, by the columns U_{*,i} and rows Y_{j,*} of the MLP-Mixer
    paper (arXiv 2105.01601, Eq. 1), and by the package's module, are the same S x C matrix.
    """
    over_tokens, over_channels = mixer.token_mixing, mixer.channel_mixing
    W_1, W_2 = over_tokens.mlp.fc1.weight, over_tokens.mlp.fc2.weight
    W_3, W_4 = over_channels.mlp.fc1.weight, over_channels.mlp.fc2.weight

    def norm(x: Tensor, of: nn.LayerNorm) -> Tensor:
        return layer_norm(x, x.shape[-1:], of.weight, of.bias, eps=1e-6)

    U = X.mT + gelu(norm(X, over_tokens.norm).mT @ W_1.T) @ W_2.T
    Y = U.mT + gelu(norm(U.mT, over_channels.norm) @ W_3.T) @ W_4.T

    columns = zip(X.unbind(2), norm(X, over_tokens.norm).unbind(2), strict=True)
    u = stack([x_i + gelu(norm_i @ W_1.T) @ W_2.T for x_i, norm_i in columns], dim=2)
    rows = zip(u.unbind(1), norm(u, over_channels.norm).unbind(1), strict=True)
    y = stack([u_j + gelu(norm_j @ W_3.T) @ W_4.T for u_j, norm_j in rows], dim=1)
    return [(Y, y), (mixer(X), Y), (gradients(mixer(X), mixer), gradients(Y, mixer))]


@claim(
    S=S,
    C=C,
    D_S=D_S,
    D_C=D_C,
    place="list after the equations",
    printed="X in R^{S x C}, W_1 in R^{D_S x S}, W_2 in R^{S x D_S}, W_3 in R^{D_C x C}, W_4 in R^{C x D_C}, "
    "LayerNorm(X)^T x W_1^T in R^{C x D_S}, sigma(LayerNorm(X)^T x W_1^T) x W_2^T in R^{C x S}, U in R^{C x S}, "
    "LayerNorm(U^T) x W_3^T in R^{S x D_C}, sigma(LayerNorm(U^T) x W_3^T) x W_4^T in R^{S x C}, Y in R^{S x C}",
)
def shapes(S: int, C: int, D_S: int, D_C: int) -> Sides:
    """Every matrix of the two equations has the shape that the list prints."""
    with torch.device("meta"):
        mixer, X = MixerLayer(S, C, D_S, D_C), torch.empty(S, C)
    over_tokens, over_channels = mixer.token_mixing, mixer.channel_mixing
    W_1, W_2 = over_tokens.mlp.fc1.weight, over_tokens.mlp.fc2.weight
    W_3, W_4 = over_channels.mlp.fc1.weight, over_channels.mlp.fc2.weight
    token_hidden = over_tokens.norm(X).T @ W_1.T
    token_mixed = gelu(token_hidden) @ W_2.T
    U = X.T + token_mixed
    channel_hidden = over_channels.norm(U.T) @ W_3.T
    channel_mixed = gelu(channel_hidden) @ W_4.T
    Y = U.T + channel_mixed
    found = [X, W_1, W_2, W_3, W_4, token_hidden, token_mixed, U, channel_hidden, channel_mixed, Y]
    printed = [(S, C), (D_S, S), (S, D_S), (D_C, C), (C, D_C), (C, D_S), (C, S), (C, S), (S, D_C), (S, C), (S, C)]
    return torch.tensor([matrix.shape for matrix in found]), torch.tensor(printed)
