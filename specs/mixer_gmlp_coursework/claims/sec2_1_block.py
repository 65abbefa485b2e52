"""Sec. 2.1: the two equations of the Mixer block, its norm and its biases, and GELU."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, eye, ones, stack, tanh, tensor
from torch.func import functional_call
from torch.special import ndtr

from imlp_audit.claims import Sides, below, claim_about, mixes, modules, size, strictly_below, tensors
from imlp_audit.models.mixer import ChannelMixing, MixerLayer, Mlp, TokenMixing

from ._formulas import EPSILON

S, C, D_S, D_C = size("S", 1, 3), size("C", 2, 3), size("D_S", 1, 2), size("D_C", 1, 2)
Step = TokenMixing | ChannelMixing


def _at_start(step: Step, x: Tensor) -> Tensor:
    """Apply a step, its LayerNorm's scale at 1 and shift at 0, as they start."""
    ones = x.new_ones(x.shape[-1])
    output: Tensor = functional_call(step, {"norm.weight": ones, "norm.bias": 0 * ones}, (x,))
    return output


def _layer_norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], eps=EPSILON)


claim = claim_about(X=tensors(2, S, C), step=modules(TokenMixing, S, C, D_S), U=tensors(2, S, C), x=tensors())


@claim(
    step=modules(partial(TokenMixing, bias=False), S, C, D_S),
    place="Sec. 2.1, first equation of the block",
    printed="U_{*,i} = X_{*,i} + W_2 sigma(W_1 LayerNorm(X)_{*,i}), i = 1..C",
)
def mixer_token_mixing(X: Tensor, step: TokenMixing) -> Sides:
    """Token mixing adds to column i of X the two-layer perceptron of column i of LayerNorm(X).

    Read as: LayerNorm over channels, its learned scale at 1 and shift at 0, as they start; no biases, as printed.
    """
    W_1, W_2 = step.mlp.fc1.weight, step.mlp.fc2.weight
    return _at_start(step, X), X + W_2 @ F.gelu(W_1 @ _layer_norm(X))


@claim(
    step=modules(partial(ChannelMixing, bias=False), C, D_C),
    place="Sec. 2.1, second equation of the block",
    printed="Y_{j,*} = U_{j,*} + W_4 sigma(W_3 LayerNorm(U)_{j,*}), j = 1..S",
)
def mixer_channel_mixing(U: Tensor, step: ChannelMixing) -> Sides:
    """Channel mixing adds to row j of U the two-layer perceptron of row j of LayerNorm(U).

    Read as: LayerNorm over channels, its learned scale at 1 and shift at 0, as they start; no biases, as printed; a row
    under W_3 is a vector of C numbers.
    """
    W_3, W_4 = step.mlp.fc1.weight, step.mlp.fc2.weight
    return _at_start(step, U).mT, U.mT + W_4 @ F.gelu(W_3 @ _layer_norm(U).mT)


@claim(
    tokens=modules(TokenMixing, S, C, 1),
    channels=modules(ChannelMixing, C, 1),
    place="Sec. 2.1, after the definition of GELU",
    printed="Вход любого блока нормализуется с помощью LayerNorm по каналам.",
)
def mixer_layer_norm(X: Tensor, tokens: TokenMixing, channels: ChannelMixing) -> Sides:
    """Each of the two MLPs reads its input normalised by LayerNorm over channels.

    Read as: every token on its own has mean 0 and variance 1 over its channels (up to the epsilon 1e-6 under the root),
    and is then scaled and shifted channel by channel by two learned vectors g and h.
    """
    centred = X - X.mean(-1, keepdim=True)
    normal = centred / ((centred**2).mean(-1, keepdim=True) + EPSILON).sqrt()
    return [
        (_read_by_mlp(tokens, X).mT, tokens.norm.weight * normal + tokens.norm.bias),
        (_read_by_mlp(channels, X), channels.norm.weight * normal + channels.norm.bias),
    ]


def _read_by_mlp(step: Step, x: Tensor) -> Tensor:
    read: list[Tensor] = []
    hook = step.mlp.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0]))
    step(x)
    hook.remove()
    return read[0]


@claim(
    step=modules(ChannelMixing, C, D_C),
    place="Sec. 2.1, after the definition of GELU",
    printed="Так же используется механизм пробрасывания связей и сдвиги каждой проекции.",
)
def mixer_biases_of_channels(U: Tensor, step: ChannelMixing) -> Sides:
    """Channel mixing has a bias in each of its projections.

    Read as: the products with W_3 and W_4 get a vector of their own added, b_3 (D_C) and b_4 (C), and nothing else in
    the equation changes.
    """
    W_3, b_3, W_4, b_4 = step.mlp.parameters()
    return _at_start(step, U).mT, U.mT + W_4 @ F.gelu(W_3 @ _layer_norm(U).mT + b_3[:, None]) + b_4[:, None]


@claim(
    place="Sec. 2.1, after the definition of GELU",
    printed="Так же используется механизм пробрасывания связей и сдвиги каждой проекции.",
)
def mixer_biases_of_tokens(X: Tensor, step: TokenMixing) -> Sides:
    """Token mixing has a bias in each of its projections.

    Read as: the products with W_1 and W_2 get a vector of their own added, b_1 (D_S) and b_2 (S), and nothing else in
    the equation changes.
    """
    W_1, b_1, W_2, b_2 = step.mlp.parameters()
    return _at_start(step, X), X + W_2 @ F.gelu(W_1 @ _layer_norm(X) + b_1[:, None]) + b_2[:, None]


@claim(
    layer=modules(MixerLayer, S, C, D_S, 2),
    place="Sec. 2.1, paragraph on Fig. 2",
    printed="выход каждого слоя имеет ту же размерность, что и вход; каждый блок MLP-Mixer получает на вход матрицу "
    "X in R^{S x C} одного и того же размера",
)
def mixer_keeps_shape(X: Tensor, layer: MixerLayer) -> Sides:
    """The output of each step has the shape of its input, so every layer gets a table of the same size."""
    U: Tensor = layer.token_mixing(X)
    Y: Tensor = layer.channel_mixing(U)
    return [X.shape == U.shape == Y.shape, bool(layer(Y).shape == Y.shape)]


@claim(
    X=tensors(2, 2),
    other=tensors(2),
    W_1=tensors(1, 2),
    W_2=tensors(2, 1),
    examples=[{"X": eye(2), "other": ones(2), "W_1": ones(1, 2), "W_2": ones(2, 1)}],
    place="Sec. 2.1, paragraph on Fig. 2",
    printed="token-mixing можно представить, как функцию, действующую по следующему правилу: R^S -> R^S, где все "
    "преобразования применяются к каждому столбцу матрицы X независимо.",
    nearest="mixer_token_mixing_columns_corrected",
)
def mixer_token_mixing_columns(X: Tensor, other: Tensor, W_1: Tensor, W_2: Tensor) -> Sides:
    """Everything that token mixing does is done to each column of X independently.

    Read as: token mixing is the equation that is marked so; changing one column of X changes no other column of U.
    """
    changed = stack([X[:, 0], other], dim=1)
    mlp = {"mlp.fc1.weight": W_1, "mlp.fc2.weight": W_2}
    before, after = functional_call(TokenMixing(2, 2, 1, bias=False).double(), mlp, (stack([X, changed]),))
    return before[:, 0], after[:, 0]


@claim(
    normal=tensors(S, C),
    place="Sec. 2.1, paragraph on Fig. 2",
    corrected="token mixing after LayerNorm is a function R^S -> R^S that is applied to each column of LayerNorm(X) "
    "independently",
)
def mixer_token_mixing_columns_corrected(normal: Tensor, step: TokenMixing) -> Sides:
    """The MLP of token mixing is one function from R^S to R^S, applied to each column of LayerNorm(X) independently.

    Read as: column i of what the MLP gives is W_2 sigma(W_1 n_i + b_1) + b_2 for column n_i of the table it reads. The
    LayerNorm before it, over channels, makes n_i depend on all columns of X.
    """
    W_1, b_1, W_2, b_2 = step.mlp.parameters()
    columns = [W_2 @ F.gelu(W_1 @ n_i + b_1) + b_2 for n_i in normal.T]
    return [(step.mlp(normal.T), stack(columns)), "channels" not in mixes(lambda n: step.mlp(n.T).T, normal)]


def _tanh_form(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))


@claim(
    examples=[{"x": tensor(1.0)}],
    place="Sec. 2.1, definition of GELU, second equality",
    printed="x Phi(x) = 0.5 x (1 + tanh[sqrt(2/pi) (x + 0.044715 x^3)])",
    nearest="gelu_tanh_form_corrected",
)
def gelu_tanh_form(x: Tensor) -> Sides:
    """x Phi(x) equals 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))."""
    return x * ndtr(x), _tanh_form(x)


@claim(
    place="Sec. 2.1, definition of GELU, second equality",
    corrected="|x Phi(x) - 0.5 x (1 + tanh[sqrt(2/pi) (x + 0.044715 x^3)])| <= 4.74e-4, and > 4.73e-4 at x = 2.699",
)
def gelu_tanh_form_corrected(x: Tensor) -> Sides:
    """The tanh form differs from x Phi(x) by at most 0.000474, for every real x, and by more than 0.000473 for
    some x.
    """
    # Where |x| > 10 both are 0 or x.
    every = torch.cat([x[None], tensor([2.699]), torch.linspace(-10, 10, 20_001)])
    largest = (every * ndtr(every) - _tanh_form(every)).abs().max()
    return [below(largest, 4.74e-4), strictly_below(4.73e-4, largest)]


@claim(place="Sec. 2.1, definition of GELU, first equality", printed="GELU(x) = x Phi(x)")
def gelu_x_phi(x: Tensor) -> Sides:
    """GELU(x) is x times the distribution function of the standard normal."""
    return Mlp(width=1, hidden=1).act(x), x * ndtr(x)
