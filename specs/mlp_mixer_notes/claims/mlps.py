"""The paragraphs on the MLPs and on tying."""

import torch
from hypothesis import strategies as st
from torch import Tensor, eye, stack, zeros
from torch.nn import ModuleList
from torch.nn.functional import gelu, layer_norm

from imlp_audit.claims import Sides, claim, modules, parameters, size, tensors
from imlp_audit.models.mixer import ChannelMixing, MixerLayer, Mlp, PatchEmbedding

S, C, D_S, D_C = size("S"), size("C"), size("D_S", 1, 3), size("D_C", 1, 3)
_any_sizes = st.tuples(*[st.integers(1, 3)] * 4)  # S, C, D_S, D_C


@claim(
    X=tensors(2, S, C),
    layer=modules(MixerLayer, S, C, D_S, D_C),
    place="paragraph on the MLPs, and the one on tying",
    printed="token-mixing MLP: it acts on columns of X (i.e. it is applied to a transposed input table X), maps R^S -> "
    "R^S, and is shared across all columns. ... channel-mixing MLP: it acts on rows of X, maps R^C -> R^C, and is "
    "shared across all rows. Each MLP block contains two fully-connected layers and a nonlinearity applied "
    "independently to each row of its input data tensor.",
)
def mlp_by_row(X: Tensor, layer: MixerLayer) -> Sides:
    """Each MLP works on each row of its input independently, and is the same for every row.

    Read as: the token-mixing MLP on the rows of the transposed table, that is on its columns of S numbers; the
    channel-mixing MLP on the rows of C numbers. Row r of the output is second x GELU(first x row r + bias) + bias.
    """

    def by_row(mlp: Mlp, table: Tensor) -> Tensor:
        rows = [mlp.fc2.weight @ gelu(mlp.fc1.weight @ row + mlp.fc1.bias) + mlp.fc2.bias for row in table]
        return stack(rows)

    tokens, channels = layer.token_mixing.mlp, layer.channel_mixing.mlp
    return [
        (tokens(X.mT), stack([by_row(tokens, table.T) for table in X])),
        (channels(X), stack([by_row(channels, table) for table in X])),
    ]


@claim(
    U=tensors(2, C),
    W_3=tensors(D_C, C),
    W_4=tensors(C, D_C),
    examples=[{"U": eye(2), "W_3": zeros(1, 2), "W_4": zeros(2, 1)}],
    place="paragraph on tying",
    printed="Tying the parameters of the channel-mixing MLPs (within each layer) is a natural choice - it provides "
    "positional invariance, a prominent feature of convolutions.",
    nearest="positional_invariance_corrected",
)
def positional_invariance(U: Tensor, W_3: Tensor, W_4: Tensor) -> Sides:
    """Channel mixing with tied parameters is invariant to position.

    Read as: exchanging two tokens leaves the output of channel mixing as it is.
    """

    def mix_channels(table: Tensor) -> Tensor:
        return table + gelu(layer_norm(table, table.shape[-1:], eps=1e-6) @ W_3.T) @ W_4.T

    return mix_channels(U.flip(0)), mix_channels(U)


@claim(
    U=tensors(2, S, C),
    step=modules(ChannelMixing, C, D_C),
    order=S.flatmap(lambda n: st.permutations(range(n))),
    place="paragraph on tying",
    corrected="it provides positional equivariance: f(P U) = P f(U) for every permutation P of the tokens",
)
def positional_invariance_corrected(U: Tensor, step: ChannelMixing, order: list[int]) -> Sides:
    """Channel mixing with tied parameters is equivariant: tokens that change places do so in its output too.

    Read as: for any permutation of the tokens. What happens to a token does not depend on where it is.
    """
    W_3, W_4, b_3, b_4 = step.mlp.fc1.weight, step.mlp.fc2.weight, step.mlp.fc1.bias, step.mlp.fc2.bias
    normal = layer_norm(U, U.shape[-1:], step.norm.weight, step.norm.bias, eps=1e-6)
    Y = U + gelu(normal @ W_3.T + b_3) @ W_4.T + b_4
    return step(U[:, order]), Y[:, order]


@claim(
    sizes=_any_sizes,
    share=0.3,
    place="paragraph on tying",
    printed="Each layer in Mixer (except for the initial patch projection layer) takes an input of the same size",
)
def same_size(sizes: tuple[int, int, int, int]) -> Sides:
    """Every Mixer layer takes an input of the same size; the patch projection, which comes first, does not.

    Read as: what a layer gives has the S x C of its input, so the next one gets it; the projection reads 3 x H x W.
    """
    S, C, D_S, D_C = sizes
    with torch.device("meta"):
        projected = PatchEmbedding(2, C)(torch.empty(1, 3, 2, 2 * S))
        first = MixerLayer(S, C, D_S, D_C)(projected)
        second = MixerLayer(S, C, D_S, D_C)(first)
    return torch.tensor([projected.shape, first.shape, second.shape]), torch.tensor([(1, S, C)] * 3)


@claim(
    sizes=_any_sizes,
    place="paragraph on tying",
    printed="The parameter tying prevents the architecture from growing too fast when increasing the hidden dimension "
    "C or the sequence length S and leads to significant memory savings.",
)
def tying_saves_parameters(sizes: tuple[int, int, int, int]) -> Sides:
    """Tying keeps the MLPs' parameters from growing with the number of rows or columns that they are applied to.

    Read as: one token-mixing MLP for all columns has 1 / C of the parameters of one for each column, and as many for
    any C; one channel-mixing MLP for all rows has 1 / S of those of one for each row, and as many for any S.
    """
    S, C, D_S, D_C = sizes

    def of_tokens(S: int, C: int) -> int:
        return parameters(lambda: MixerLayer(S, C, D_S, D_C).token_mixing.mlp)

    def of_channels(S: int, C: int) -> int:
        return parameters(lambda: MixerLayer(S, C, D_S, D_C).channel_mixing.mlp)

    return [
        (C * of_tokens(S, C), parameters(lambda: ModuleList(Mlp(S, D_S) for _ in range(C)))),
        (S * of_channels(S, C), parameters(lambda: ModuleList(Mlp(C, D_C) for _ in range(S)))),
        (of_tokens(S, 2 * C), of_tokens(S, C)),
        (of_channels(2 * S, C), of_channels(S, C)),
    ]
