"""Sec. 3.1 and Sec. 4: the gMLP block, its shapes, and how it starts."""

from operator import itemgetter

import torch
import torch.nn.functional as F
from torch import Tensor, eye, nn

from imlp_audit.claims import NONZERO, POSITIVE, Sides, choice, claim_about, depends, mixes, modules, size, tensors
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import GmlpBlock, SpatialGatingUnit, TokenProjection

from ._formulas import SMALL, agree, block_output, filled

S, C, D_C, HALF = size("S", 1, 2), size("C", 1, 2), size("D_C", 1, 2), size("D_C / 2", 1, 2)
EVEN = HALF.map(lambda half: 2 * half)
SEVERAL = size("S", 2, 3)


def block_of(U: Tensor, W: Tensor, b: Tensor, V: Tensor, gate: Gate = Gate.PRODUCT) -> GmlpBlock:
    """Return the package's block with these weights; norms and the biases of U and V are left out, as printed."""
    C, D_C = U.shape
    block = GmlpBlock(C, D_C, len(W), gate, norm_layer=nn.Identity)
    biases = {"u.bias": torch.zeros_like(U[0]), "v.bias": torch.zeros_like(V[0])}
    return filled(block, {"u.weight": U.T, "v.weight": V.T, "sgu.proj.weight": W, "sgu.proj.bias": b, **biases})


claim = claim_about(X=tensors(2, S, C), S=S, C=C, D_C=EVEN)


@claim(
    X=tensors(2, 2, values=NONZERO),
    U=tensors(2, 2, values=NONZERO),
    W=tensors(2, 2, values=NONZERO),
    b=tensors(2),
    V=tensors(2, 2, values=NONZERO),
    place="Sec. 3.1, first paragraph",
    printed="В отличие от Mixer рассматриваемая архитектура имеет в каждом своём уровне 3 полносвязных слоя. Причём "
    "смешивания по каналам и токенам идут не чётко друг за другом, а попеременно.",
)
def gmlp_three_layers(X: Tensor, U: Tensor, W: Tensor, b: Tensor, V: Tensor) -> Sides:
    """A gMLP block has three fully connected layers, and mixes channels, tokens and channels in turn.

    Read as: it has three weight matrices; U mixes channels only, W tokens only, V channels only.
    """
    block = block_of(U, W, b, V)
    matrices = [weight for weight in block.parameters() if weight.ndim == 2]
    mixed = [mixes(layer, X) for layer in (block.u, block.sgu.proj, block.v)]
    return [(len(matrices), 3), mixed == [{"channels"}, {"tokens"}, {"channels"}]]


@claim(
    U=tensors(C, D_C),
    W=tensors(S, S),
    b=tensors(S),
    V=tensors(D_C, C),
    place="Sec. 3.1, equations of the block",
    printed="Z = GELU(X U), Z~ = s(Z), Y = Z~ V + X, U in R^{C x D_C}, V in R^{D_C x C}, s(Z) = Z * (W Z + b)",
)
def gmlp_block(X: Tensor, U: Tensor, W: Tensor, b: Tensor, V: Tensor) -> Sides:
    """A gMLP block projects by U, applies GELU, gates, projects by V and adds its input, with the product unit.

    Read as: with U and V of the printed shapes, element by element; norms and biases left out, as the text says.
    """
    Z = F.gelu(X @ U)
    Y = (Z * (W @ Z + b[:, None])) @ V + X
    return block_of(U, W, b, V)(X), Y


@claim(
    X=tensors(2, S, 2),
    block=modules(GmlpBlock, 2, EVEN, S, choice("gate", *Gate)),
    place="Sec. 3.1, last paragraph but one",
    printed="каждый слой gMLP, как и Mixer, рекуррентные нейронные сети и Трансформеры, принимает на вход матрицу "
    "одного и того же размера S x C",
)
def gmlp_keeps_shape(X: Tensor, block: GmlpBlock) -> Sides:
    """Every gMLP layer takes a matrix of the same shape, S x C: what it gives has the shape of what it takes."""
    Y: Tensor = block(X)
    return Y.shape == X.shape


@claim(
    examples=[{"S": 1, "C": 1, "D_C": 2}],
    place="Sec. 3.1, shapes after the block's equations, for the s(Z) of the split that the text goes on with",
    printed="Z = GELU(X U), [...] Y = s(Z) V + X, [...] U in R^{C x D_C}, V in R^{D_C x C} [...] s(Z) = Z_1 * f(Z_2)",
    nearest="gmlp_split_shapes_corrected",
)
def gmlp_split_shapes(S: int, C: int, D_C: int) -> Sides:
    """With the split unit too, U is C x D_C and V is D_C x C.

    Read as: the product s(Z) V exists, so V has as many rows as s(Z) = Z_1 * f(Z_2) has columns.
    """
    gated = GmlpBlock(C, D_C, S, Gate.SPLIT).sgu(torch.zeros(S, D_C))
    return gated.shape[-1], D_C  # columns of s(Z), rows of V


@claim(
    place="Sec. 3.1, shapes after the block's equations, for the s(Z) of the split",
    corrected="Z = GELU(X U), Y = s(Z) V + X, U in R^{C x D_C}, V in R^{D_C/2 x C}, s(Z) = Z_1 * f(Z_2)",
)
def gmlp_split_shapes_corrected(S: int, C: int, D_C: int) -> Sides:
    """With the split unit, U is C x D_C and V is D_C/2 x C, the block keeps the shape of X, an odd D_C is refused."""
    block = GmlpBlock(C, D_C, S, Gate.SPLIT)
    U, V = block.u.weight.T, block.v.weight.T
    keeps_shape = block(torch.zeros(1, S, C)).shape == (1, S, C)
    return U.shape == (C, D_C) and V.shape == (D_C // 2, C) and keeps_shape and not _can_split(D_C + 1)


def _can_split(D_C: int) -> bool:
    try:
        SpatialGatingUnit(D_C, 1, Gate.SPLIT)
    except ValueError:
        return False
    return True


def _without_unit(C: int, D_C: int, S: int) -> GmlpBlock:
    block = GmlpBlock(C, D_C, S, Gate.PRODUCT)
    block.sgu = nn.Identity()  # type: ignore[assignment]
    return block


@claim(
    X=tensors(SEVERAL, 2),
    block=modules(_without_unit, 2, D_C, SEVERAL),
    place="Sec. 3.1, paragraph before the unit's equations",
    printed="Преобразования, описанные ранее, работают с каждым токеном независимо.",
)
def gmlp_other_steps_per_token(X: Tensor, block: GmlpBlock) -> Sides:
    """All of a gMLP block but its unit works on each token independently.

    Read as: with the identity in place of the unit, Y of token i depends on X of token i alone; the norm is left in.
    """
    links = depends(block, X).any(3).any(1)
    return not (links & ~eye(len(X), dtype=torch.bool)).any()


@claim(
    X=tensors(SEVERAL, C, values=POSITIVE),
    U=tensors(C, D_C, values=POSITIVE),
    W=tensors(SEVERAL, SEVERAL).map(lambda W: W.tril().abs()),
    b=tensors(SEVERAL, values=POSITIVE),
    V=tensors(D_C, C, values=POSITIVE),
    place="Sec. 4, last paragraph",
    corrected="for W_{ij} = 0 where j > i, dY_i / dX_j = 0 where j > i",
)
def gmlp_language_model(X: Tensor, U: Tensor, W: Tensor, b: Tensor, V: Tensor) -> Sides:
    """With a lower triangular W, a gMLP block without cross-attention makes each token of itself and those before it
    alone.

    Token i depends on itself, on no later token, and on an earlier token j exactly where W_{ij} is not 0; tried on
    positive X, U, b and V, where no derivative vanishes by chance.
    """
    links = depends(block_of(U, W, b, V), X).any(3).any(1)
    return links, (W != 0) | eye(len(X), dtype=torch.bool)


@claim(
    gate=choice("gate", Gate.PRODUCT, Gate.SPLIT),
    U=tensors(C, EVEN),
    V=tensors(EVEN, C),
    place="Sec. 3.1, paragraph on initialisation",
    printed="То есть полносвязный блок на начальных стадиях обучения становится похож на обычный полносвязный слой "
    "в блоках Трансформеров.",
)
def gmlp_starts_as_transformer_ffn(gate: Gate, X: Tensor, U: Tensor, V: Tensor) -> Sides:
    """At the start of training a gMLP block is the fully connected block of a Transformer, GELU(X U) V + X.

    Read as: exactly so at W = 0 and with the b that the unit is initialised with; with the split unit, U is that of
    Z_1.
    """
    width, S = gate.width(len(V)), X.shape[1]
    U_1, V = U[:, :width], V[:width]
    block = block_of(U, W=X.new_zeros(S, S), b=TokenProjection(S).bias.double(), V=V, gate=gate)
    return block(X), F.gelu(X @ U_1) @ V + X


# small, and as wide as DeiT-Ti
SIZES = choice("(S, C, D_C, d_attn)", (2, 2, 4, 1), (3, 3, 6, 4), (1, 2, 2, 1), (196, 192, 384, 64))
TOKENS, WIDTH, HIDDEN, ATTENTION = (SIZES.map(itemgetter(i)) for i in range(4))
TABLES = tensors(2, TOKENS, WIDTH)


def _amlp(C: int, D_C: int, S: int, d_attn: int) -> GmlpBlock:
    return GmlpBlock(C, D_C, S, d_attn=d_attn)


@claim(
    X=TABLES,
    block=modules(GmlpBlock, WIDTH, HIDDEN, TOKENS, values=SMALL),
    tolerance=1e-8,
    because="a LayerNorm can enlarge the rounding of nearly equal numbers a thousandfold",
    share=0.3,
    place="Sec. 3.1, after s(Z) = Z_1 * f(Z_2)",
    printed="Также в данной архитектуре используются сдвиги, нормировки по каналам и механизмы пробрасывания "
    "связей, которые ранее не были выписаны, чтобы не загромождать формулы",
)
def gmlp_norms_and_shifts(X: Tensor, block: GmlpBlock) -> Sides:
    """A gMLP block has biases, norms over channels and a skip, which the formulas leave out.

    Read as: a LayerNorm, with any learned scale and shift, before U and one of Z_2 before f; a bias of U and of V.
    """
    return agree(block, X, block_output(X, block, Gate.SPLIT))


@claim(
    X=TABLES,
    block=modules(_amlp, WIDTH, HIDDEN, TOKENS, ATTENTION, values=SMALL),
    tolerance=1e-8,
    because="a LayerNorm can enlarge the rounding of nearly equal numbers a thousandfold",
    share=0.3,
    place="Sec. 3.4, Fig. 4",
    corrected="Y = (Z_1 * (f(norm(Z_2)) + tiny_attn(norm(X), D_C / 2))) V + X, Z = GELU(norm(X) U)",
)
def amlp_block(X: Tensor, block: GmlpBlock) -> Sides:
    """An aMLP block adds the tiny attention to the gate: s(Z) = Z_1 * (f(Z_2) + attention(X)).

    Read as: the attention is that of the block's normed input, with d_attn = 1, as Fig. 4 shows it.
    """
    return [block.attention is not None, *agree(block, X, block_output(X, block, Gate.SPLIT))]
