"""Sec. 3.1 and Table 6: the spatial gating unit."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import torch
from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.mixer import fill
from imlp_audit.equations.strategies import NUMBERS, Matrix, matrices, nonzero, plain, positive, vectors
from imlp_audit.errors import BuildError
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import SpatialGatingUnit, TokenProjection
from imlp_audit.models.hosts import Gmlp, GmlpText
from imlp_audit.models.text import build_gmlp_text

from ._gmlp import Gating, all_hold, gatings
from ._text_networks import text_reading


@claim(gatings(), proof=Proof("all numbers", Gating.sizes))
def sgu_projection(case: Gating, arithmetic: Arithmetic) -> Trial:
    """The spatial projection multiplies each channel's tokens by W and adds b; read as: b has one number for each
    token.

    Place: Sec. 3.1, first equation of the spatial gating unit
    Printed: f(Z) = W Z + b
    Bound: gamma_{S+1} times the sum of the magnitudes
    """
    # Hold the package's projection against the printed sum.
    projection = fill(lambda: TokenProjection(len(case.b)), {"weight": case.w, "bias": case.b}, arithmetic)
    printed = case.f(arithmetic, arithmetic.matrix(case.z))
    return equal(projection(arithmetic.tensor(case.z)), printed, **case.shown())


@claim(gatings(), proof=Proof("all numbers", Gating.sizes))
def sgu_product(case: Gating, arithmetic: Arithmetic) -> Trial:
    """The product unit multiplies its input by its spatial projection, element by element.

    Place: Sec. 3.1, second equation of the spatial gating unit; Table 6, third row
    Printed: s(Z) = Z * f(Z), f(Z) = W Z + b
    Bound: gamma_{S+2} times the sum of the magnitudes
    """
    # Hold the package's unit against the printed formula.
    z = arithmetic.matrix(case.z)
    printed = z * case.f(arithmetic, z)
    return equal(case.s(arithmetic, Gate.PRODUCT), printed, **case.shown())


@claim(gatings(channels=(2, 4)), proof=Proof("all numbers", Gating.sizes))
def sgu_split(case: Gating, arithmetic: Arithmetic) -> Trial:
    """The split unit multiplies one half of its channels by the spatial projection of the other half.

    Place: Sec. 3.1, equation after the split; Table 6, fourth row
    Printed: s(Z) = Z_1 * f(Z_2), Z = (Z_1, Z_2) split by channels, f(Z) = W Z + b
    Bound: gamma_{S+2} times the sum of the magnitudes
    """
    # Hold the package's unit against the printed formula.
    z = arithmetic.matrix(case.z)
    half = len(z[0]) // 2
    z1, z2 = z.map_rows(lambda row: row[:half]), z.map_rows(lambda row: row[half:])
    printed = z1 * case.f(arithmetic, z2)
    return equal(case.s(arithmetic, Gate.SPLIT), printed, **case.shown())


def _cases() -> st.Strategy[Gating]:
    return st.tuples(st.integers(1, 2), st.sampled_from((2, 4))).flatmap(
        lambda size: st.builds(
            Gating,
            matrices(*size, positive()),
            matrices(size[0], size[0], positive()),
            vectors(size[0], positive()),
        )
    )


@claim(plain(_cases()))
def sgu_split_parts(case: Gating, arithmetic: Arithmetic) -> Trial:
    """The split unit works on two parts of Z that share no channel: half the channels gate, the other half are mixed.

    Read as: s(Z)_{ic} depends on one entry of Z_1, that of token i and channel c, and on channel c of Z_2, for every
    token. Tried on positive numbers, where no derivative vanishes by chance.

    Place: Sec. 3.1, sentence before the split's equation
    Printed: можно разбить по каналам матрицу Z, которая приходит на вход SGU, на две независимые части (Z_1, Z_2)
    Bound: none: a derivative is exactly zero or it is not
    """
    # Hold which derivatives of the package's unit are not zero against the two parts.
    tokens, channels = len(case.z), len(case.z[0])
    found = depends(case.unit(arithmetic, Gate.SPLIT), arithmetic.tensor(case.z)).tolist()

    def said(i: int, c: int, j: int, k: int) -> bool:
        return (i, c) == (j, k) or k == channels // 2 + c

    return all_hold(
        Trial(
            found[i][c][j][k] == said(i, c, j, k),
            {**case.shown(), f"d s_{i + 1},{c + 1} / d Z_{j + 1},{k + 1} is not zero": found[i][c][j][k]},
        )
        for i, c, j, k in product(range(tokens), range(channels // 2), range(tokens), range(channels))
    )


@claim(gatings(), proof=Proof("all numbers", Gating.sizes))
def sgu_linear(case: Gating, arithmetic: Arithmetic) -> Trial:
    """The linear unit is the spatial projection itself.

    Place: Table 6, first row
    Printed: s(Z) = f(Z), f(Z) = W Z + b
    Bound: gamma_{S+1} times the sum of the magnitudes
    """
    # Hold the package's unit against the printed formula.
    z = arithmetic.matrix(case.z)
    printed = case.f(arithmetic, z)
    return equal(case.s(arithmetic, Gate.LINEAR), printed, **case.shown())


@claim(gatings(), proof=Proof("all numbers", Gating.sizes))
def sgu_sum(case: Gating, arithmetic: Arithmetic) -> Trial:
    """The sum unit adds the spatial projection to its input.

    Place: Table 6, second row
    Printed: s(Z) = Z + f(Z), f(Z) = W Z + b
    Bound: gamma_{S+2} times the sum of the magnitudes
    """
    # Hold the package's unit against the printed formula.
    z = arithmetic.matrix(case.z)
    printed = z + case.f(arithmetic, z)
    return equal(case.s(arithmetic, Gate.SUM), printed, **case.shown())


@claim(st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 2)))
def sgu_square_matrix(case: tuple[int, int, int], arithmetic: Arithmetic) -> Trial:
    """W is square, S x S, because one linear layer over the tokens must keep their number.

    Read as: for W of m rows and S columns, W Z has the shape of Z exactly where m = S, and the package's W has that
    shape.

    Place: Sec. 3.1, sentence after the unit's equations
    Printed: из-за необходимости сохранять размерность (для s(.)), матрица W должна быть квадратной. То есть W in R^{S x
        S}
    Bound: none: numbers of rows and columns
    """
    # Multiply a Z of S tokens by a W of m rows.
    m, tokens, channels = case
    with torch.device("meta"):
        z = torch.empty(tokens, channels)
        keeps = (torch.empty(m, tokens) @ z).shape == z.shape
        ours = TokenProjection(tokens).matrix().shape
    shown = {"rows of W": m, "S": tokens, "D_C": channels, "shape kept": keeps, "shape of our W": tuple(ours)}
    return Trial(keeps == (m == tokens) and ours == (tokens, tokens), shown)


@claim(st.tuples(st.integers(1, 4), st.integers(1, 4), st.sampled_from(Gate)))
def sgu_fixed_length(case: tuple[int, int, Gate], arithmetic: Arithmetic) -> Trial:
    """W is made for one sequence length: a unit made for S tokens refuses a sequence of another length.

    Place: Sec. 3.1, sentence after the unit's equations
    Printed: W in R^{S x S}, S - длина последовательности
    Bound: none: the module refuses or it does not
    """
    # Give a unit made for S tokens another number of them.
    made_for, given, gate = case
    unit = arithmetic.place(SpatialGatingUnit(2, made_for, gate))
    accepted = _accepts(unit, arithmetic.tensor(((0.0, 0.0),) * given))
    return Trial(accepted == (made_for == given), {"S": made_for, "tokens given": given, "accepted": accepted})


def _accepts(unit: nn.Module, z: Tensor) -> bool:
    try:
        unit(z)
    except RuntimeError:  # what torch raises where shapes do not fit
        return False
    return True


@claim(plain(st.tuples(st.sampled_from(Gate), gatings(channels=(2,), elements=nonzero()))))
def sgu_mixes_tokens(drawn: tuple[Gate, Gating], arithmetic: Arithmetic) -> Trial:
    """The unit takes the relations between tokens into account.

    Read as: s(Z) of token i depends on another token j exactly where W_{ij} is not 0, for a Z without zeros.

    Place: Sec. 3.1, paragraph on positional encoding
    Printed: Блок SGU, используя проекции по патчам, способен учитывать взаимосвязи [...] токенов.
    Bound: none: a derivative is exactly zero or it is not
    """
    # Hold which tokens the package's unit links against W.
    gate, case = drawn
    links = depends(case.unit(arithmetic, gate), arithmetic.tensor(case.z)).any(3).any(1).tolist()
    tokens = range(len(case.z))
    return all_hold(
        Trial(
            links[i][j] == (case.w[i][j] != 0),
            {"unit": f"s(Z) = {gate.formula}", **case.shown(), f"token {i + 1} depends on token {j + 1}": links[i][j]},
        )
        for i in tokens
        for j in tokens
        if i != j
    )


def _all_different(tokens: int) -> st.Strategy[Matrix]:
    """Matrices whose entries all differ."""
    entries = st.permutations(NUMBERS).map(lambda numbers: numbers[: tokens * tokens])
    return entries.map(lambda row: tuple(tuple(row[i * tokens : (i + 1) * tokens]) for i in range(tokens)))


@claim(st.integers(2, 3).flatmap(_all_different))
def sgu_sees_positions(w: Matrix, arithmetic: Arithmetic) -> Trial:
    """The unit takes the positions of tokens into account, without a positional encoding.

    Read as: where W treats two tokens differently, exchanging them in Z does not just exchange them in f(Z); tried on Z
    of one channel, with one token 1 and the others 0.

    Place: Sec. 3.1, paragraph on positional encoding
    Printed: gMLP не использует позиционное кодирование, так как данная техника является излишней. Блок SGU, используя
        проекции по патчам, способен учитывать [...] местоположения токенов.
    Bound: none: every number is a multiple of 1/4, and no sum rounds
    """
    # Exchange the first two tokens of every Z that has a single 1, before and after f.
    tokens = len(w)
    f = fill(lambda: TokenProjection(tokens), {"weight": w, "bias": (1.0,) * tokens}, arithmetic)
    single = arithmetic.tensor([[[float(i == j)] for i in range(tokens)] for j in range(tokens)])
    exchanged = [1, 0, *range(2, tokens)]
    sees = bool((f(single[:, exchanged]) != f(single)[:, exchanged]).any())
    return Trial(sees, {"W": w, "b": (1.0,) * tokens, "f(Z) tells the first two tokens apart": sees})


@claim(st.tuples(st.sampled_from(Gate), st.integers(1, 6)))
def sgu_split_even_width(case: tuple[Gate, int], arithmetic: Arithmetic) -> Trial:
    """Only an even D_C can be split into Z_1 and Z_2; the other units of Table 6 take any D_C.

    Read as: both parts are of the same width, since they are multiplied element by element; the package refuses to
    build a split unit, and a network with split units for images or for texts, of an odd D_C, wherever D_C is given.

    Place: Sec. 3.1, sentence before the split's equation
    Printed: можно разбить по каналам матрицу Z, которая приходит на вход SGU, на две независимые части (Z_1, Z_2)
    Bound: none: a unit is built or refused
    """
    # Build units and networks, with D_C given by the network's sizes and by the reading.
    gate, hidden = case
    printed = gate is not Gate.SPLIT or hidden % 2 == 0
    reading = text_reading(2, hidden)
    found = {
        "unit": _is_built(lambda: SpatialGatingUnit(hidden, 2, gate), ValueError),
        "images": _is_built(lambda: Gmlp(layers=1, patch=1, width=2, hidden=hidden, gate=gate), ValueError),
        "texts": _is_built(lambda: GmlpText(layers=1, width=2, hidden=hidden, gate=gate), ValueError),
        "texts, D_C of the reading": _is_built(
            lambda: build_gmlp_text(reading, None, layers=1, width=2, gate=gate), BuildError
        ),
    }
    return Trial(all(built is printed for built in found.values()), {"unit": gate.formula, "D_C": hidden, **found})


def _is_built(build: Callable[[], object], refusal: type[Exception]) -> bool:
    try:
        build()
    except refusal:
        return False
    return True
