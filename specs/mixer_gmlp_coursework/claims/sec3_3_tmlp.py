"""Sec. 3.3: tMLP, a Toeplitz matrix in the spatial gating unit; and the widths of Table 6."""

from operator import itemgetter

import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor, cat, nn, ones, zeros

from imlp_audit.claims import NONZERO, Sides, below, choice, claim_about, modules, parameters, size, tensors
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import GmlpBlock, SpatialGatingUnit, ToeplitzProjection, TokenProjection

from ._formulas import SMALL, agree, filled

S = size("S")
GATES = choice("gate", Gate.PRODUCT, Gate.SPLIT)
WIDTHS = GATES.map(lambda gate: 2 if gate is Gate.SPLIT else 1)
DIAGONALS = S.map(lambda S: 2 * S - 1)


def unit(w: Tensor, b: Tensor, gate: Gate) -> SpatialGatingUnit:
    """Return the package's unit with W_{ij} = w_{i-j} and one b for all tokens, without a norm."""
    S = len(w) // 2 + 1
    s = SpatialGatingUnit(2 if gate is Gate.SPLIT else 1, S, gate, ToeplitzProjection, nn.Identity)
    return filled(s, {"proj.weight": w, "proj.bias": b.expand(S)})


def shifted(Z: Tensor, by: int) -> Tensor:
    """Return T Z: its tokens moved towards the end, zeros in front of them; the last ones fall out."""
    return cat([0 * Z[:by], Z[: len(Z) - by]])


# tokens, and channels that f mixes; the last as wide as DeiT-Ti, on the longest texts of Sec. 3.3
SIZES = choice("(S, channels)", (1, 2), (2, 1), (3, 2), (128, 192))


def _unit(sizes: tuple[int, int], gate: Gate) -> SpatialGatingUnit:
    S, channels = sizes
    return SpatialGatingUnit(channels * (1 + (gate is Gate.SPLIT)), S, gate, ToeplitzProjection, nn.Identity)


def _input(sizes: tuple[int, int], gate: Gate) -> st.SearchStrategy[Tensor]:
    S, channels = sizes
    return tensors(2, S, channels * (1 + (gate is Gate.SPLIT)))


# words before as many zeros as they are moved by: none of them falls out
SHIFTS = choice("(S, shift)", (2, 1), (3, 1), (3, 2))
SIDES = SHIFTS.map(lambda shift: 2 * shift[0] - 1)
WORDS = tensors(SHIFTS.map(lambda shift: shift[0] - shift[1]), WIDTHS, values=NONZERO)
claim = claim_about(gate=GATES, b=tensors(), words=WORDS, w=tensors(SIDES), by=SHIFTS.map(itemgetter(1)))


@claim(
    Z=st.tuples(SIZES, GATES).flatmap(lambda drawn: _input(*drawn)),
    s=modules(_unit, SIZES, GATES, values=SMALL),
    share=0.3,
    place="Sec. 3.3, definition of tMLP",
    printed="gMLP всегда выучивает матрицу W в функции f(.) (SGU) подобной Тёплицевой матрице. [...] модель с этим "
    "ограничением именуется как tMLP.",
)
def tmlp_convolution(gate: Gate, Z: Tensor, s: SpatialGatingUnit) -> Sides:
    """With a Toeplitz W, f(Z) is a one-dimensional convolution of each channel, zeros beyond its ends, plus b.

    Read as: W_{ij} = w_{i-j}, so f(Z)_{ic} = sum_j w_{i-j} Z_{jc} + b; held against the product unit and the split one.
    """
    w, b, S = s.proj.weight, s.proj.bias, Z.shape[1]
    Z_1, Z_2 = Z.chunk(2, dim=-1) if gate is Gate.SPLIT else (Z, Z)
    # torch's convolution does not turn the kernel round
    mixed = F.conv1d(Z_2.mT.reshape(-1, 1, S), w.flip(0)[None, None], padding=S - 1)
    return agree(s, Z, Z_1 * (mixed.reshape_as(Z_2.mT).mT + b[:, None]))


@claim(
    S=st.integers(2, 128),
    place="Sec. 3.3, paragraph that introduces tMLP",
    printed="ограничение на тёплицевость позволяет существенно сократить количество обучаемых параметров",
)
def tmlp_fewer_weights(S: int) -> Sides:
    """A Toeplitz W takes far fewer trained weights than a full one.

    Read as: 2S - 1 instead of S^2, fewer than 2/S of them, for every S of two tokens or more; those of W alone.
    """
    full, toeplitz = TokenProjection(S).weight.numel(), ToeplitzProjection(S).weight.numel()
    return [(full, S**2), (toeplitz, 2 * S - 1), toeplitz < full, S * toeplitz < 2 * full]


def _with_zeros(words: Tensor, by: int) -> Tensor:
    return cat([words, words.new_zeros(by, words.shape[1])])


@claim(
    place="Sec. 3.3, paragraph that introduces tMLP",
    corrected="s(T Z) = T s(Z) for s(Z) = Z * f(Z) or Z_1 * f(Z_2), a shift T of the tokens, W_{ij} = w_{i-j}, b_i "
    "= b, and Z zero where T moves tokens out",
)
def tmlp_shift_equivariance(words: Tensor, w: Tensor, b: Tensor, gate: Gate, by: int) -> Sides:
    """A Toeplitz W makes a unit that multiplies equivariant to shifts of words towards the end: s(Z) moves with the
    words.

    Exactly so where there are zeros after the words, so that none of them falls out, and b is the same for all tokens.
    (The linear unit of Table 6 is not: its bias does not move.)
    """
    s, Z = unit(w, b, gate), _with_zeros(words, by)
    return s(shifted(Z, by)), shifted(s(Z), by)


@claim(
    Z=tensors(S, WIDTHS, values=NONZERO),
    w=tensors(DIAGONALS, values=NONZERO),
    examples=[{"Z": ones(2, 1), "w": ones(3), "b": zeros(()), "gate": Gate.PRODUCT}],
    place="Sec. 3.3, paragraph that introduces tMLP",
    printed="Это позволяет быть модели инвариантной к сдвигам слов.",
    nearest="tmlp_shift_equivariance",
)
def tmlp_shift_equivariance_at_ends(Z: Tensor, w: Tensor, b: Tensor, gate: Gate) -> Sides:
    """A Toeplitz W makes s(Z) move with the words of Z, whatever words fall out at the end of the text.

    Read as: s(T Z) = T s(Z) for a shift T by one token, any Z without zeros, one b for all tokens; T leaves zeros in
    front.
    """
    s = unit(w, b, gate)
    return s(shifted(Z, 1)), shifted(s(Z), 1)


@claim(
    Z=tensors(S, WIDTHS),
    w=tensors(S),
    place="Sec. 3.3, paragraph that introduces tMLP",
    corrected="s(T Z) = T s(Z) for a circular shift T of the tokens, W_{ij} = w_{i-j}, w_{k-S} = w_k, b_i = b",
)
def tmlp_circulant_equivariance(Z: Tensor, w: Tensor, b: Tensor, gate: Gate) -> Sides:
    """A Toeplitz W that goes around, w_{k-S} = w_k, makes s(Z) move with any Z whose tokens go around, no zeros
    needed.
    """
    s = unit(cat([w[1:], w]), b, gate)
    return s(Z.roll(1, 0)), s(Z).roll(1, 0)


@claim(
    w=tensors(SIDES, values=NONZERO),
    examples=[{"words": ones(1, 1), "w": ones(3), "b": zeros(()), "gate": Gate.PRODUCT, "by": 1}],
    place="Sec. 3.3, paragraph that introduces tMLP",
    printed="Это позволяет быть модели инвариантной к сдвигам слов.",
    nearest="tmlp_shift_equivariance",
)
def tmlp_shift_invariance(words: Tensor, w: Tensor, b: Tensor, gate: Gate, by: int) -> Sides:
    """A Toeplitz W makes the unit invariant to shifts of words: s(Z) stays as it is when the words of Z move.

    Read as: word for word, invariant, and in the most favourable case: zeros around the words, none of which falls out,
    and one b for all tokens.
    """
    s, Z = unit(w, b, gate), _with_zeros(words, by)
    return s(shifted(Z, by)), s(Z)


@claim(
    place="Sec. 3.3, paragraph that introduces tMLP",
    corrected="sum_i s(T Z)_{ic} = sum_i s(Z)_{ic} for a shift T of the tokens, W_{ij} = w_{i-j}, b_i = b, and Z "
    "zero where T moves tokens out",
)
def tmlp_pooled_shift_invariance(words: Tensor, w: Tensor, b: Tensor, gate: Gate, by: int) -> Sides:
    """With a Toeplitz W, the sum of s(Z) over the tokens is invariant to shifts of words, for a unit that multiplies.

    Exactly so where there are zeros around the words, none of them falls out, and b is the same for all tokens.
    """
    s, Z = unit(w, b, gate), _with_zeros(words, by)
    return s(shifted(Z, by)).sum(0), s(Z).sum(0)


# of Table 6, in millions
PARAMETERS = {Gate.LINEAR: 92, Gate.SUM: 92, Gate.PRODUCT: 92, Gate.SPLIT: 102}


def _of_the_blocks(gate: Gate, D_C: int) -> int:
    """Return the parameters of 36 blocks of C = 512 on texts of 128 tokens, the longest in Sec. 3.3."""
    return 36 * parameters(lambda: GmlpBlock(512, D_C, 128, gate))


@claim(
    gate=choice("gate", *PARAMETERS),
    place="Sec. 3.3, sentence before Table 6, and the table's last column",
    printed="Каждая gMLP модель имеет 36 блоков, C = 512 и D_C = 3072 [...] 92, 92, 92, 102",
    nearest="gmlp_table6_widths_corrected",
)
def gmlp_table6_widths(gate: Gate) -> Sides:
    """Every model of Table 6 has 36 blocks, C = 512 and D_C = 3072.

    Read as: for texts of 128 tokens, the parameters of these blocks alone, without embeddings, do not exceed the number
    that the table prints for the model, which is rounded to a million.
    """
    return below(_of_the_blocks(gate, D_C=3072), PARAMETERS[gate] * 1_000_000 + 500_000)


@claim(
    gate=choice("gate", Gate.LINEAR, Gate.SUM, Gate.PRODUCT),
    place="Sec. 3.3, sentence before Table 6, and the table's last column",
    corrected="D_C = 2048 in the rows s(Z) = f(Z), s(Z) = Z + f(Z) and s(Z) = Z * f(Z)",
)
def gmlp_table6_widths_corrected(gate: Gate) -> Sides:
    """The models of Table 6 without a split have 36 blocks, C = 512 and D_C = 2048.

    Their blocks on texts of 128 tokens, and embeddings of 30 thousand tokens, have the parameters that the table
    prints.
    """
    model = _of_the_blocks(gate, D_C=2048) + 30_000 * 512
    return below(abs(model - PARAMETERS[gate] * 1_000_000), 500_000)
