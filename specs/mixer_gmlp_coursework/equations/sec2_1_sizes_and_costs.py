"""Sec. 2.1, parameters and complexity of the Mixer block."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.counts import macs, parameters, second_differences, vit_layer_macs
from imlp_audit.equations.mixer import Sizes, sizes
from imlp_audit.models.mixer import MixerLayer

from ._table1 import TABLE_1


@claim(sizes())
def mixer_weight_shapes(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """The four matrices of a layer have the printed shapes.

    Place: Sec. 2.1, paragraph on the parameters
    Printed: W_1 in R^{D_S x S}, W_2 in R^{S x D_S}, W_3 in R^{D_C x C}, W_4 in R^{C x D_C}
    Bound: none: shapes are compared
    """
    # Hold the shapes of the module's weights against the printed ones.
    with torch.device("meta"):
        layer = case.layer()
    tokens, channels = layer.token_mixing.mlp, layer.channel_mixing.mlp
    matrices = (tokens.fc1.weight, tokens.fc2.weight, channels.fc1.weight, channels.fc2.weight)
    module = [tuple(matrix.shape) for matrix in matrices]
    printed = [(case.d_s, case.s), (case.s, case.d_s), (case.d_c, case.c), (case.c, case.d_c)]
    return Trial(module == printed, {**case.symbols(), "shapes in the module": module, "printed": printed})


_size = st.integers(1, 3)


@claim(st.builds(lambda s, c, over_s, over_c: Sizes(s, c, s + over_s, c + over_c), *[_size] * 4))
def mixer_hidden_widths(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """A layer with D_S > S and D_C > C takes more than 2 S^2 C + 2 C^2 S multiply-accumulates.

    So the inequalities and the linear complexity hold together only while S < D_S and C < D_C: fixed widths do not fit
    every S and C, and widths that grow with S and C make the complexity quadratic at least.

    Place: Sec. 2.1, paragraphs on the parameters and on complexity
    Corrected: where D_S > S and D_C > C, a layer takes at least 2 S^2 C + 2 C^2 S + 4 S C multiply-accumulates
    Bound: none: the ledger of a forward pass is exact
    """
    # Hold the ledger of a layer with wider MLPs against the quadratic bound.
    ours = macs(case.layer, 1, case.s, case.c)
    least = 2 * case.s**2 * case.c + 2 * case.c**2 * case.s + 4 * case.s * case.c
    return Trial(ours >= least, {**case.symbols(), "multiply-accumulates": ours, "at least": least})


@claim(sizes())
def mixer_parameters(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """The parameters of a layer are the four matrices.

    Read as: W_1, W_2, W_3 and W_4 are all that a layer learns. The sentence before has a bias in each projection and
    LayerNorm before each MLP.

    Place: Sec. 2.1, paragraph on the parameters
    Printed: Параметрами каждого слоя являются четыре матрицы: W_1, W_2, W_3, W_4
    Nearest: mixer_parameters_corrected
    Bound: none: parameters are counted
    """
    # Hold the number of parameters against that of the matrices' entries.
    ours, printed = parameters(case.layer), 2 * case.d_s * case.s + 2 * case.d_c * case.c
    return Trial(ours == printed, {**case.symbols(), "parameters": ours, "entries of the four matrices": printed})


@claim(sizes())
def mixer_parameters_corrected(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """The parameters of a layer are the four matrices, the biases of four projections, and two LayerNorms.

    Place: Sec. 2.1, paragraph on the parameters
    Corrected: four matrices, 2 D_S S + 2 D_C C numbers; their biases, D_S + S + D_C + C; a scale and a shift per
        channel in each of two LayerNorms, 4 C
    Bound: none: parameters are counted
    """
    # Hold the number of parameters against the sum of the three kinds.
    matrices = 2 * case.d_s * case.s + 2 * case.d_c * case.c
    biases, norms = case.d_s + case.s + case.d_c + case.c, 4 * case.c
    ours, ours_by_kind = parameters(case.layer), matrices + biases + norms
    return Trial(ours == ours_by_kind, {**case.symbols(), "parameters": ours, "of the three kinds": ours_by_kind})


@claim(st.sampled_from(list(TABLE_1)))
def mixer_table1(case: str, arithmetic: Arithmetic) -> Trial:
    """Every column of Table 1 has S = HW / P^2 at 224 x 224, D_S > S and D_C > C.

    Place: Sec. 2.1, paragraph on the parameters, and Table 1; 224 x 224 is in Sec. 2.2
    Printed: S = HW / P^2; D_S > S, D_C > C; Table 1
    Bound: none: integers are compared
    """
    # Hold a column's numbers against each other.
    row = TABLE_1[case]
    patches = 224 * 224 // row.patch**2
    shown = {"model": case, "P": row.patch, "S": row.s, "HW / P^2": patches}
    holds = row.s == patches and row.d_s > row.s and row.d_c > row.c
    return Trial(holds, {**shown, "D_S": row.d_s, "C": row.c, "D_C": row.d_c})


@claim(sizes(3))
def mixer_token_mixing_cost(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Token mixing takes 2 D_S S C operations.

    Read as: operations are multiply-accumulates; those of LayerNorm, biases, GELU and the skip connection are not
    counted.

    Place: Sec. 2.1, paragraph on complexity
    Printed: В token-mixing производятся действия над столбцами матрицы X, для всех каналов. Получим всего 2 D_S S C
        операций.
    Bound: none: the ledger of a forward pass is exact
    """
    # Hold the ledger against the printed product.
    ours = macs(lambda: case.layer().token_mixing, 1, case.s, case.c)
    printed = 2 * case.d_s * case.s * case.c
    return Trial(ours == printed, {**case.symbols(), "multiply-accumulates": ours, "2 D_S S C": printed})


@claim(sizes(3))
def mixer_channel_mixing_cost(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Channel mixing takes 2 D_C S C operations.

    Read as: operations are multiply-accumulates; those of LayerNorm, biases, GELU and the skip connection are not
    counted.

    Place: Sec. 2.1, paragraph on complexity
    Printed: Аналогично слой channel-mixing выполняет преобразования над строками входной матрицы для каждого патча.
        Всего имеем 2 D_C S C операций.
    Bound: none: the ledger of a forward pass is exact
    """
    # Hold the ledger against the printed product.
    ours = macs(lambda: case.layer().channel_mixing, 1, case.s, case.c)
    printed = 2 * case.d_c * case.s * case.c
    return Trial(ours == printed, {**case.symbols(), "multiply-accumulates": ours, "2 D_C S C": printed})


@dataclass(frozen=True)
class Growth:
    """A layer, and how many times more patches, or channels, it is to have."""

    sizes: Sizes
    times: int


@claim(st.builds(Growth, sizes(2), st.integers(2, 3)))
def mixer_cost_linear(case: Growth, arithmetic: Arithmetic) -> Trial:
    """MLP-Mixer's complexity is linear in the number of patches and in the number of channels.

    Read as: D_S and D_C stay as they are, since they are chosen independently of S and C; then k times the patches, or
    k times the channels, take k times the multiply-accumulates of a layer. mixer_hidden_widths tells what their
    inequalities do to this.

    Place: Sec. 2.1, paragraph on complexity
    Printed: Таким образом, получим, что вычислительная сложность MLP-Mixer линейна по количеству каналов и патчей.
    Bound: none: the ledger of a forward pass is exact
    """
    # Hold the ledgers of the larger layers against the layer's own.
    own = _cost(case.sizes)
    by_patches = _cost(replace(case.sizes, s=case.times * case.sizes.s))
    by_channels = _cost(replace(case.sizes, c=case.times * case.sizes.c))
    found = {"multiply-accumulates": own, "with k S patches": by_patches, "with k C channels": by_channels}
    return Trial(by_patches == by_channels == case.times * own, {**case.sizes.symbols(), "k": case.times, **found})


def _cost(sizes: Sizes) -> int:
    return macs(sizes.layer, 1, sizes.s, sizes.c)


@claim(st.tuples(st.integers(1, 3), st.integers(1, 3)))
def mixer_vit_quadratic(case: tuple[int, int], arithmetic: Arithmetic) -> Trial:
    """ViT's complexity is quadratic in S.

    Read as: the multiply-accumulates of a ViT layer, self-attention and an MLP on channels, are a polynomial of degree
    2 in S: equal steps of S change them by amounts that grow by the same amount 4 C > 0 each time. A Mixer layer's
    amounts do not grow.

    Place: Sec. 2.1, paragraph on complexity
    Printed: В то время, как ViT квадратичен по S.
    Bound: none: the ledger of a forward pass is exact
    """
    # Take second differences of both layers' ledgers, at S patches and C channels.
    s, c = case
    vit = second_differences([vit_layer_macs(n, c) for n in range(s, s + 4)])
    mixer = second_differences([_mixer_layer_macs(n, c) for n in range(s, s + 4)])
    shown = {"S": s, "C": c, "second differences of ViT": vit, "of Mixer": mixer}
    return Trial(vit == [4 * c] * 2 and mixer == [0] * 2, shown)


def _mixer_layer_macs(tokens: int, channels: int) -> int:
    return macs(lambda: MixerLayer(tokens, channels, 3, 4 * channels), 1, tokens, channels)
