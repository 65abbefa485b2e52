"""The two equations of the layer, and their shapes."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.mixer import Mixing, Sizes, mix_channels, mix_tokens, normalise, run, sizes
from imlp_audit.equations.strategies import vectors

from ._layer import Layer, layers

_PROOF = Proof("all numbers and any activation", Layer.sizes, cases=layers(vectors))


@claim(layers(), proof=_PROOF)
def token_mixing(case: Layer, arithmetic: Arithmetic) -> Trial:
    """U, channels by tokens, is X^T plus the token-mixing MLP of LayerNorm(X)^T.

    Read as: U is the package's token mixing, transposed; LayerNorm over channels without a learned scale; no biases, as
    printed.

    Place: first equation
    Printed: U = X^T + sigma(LayerNorm(X)^T x W_1^T) x W_2^T
    Bound: LayerNorm's (functions_norm.py), then gamma_{S+1} times the magnitudes under sigma, times its largest slope,
        then gamma_{D_S+2} times those of the sum
    """
    # Hold the module against the printed product.
    x, w1, w2 = arithmetic.matrix(case.x), arithmetic.matrix(case.w1), arithmetic.matrix(case.w2)
    u = x.T + (normalise(x).T @ w1.T).map(gelu) @ w2.T
    module = run(case.module(arithmetic).token_mixing, case.x, arithmetic)
    return equal(module.T, u, X=case.x, W_1=case.w1, W_2=case.w2)


@claim(layers(), proof=_PROOF)
def channel_mixing(case: Layer, arithmetic: Arithmetic) -> Trial:
    """Y, tokens by channels, is U^T plus the channel-mixing MLP of LayerNorm(U^T).

    Read as: Y is the package's channel mixing of U^T; LayerNorm over channels without a learned scale; no biases, as
    printed.

    Place: second equation
    Printed: Y = U^T + sigma(LayerNorm(U^T) x W_3^T) x W_4^T
    Bound: LayerNorm's (functions_norm.py), then gamma_{C+1} times the magnitudes under sigma, times its largest slope,
        then gamma_{D_C+2} times those of the sum
    """
    # Hold the module against the printed product, for any U^T.
    u_t, w3, w4 = arithmetic.matrix(case.x), arithmetic.matrix(case.w3), arithmetic.matrix(case.w4)
    y = u_t + (normalise(u_t) @ w3.T).map(gelu) @ w4.T
    module = run(case.module(arithmetic).channel_mixing, case.x, arithmetic)
    return equal(module, y, **{"U^T": case.x}, W_3=case.w3, W_4=case.w4)


@claim(layers(), proof=_PROOF)
def layer(case: Layer, arithmetic: Arithmetic) -> Trial:
    """Both equations after each other are a Mixer layer, and give what those per column and per row give.

    Read as: the layer Y of X by the notes' matrix products, by the columns U_{*,i} and rows Y_{j,*} of the MLP-Mixer
    paper (arXiv 2105.01601, Eq. 1), and by the package's module, are the same S x C matrix.

    Place: both equations
    Printed: A Mixer layer can be written as follows: U = X^T + sigma(LayerNorm(X)^T x W_1^T) x W_2^T, Y = U^T +
        sigma(LayerNorm(U^T) x W_3^T) x W_4^T
    Bound: the error of U, through the second LayerNorm (functions_norm.py) and two projections with GELU between them;
        about 1e-8 or less in three of four examples, since each norm divides by the spread of a token's channels
    """
    # Hold the matrix products against the columns and rows, and the module against the matrix products.
    x, w1, w2 = arithmetic.matrix(case.x), arithmetic.matrix(case.w1), arithmetic.matrix(case.w2)
    w3, w4 = arithmetic.matrix(case.w3), arithmetic.matrix(case.w4)
    u_t = (x.T + (normalise(x).T @ w1.T).map(gelu) @ w2.T).T
    y = u_t + (normalise(u_t) @ w3.T).map(gelu) @ w4.T
    by_columns = mix_tokens(x, Mixing(case.x, case.w1, case.w2), arithmetic)
    by_rows = mix_channels(by_columns, Mixing(case.x, case.w3, case.w4), arithmetic)
    forms = equal(by_rows, y, **case.shown())
    return equal(run(case.module(arithmetic), case.x, arithmetic), y, **case.shown()) if forms.holds else forms


@claim(sizes(2))
def shapes(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Every matrix of the two equations has the shape that the list prints.

    Place: list after the equations
    Printed: X in R^{S x C}, W_1 in R^{D_S x S}, W_2 in R^{S x D_S}, W_3 in R^{D_C x C}, W_4 in R^{C x D_C},
        LayerNorm(X)^T x W_1^T in R^{C x D_S}, sigma(LayerNorm(X)^T x W_1^T) x W_2^T in R^{C x S}, U in R^{C x S},
        LayerNorm(U^T) x W_3^T in R^{S x D_C}, sigma(LayerNorm(U^T) x W_3^T) x W_4^T in R^{S x C}, Y in R^{S x C}
    Bound: none: shapes are compared
    """
    # Evaluate the equations with the module's own norms and matrices, and hold every shape against the list.
    with torch.device("meta"):
        layer, x = case.layer(), torch.empty(case.s, case.c)
    over_tokens, over_channels = layer.token_mixing, layer.channel_mixing
    w1, w2 = over_tokens.mlp.fc1.weight, over_tokens.mlp.fc2.weight
    w3, w4 = over_channels.mlp.fc1.weight, over_channels.mlp.fc2.weight
    token_hidden = over_tokens.norm(x).T @ w1.T
    token_mixed = F.gelu(token_hidden) @ w2.T
    u = x.T + token_mixed
    channel_hidden = over_channels.norm(u.T) @ w3.T
    channel_mixed = F.gelu(channel_hidden) @ w4.T
    y = u.T + channel_mixed
    ours = [tuple(m.shape) for m in (x, w1, w2, w3, w4, token_hidden, token_mixed, u, channel_hidden, channel_mixed, y)]
    return Trial(ours == _printed(case), {**case.symbols(), "shapes": ours, "printed": _printed(case)})


def _printed(case: Sizes) -> list[tuple[int, int]]:
    """Return the list, in the order of the notes."""
    s, c, d_s, d_c = case.s, case.c, case.d_s, case.d_c
    weights = [(d_s, s), (s, d_s), (d_c, c), (c, d_c)]
    return [(s, c), *weights, (c, d_s), (c, s), (c, s), (s, d_c), (s, c), (s, c)]
