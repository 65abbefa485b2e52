"""Sec. 2.1 to 2.3: parameters, complexity and sizes of MLP-Mixer."""

import torch
from hypothesis import assume
from hypothesis import strategies as st
from torch import nn

from imlp_audit.claims import Sides, below, choice, claim_about, macs, parameters
from imlp_audit.models.mixer import MixerLayer, PatchEmbedding

from ._costs import second_differences, transformer_macs

NUMBER, SMALL = st.integers(1, 5), st.integers(1, 3)

# layers, P, C, S, D_C, D_S
TABLE_1 = {
    "S/16": (8, 16, 512, 196, 2048, 256),
    "B/32": (12, 32, 768, 49, 3072, 384),
    "B/16": (12, 16, 768, 196, 3072, 384),
    "L/32": (24, 32, 1024, 49, 4096, 512),
    "L/16": (24, 16, 1024, 196, 4096, 512),
    "H/14": (32, 14, 1280, 256, 5120, 640),
}
claim = claim_about(S=SMALL, C=SMALL, D_S=NUMBER, D_C=NUMBER)


@claim(
    S=NUMBER,
    C=NUMBER,
    place="Sec. 2.1, paragraph on the parameters",
    printed="W_1 in R^{D_S x S}, W_2 in R^{S x D_S}, W_3 in R^{D_C x C}, W_4 in R^{C x D_C}",
)
def mixer_weight_shapes(S: int, C: int, D_S: int, D_C: int) -> Sides:
    """The four matrices of a layer have the printed shapes."""
    layer = MixerLayer(S, C, D_S, D_C)
    mlps = layer.token_mixing.mlp, layer.channel_mixing.mlp
    shapes = [list(linear.weight.shape) for mlp in mlps for linear in (mlp.fc1, mlp.fc2)]
    return torch.tensor(shapes), torch.tensor([[D_S, S], [S, D_S], [D_C, C], [C, D_C]])


@claim(
    wider=choice("D_S - S", 1, 3),
    broader=choice("D_C - C", 1, 2),
    share=0.5,
    place="Sec. 2.1, paragraphs on the parameters and on complexity",
    corrected="where D_S > S and D_C > C, a layer takes at least 2 S^2 C + 2 C^2 S + 4 S C multiply-accumulates",
)
def mixer_hidden_widths(S: int, C: int, wider: int, broader: int) -> Sides:
    """A layer with D_S > S and D_C > C takes more than 2 S^2 C + 2 C^2 S multiply-accumulates.

    So the inequalities and the linear complexity hold together only while S < D_S and C < D_C: fixed widths do not fit
    every S and C, and widths that grow with S and C make the complexity quadratic at least.
    """
    cost = macs(lambda: MixerLayer(S, C, S + wider, C + broader), 1, S, C)
    return below(2 * S**2 * C + 2 * C**2 * S + 4 * S * C, cost)


@claim(
    S=NUMBER,
    C=NUMBER,
    place="Sec. 2.1, paragraph on the parameters",
    printed="Параметрами каждого слоя являются четыре матрицы: W_1, W_2, W_3, W_4",
    nearest="mixer_parameters_corrected",
)
def mixer_parameters(S: int, C: int, D_S: int, D_C: int) -> Sides:
    """The parameters of a layer are the four matrices.

    Read as: W_1, W_2, W_3 and W_4 are all that a layer learns. The sentence before has a bias in each projection and
    LayerNorm before each MLP.
    """
    return parameters(lambda: MixerLayer(S, C, D_S, D_C)), 2 * D_S * S + 2 * D_C * C


@claim(
    S=NUMBER,
    C=NUMBER,
    place="Sec. 2.1, paragraph on the parameters",
    corrected="four matrices, 2 D_S S + 2 D_C C numbers; their biases, D_S + S + D_C + C; a scale and a shift per "
    "channel in each of two LayerNorms, 4 C",
)
def mixer_parameters_corrected(S: int, C: int, D_S: int, D_C: int) -> Sides:
    """The parameters of a layer are the four matrices, the biases of four projections, and two LayerNorms."""
    matrices, biases, norms = 2 * D_S * S + 2 * D_C * C, D_S + S + D_C + C, 4 * C
    return parameters(lambda: MixerLayer(S, C, D_S, D_C)), matrices + biases + norms


@claim(
    model=choice("model", *TABLE_1),
    place="Sec. 2.1, paragraph on the parameters, and Table 1; 224 x 224 is in Sec. 2.2",
    printed="S = HW / P^2; D_S > S, D_C > C; Table 1",
)
def mixer_table1(model: str) -> Sides:
    """Every column of Table 1 has S = HW / P^2 at 224 x 224, D_S > S and D_C > C."""
    _, P, C, S, D_C, D_S = TABLE_1[model]
    return [(S, 224 * 224 // P**2), D_S > S, D_C > C]


@claim(
    D_S=SMALL,
    place="Sec. 2.1, paragraph on complexity",
    printed="В token-mixing производятся действия над столбцами матрицы X, для всех каналов. Получим всего 2 D_S S "
    "C операций.",
)
def mixer_token_mixing_cost(S: int, C: int, D_S: int) -> Sides:
    """Token mixing takes 2 D_S S C operations.

    Read as: operations are multiply-accumulates; those of LayerNorm, biases, GELU and the skip connection are not
    counted.
    """
    return macs(lambda: MixerLayer(S, C, D_S, 1).token_mixing, 1, S, C), 2 * D_S * S * C


@claim(
    D_C=SMALL,
    place="Sec. 2.1, paragraph on complexity",
    printed="Аналогично слой channel-mixing выполняет преобразования над строками входной матрицы для каждого "
    "патча. Всего имеем 2 D_C S C операций.",
)
def mixer_channel_mixing_cost(S: int, C: int, D_C: int) -> Sides:
    """Channel mixing takes 2 D_C S C operations.

    Read as: operations are multiply-accumulates; those of LayerNorm, biases, GELU and the skip connection are not
    counted.
    """
    return macs(lambda: MixerLayer(S, C, 1, D_C).channel_mixing, 1, S, C), 2 * D_C * S * C


@claim(
    D_S=SMALL,
    D_C=SMALL,
    k=st.integers(2, 3),
    share=0.4,
    place="Sec. 2.1, paragraph on complexity",
    printed="Таким образом, получим, что вычислительная сложность MLP-Mixer линейна по количеству каналов и патчей.",
)
def mixer_cost_linear(S: int, C: int, D_S: int, D_C: int, k: int) -> Sides:
    """MLP-Mixer's complexity is linear in the number of patches and in the number of channels.

    Read as: D_S and D_C stay as they are, since they are chosen independently of S and C; then k times the patches, or
    k times the channels, take k times the multiply-accumulates of a layer. mixer_hidden_widths tells what their
    inequalities do to this.
    """
    own = macs(lambda: MixerLayer(S, C, D_S, D_C), 1, S, C)
    by_patches = macs(lambda: MixerLayer(k * S, C, D_S, D_C), 1, k * S, C)
    by_channels = macs(lambda: MixerLayer(S, k * C, D_S, D_C), 1, S, k * C)
    return [(by_patches, k * own), (by_channels, k * own)]


@claim(place="Sec. 2.1, paragraph on complexity", printed="В то время, как ViT квадратичен по S.")
def mixer_vit_quadratic(S: int, C: int) -> Sides:
    """ViT's complexity is quadratic in S.

    Read as: the multiply-accumulates of a ViT layer, self-attention and an MLP on channels, are a polynomial of degree
    2 in S: equal steps of S change them by amounts that grow by the same amount 4 C > 0 each time. A Mixer layer's
    amounts do not grow.
    """
    vit = second_differences([transformer_macs(n, C, 4 * C) for n in range(S, S + 4)])
    mixer = second_differences([_mixer_macs(n, C) for n in range(S, S + 4)])
    return vit == [4 * C] * 2 and mixer == [0] * 2


def _mixer_macs(S: int, C: int) -> int:
    return macs(lambda: MixerLayer(S, C, 3, 4 * C), 1, S, C)


@claim(
    place="Sec. 2.2, last paragraph",
    printed="Вместе с этим необходимо уменьшить гиперпараметры: P = 4, S = 64, C = 256, D_C = 1024, D_S = 256.",
)
def mixer_small_configuration() -> Sides:
    """The small configuration has S = HW / P^2 for images of 32 x 32, D_S > S and D_C > C.

    Read as: the images are those of CIFAR-10 and CIFAR-100, which Sec. 3.2 says are 32 x 32.
    """
    P, S, C, D_C, D_S = 4, 64, 256, 1024, 256
    return [(S, 32 * 32 // P**2), D_S > S, D_C > C]


@claim(
    P=st.permutations([2, 3, 4, 6, 8, 12]).map(lambda sides: (sides[0], sides[1])),
    place="Sec. 2.3",
    printed="Изменяя разрешение патча, приходится заново переобучать нейронную сеть.",
)
def mixer_patch_size(P: tuple[int, int]) -> Sides:
    """With another patch size the network has to be trained again.

    Read as: on the same images, weights for one P do not fit the network for another P.
    """
    one, other = (_mixer(24 // side, 24 // side, side).state_dict() for side in P)
    both_ends = {"0.proj.weight", "1.token_mixing.mlp.fc1.weight"}  # of the patches, and of the tokens
    return both_ends <= {name for name in one if one[name].shape != other[name].shape}


def _mixer(rows: int, columns: int, P: int) -> nn.Module:
    with torch.device("meta"):
        return nn.Sequential(PatchEmbedding(P, 3), MixerLayer(rows * columns, 3, 4, 4))


@claim(
    rows=SMALL,
    columns=SMALL,
    other_rows=SMALL,
    other_columns=SMALL,
    share=0.4,
    place="Sec. 2.3",
    printed="слои token-mixing зависят от длины последовательности S, что является существенным ограничением данной "
    "модели. Так как она может работать только с фиксированными размерами изображений.",
)
def mixer_fixed_image_size(rows: int, columns: int, other_rows: int, other_columns: int) -> Sides:
    """A Mixer works only with images of one size.

    Read as: an image of another number of patches fails.
    """
    assume(rows * columns != other_rows * other_columns)
    mixer = _mixer(rows, columns, 2)
    return _runs(mixer, rows, columns) and not _runs(mixer, other_rows, other_columns)


def _runs(mixer: nn.Module, rows: int, columns: int) -> bool:
    try:
        mixer(torch.empty(1, 3, 2 * rows, 2 * columns, device="meta"))
    except RuntimeError:  # what torch raises where shapes do not fit
        return False
    return True
