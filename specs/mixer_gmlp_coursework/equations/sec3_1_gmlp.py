"""Sec. 3.1, the gMLP block and its shapes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.dependence import ONLY_CHANNELS, ONLY_TOKENS, depends, mixes
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.mixer import fill
from imlp_audit.equations.strategies import Matrix, matrices, plain, positive
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import GmlpBlock

from ._gmlp import Block, blocks, project, transposed
from ._order import linked_tokens
from ._shapes import Sizes, sizes


@claim(blocks(Gate.PRODUCT, (2,), positive(), positive(), widths=(2,), hidden=(2,)))
def gmlp_three_layers(case: Block, arithmetic: Arithmetic) -> Trial:
    """A gMLP block has three fully connected layers, and mixes channels, tokens and channels in turn.

    Read as: it has three weight matrices; U mixes channels only, W tokens only, V channels only.

    Place: Sec. 3.1, first paragraph
    Printed: В отличие от Mixer рассматриваемая архитектура имеет в каждом своём уровне 3 полносвязных слоя. Причём
        смешивания по каналам и токенам идут не чётко друг за другом, а попеременно.
    Bound: none: a number of layers, and derivatives that are exactly zero or are not
    """
    # Run the layers of the package's block one after the other.
    block = case.module(arithmetic, Gate.PRODUCT)
    matrices = [name for name, weight in block.named_parameters() if weight.ndim == 2]
    table = arithmetic.tensor(case.x)
    kinds = [mixes(layer, table) for layer in (block.u, block.sgu.proj, block.v)]
    holds = len(matrices) == 3 and kinds == [ONLY_CHANNELS, ONLY_TOKENS, ONLY_CHANNELS]
    return Trial(holds, {**case.shown(), "weight matrices": matrices, "what they mix": [str(kind) for kind in kinds]})


@claim(blocks(Gate.PRODUCT), proof=Proof("all numbers and any activation", Block.sizes))
def gmlp_block(case: Block, arithmetic: Arithmetic) -> Trial:
    """A gMLP block projects by U, applies GELU, gates, projects by V and adds its input, with the product unit.

    Read as: with U and V of the printed shapes, element by element; norms and biases left out, as the text says.

    Place: Sec. 3.1, equations of the block
    Printed: Z = GELU(X U), Z~ = s(Z), Y = Z~ V + X, U in R^{C x D_C}, V in R^{D_C x C}, s(Z) = Z * (W Z + b)
    Bound: that of X U times the largest slope of GELU, carried through s and the sums over S and D_C
    """
    # Hold the package's block against the printed formulas.
    x, u, v = (arithmetic.matrix(matrix) for matrix in (case.x, case.u, case.v))
    z = (x @ u).map(gelu)
    f = project(arithmetic.matrix(case.w), arithmetic.vector(case.b), z)
    printed = (z * f) @ v + x
    return equal(case.y(arithmetic, Gate.PRODUCT), printed, **case.shown())


@claim(st.tuples(st.sampled_from(Gate), sizes()))
def gmlp_keeps_shape(drawn: tuple[Gate, Sizes], arithmetic: Arithmetic) -> Trial:
    """Every gMLP layer takes a matrix of the same shape, S x C: what it gives has the shape of what it takes.

    Place: Sec. 3.1, last paragraph but one
    Printed: каждый слой gMLP, как и Mixer, рекуррентные нейронные сети и Трансформеры, принимает на вход матрицу одного
        и того же размера S x C
    Bound: none: numbers of rows and columns
    """
    # Give the package's block an S x C matrix.
    gate, case = drawn
    shape = tuple(case.block(gate)(torch.empty(1, case.s, case.c, device="meta")).shape[1:])
    return Trial(shape == (case.s, case.c), {"unit": f"s(Z) = {gate.formula}", **case.shown(), "shape of Y": shape})


@claim(sizes())
def gmlp_split_shapes(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """With the split unit too, U is C x D_C and V is D_C x C.

    Read as: the product s(Z) V exists, so V has as many rows as s(Z) = Z_1 * f(Z_2) has columns.

    Place: Sec. 3.1, shapes after the block's equations, for the s(Z) of the split that the text goes on with
    Printed: Z = GELU(X U), [...] Y = s(Z) V + X, [...] U in R^{C x D_C}, V in R^{D_C x C} [...] s(Z) = Z_1 * f(Z_2)
    Nearest: gmlp_split_shapes_corrected
    Bound: none: numbers of rows and columns
    """
    # Hold the columns of the unit's output against the rows of the printed V.
    gated = case.block(Gate.SPLIT).sgu(torch.empty(case.s, case.d_c, device="meta"))
    columns, rows = gated.shape[-1], case.d_c
    return Trial(columns == rows, {**case.shown(), "columns of s(Z)": columns, "rows of V": rows})


@claim(sizes())
def gmlp_split_shapes_corrected(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """With the split unit, U is C x D_C and V is D_C/2 x C, and the block keeps the shape of X.

    Place: Sec. 3.1, shapes after the block's equations, for the s(Z) of the split
    Corrected: Z = GELU(X U), Y = s(Z) V + X, U in R^{C x D_C}, V in R^{D_C/2 x C}, s(Z) = Z_1 * f(Z_2)
    Bound: none: numbers of rows and columns
    """
    # Hold the shapes of the package's block against the corrected ones.
    block = case.block(Gate.SPLIT)
    output = block(torch.empty(1, case.s, case.c, device="meta"))
    u, v = block.u.weight.T, block.v.weight.T
    holds = u.shape == (case.c, case.d_c) and v.shape == (case.d_c // 2, case.c)
    shown = {**case.shown(), "shape of U": tuple(u.shape), "shape of V": tuple(v.shape)}
    return Trial(holds and output.shape == (1, case.s, case.c), shown)


@dataclass(frozen=True)
class Steps:
    """X, U and V of a block."""

    x: Matrix
    u: Matrix
    v: Matrix

    def block(self, arithmetic: Arithmetic) -> GmlpBlock:
        """Return the package's block, its unit replaced."""
        tokens, width, hidden = len(self.x), len(self.x[0]), len(self.u[0])
        ones, zeros = (1.0,) * width, (0.0,) * width
        weights: dict[str, object] = {
            "norm.weight": ones,
            "norm.bias": zeros,
            "v.bias": zeros,
            "u.bias": (0.0,) * hidden,
        }
        weights |= {"u.weight": transposed(self.u), "v.weight": transposed(self.v)}
        return fill(lambda: _without_unit(GmlpBlock(width, hidden, tokens, Gate.PRODUCT)), weights, arithmetic)


def _without_unit(block: GmlpBlock) -> GmlpBlock:
    block.sgu = nn.Identity()  # type: ignore[assignment]
    return block


@claim(
    st.tuples(st.integers(2, 3), st.integers(1, 2)).flatmap(
        lambda size: st.builds(Steps, matrices(size[0], 2), matrices(2, size[1]), matrices(size[1], 2))
    )
)
def gmlp_other_steps_per_token(case: Steps, arithmetic: Arithmetic) -> Trial:
    """All of a gMLP block but its unit works on each token independently.

    Read as: with the identity in place of the unit, Y of token i depends on X of token i alone; the norm is left in.

    Place: Sec. 3.1, paragraph before the unit's equations
    Printed: Преобразования, описанные ранее, работают с каждым токеном независимо.
    Bound: none: a derivative is exactly zero or it is not
    """
    # Look for a derivative of one token's output by another token's input.
    links = depends(case.block(arithmetic), arithmetic.tensor(case.x)).any(3).any(1).tolist()
    others = [(i + 1, j + 1) for i, row in enumerate(links) for j, linked in enumerate(row) if linked and i != j]
    return Trial(not others, {"X": case.x, "U": case.u, "V": case.v, "token that depends on another, and that": others})


def _lower(case: Block) -> Block:
    """Leave out what is above the diagonal of W."""
    return replace(case, w=tuple((*row[: i + 1], *(0.0,) * (len(row) - i - 1)) for i, row in enumerate(case.w)))


@claim(plain(blocks(Gate.PRODUCT, (2, 3), positive(), positive())).map(_lower))
def gmlp_language_model(case: Block, arithmetic: Arithmetic) -> Trial:
    """With a lower triangular W, a gMLP block without cross-attention makes each token of itself and those before it
    alone.

    Token i depends on itself, on no later token, and on an earlier token j exactly where W_{ij} is not 0; tried on
    positive X, U, b and V, where no derivative vanishes by chance.

    Place: Sec. 4, last paragraph
    Corrected: for W_{ij} = 0 where j > i, dY_i / dX_j = 0 where j > i
    Bound: none: a derivative is exactly zero or it is not
    """
    # Hold which tokens depend on which against W.
    found = linked_tokens(case, arithmetic)
    tokens = range(len(case.x))
    said = [(i + 1, j + 1) for i in tokens for j in range(i + 1) if i == j or case.w[i][j]]
    return Trial(found == said, {**case.shown(), "token that depends on another, and that": found})
