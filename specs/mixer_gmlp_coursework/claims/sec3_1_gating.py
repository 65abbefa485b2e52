"""Sec. 3.1 and Table 6: the spatial gating unit, and how it starts."""

from functools import partial

import torch
from hypothesis import assume
from hypothesis import strategies as st
from torch import Tensor, cat, einsum, eye, nn, ones

from imlp_audit.claims import NONZERO, POSITIVE, Sides, below, choice, claim, depends, jacobian, modules, size, tensors
from imlp_audit.models.available_hosts import GmlpText
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import SpatialGatingUnit, TokenProjection
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.new_modules import is_normal, keeps_type, starts_as_torchs
from imlp_audit.models.readings import OutputLayer, Presence, SpatialMatrix, TextReading

from ._formulas import SMALL, filled

S, C, HALF = size("S", 1, 3), size("C", 1, 2), size("D_C / 2", 1, 2)
D_C = HALF.map(lambda half: 2 * half)
SEVERAL = size("S", 2, 3)
GATES = choice("gate", *Gate)


def unit(gate: Gate, channels: int, S: int) -> SpatialGatingUnit:
    """Return the package's unit without a norm, as the formulas have it."""
    return SpatialGatingUnit(channels, S, gate, norm_layer=nn.Identity)


def _f(s: SpatialGatingUnit, Z: Tensor) -> Tensor:
    W, b = s.proj.weight, s.proj.bias
    return W @ Z + b[:, None]


@claim(
    Z=tensors(2, S, C),
    f=modules(TokenProjection, S),
    place="Sec. 3.1, first equation of the spatial gating unit",
    printed="f(Z) = W Z + b",
)
def sgu_projection(Z: Tensor, f: TokenProjection) -> Sides:
    """The spatial projection multiplies each channel's tokens by W and adds b; read as: b has one number for each
    token.
    """
    W, b = f.weight, f.bias
    return f(Z), einsum("ij,njc->nic", W, Z) + b[:, None]


@claim(
    Z=tensors(2, S, C),
    s=modules(unit, Gate.PRODUCT, C, S),
    place="Sec. 3.1, second equation of the spatial gating unit; Table 6, third row",
    printed="s(Z) = Z * f(Z), f(Z) = W Z + b",
)
def sgu_product(Z: Tensor, s: SpatialGatingUnit) -> Sides:
    """The product unit multiplies its input by its spatial projection, element by element."""
    return s(Z), Z * _f(s, Z)


@claim(
    Z=tensors(2, S, D_C),
    s=modules(unit, Gate.SPLIT, D_C, S),
    place="Sec. 3.1, equation after the split; Table 6, fourth row",
    printed="s(Z) = Z_1 * f(Z_2), Z = (Z_1, Z_2) split by channels, f(Z) = W Z + b",
)
def sgu_split(Z: Tensor, s: SpatialGatingUnit) -> Sides:
    """The split unit multiplies one half of its channels by the spatial projection of the other half."""
    half = Z.shape[-1] // 2
    Z_1, Z_2 = Z[..., :half], Z[..., half:]
    return s(Z), Z_1 * _f(s, Z_2)


@claim(
    Z=tensors(S, D_C, values=POSITIVE),
    s=modules(unit, Gate.SPLIT, D_C, S, values=POSITIVE),
    place="Sec. 3.1, sentence before the split's equation",
    printed="можно разбить по каналам матрицу Z, которая приходит на вход SGU, на две независимые части (Z_1, Z_2)",
)
def sgu_split_parts(Z: Tensor, s: SpatialGatingUnit) -> Sides:
    """The split unit works on two parts of Z that share no channel: half the channels gate, the other half are mixed.

    Read as: s(Z)_{ic} depends on one entry of Z_1, that of token i and channel c, and on channel c of Z_2, for every
    token. Tried on positive numbers, where no derivative vanishes by chance.
    """
    tokens, channels = map(eye, Z.shape)
    own, mixed = channels.chunk(2)  # rows c with a 1 at k = c, and at k = D_C / 2 + c
    said = einsum("ij,ck->icjk", tokens, own) + einsum("ij,ck->icjk", torch.ones_like(tokens), mixed)
    return depends(s, Z), said > 0


@claim(
    Z=tensors(2, S, C),
    s=modules(unit, Gate.LINEAR, C, S),
    place="Table 6, first row",
    printed="s(Z) = f(Z), f(Z) = W Z + b",
)
def sgu_linear(Z: Tensor, s: SpatialGatingUnit) -> Sides:
    """The linear unit is the spatial projection itself."""
    return s(Z), _f(s, Z)


@claim(
    Z=tensors(2, S, C),
    s=modules(unit, Gate.SUM, C, S),
    place="Table 6, second row",
    printed="s(Z) = Z + f(Z), f(Z) = W Z + b",
)
def sgu_sum(Z: Tensor, s: SpatialGatingUnit) -> Sides:
    """The sum unit adds the spatial projection to its input."""
    return s(Z), Z + _f(s, Z)


@claim(
    m=size("m"),
    S=S,
    D_C=size("D_C", 1, 2),
    place="Sec. 3.1, sentence after the unit's equations",
    printed="из-за необходимости сохранять размерность (для s(.)), матрица W должна быть квадратной. То есть W in "
    "R^{S x S}",
)
def sgu_square_matrix(m: int, S: int, D_C: int) -> Sides:
    """W is square, S x S, because one linear layer over the tokens must keep their number.

    Read as: for W of m rows and S columns, W Z has the shape of Z exactly where m = S, and the package's W has that
    shape.
    """
    Z = ones(S, D_C)
    keeps_shape = (ones(m, S) @ Z).shape == Z.shape
    return [keeps_shape == (m == S), TokenProjection(S).matrix().shape == (S, S)]


@claim(
    made_for=S,
    Z=tensors(size("tokens", 1, 3), 2),
    gate=GATES,
    place="Sec. 3.1, sentence after the unit's equations",
    printed="W in R^{S x S}, S - длина последовательности",
)
def sgu_fixed_length(made_for: int, Z: Tensor, gate: Gate) -> Sides:
    """W is made for one sequence length: a unit made for S tokens refuses a sequence of another length."""
    try:
        SpatialGatingUnit(2, made_for, gate).double()(Z)
    except RuntimeError:  # what torch raises where shapes do not fit
        return len(Z) != made_for
    return len(Z) == made_for


@claim(
    Z=tensors(S, 2, values=NONZERO),
    s=modules(unit, GATES, 2, S),
    place="Sec. 3.1, paragraph on positional encoding",
    printed="Блок SGU, используя проекции по патчам, способен учитывать взаимосвязи [...] токенов.",
)
def sgu_mixes_tokens(Z: Tensor, s: SpatialGatingUnit) -> Sides:
    """The unit takes the relations between tokens into account.

    Read as: s(Z) of token i depends on another token j exactly where W_{ij} is not 0, for a Z without zeros.
    """
    other = ~eye(len(Z), dtype=torch.bool)
    return depends(s, Z).any(3).any(1) & other, (s.proj.weight != 0) & other


@claim(
    W=tensors(SEVERAL, SEVERAL),
    examples=[{"W": W} for W in (eye(2), ones(2, 2), eye(3)[[1, 0, 2]], eye(3)[[0, 2, 1]])],
    place="Sec. 3.1, paragraph on positional encoding",
    printed="gMLP не использует позиционное кодирование, так как данная техника является излишней. Блок SGU, "
    "используя проекции по патчам, способен учитывать [...] местоположения токенов.",
)
def sgu_sees_positions(W: Tensor) -> Sides:
    """The unit takes the positions of tokens into account, without a positional encoding.

    Read as: where W treats two tokens differently, exchanging them in Z does not just exchange them in f(Z); tried on Z
    of one channel, with one token 1 and the others 0.
    """
    exchanged = [1, 0, *range(2, len(W))]
    assume(not torch.equal(W[exchanged][:, exchanged], W))
    f = filled(TokenProjection(len(W)), {"weight": W, "bias": torch.ones_like(W[0])})
    single = torch.eye(len(W), dtype=W.dtype)[:, :, None]
    return not torch.equal(f(single[:, exchanged]), f(single)[:, exchanged])


NEAR = choice("near", (0.0, 0.0), (2.0**-10, 2.0**-20), (2.0**-20, 2.0**-10))


@claim(
    Z=tensors(S, C),
    W=tensors(S, S, values=SMALL),
    b=tensors(S, values=SMALL),
    near=NEAR,
    place="Sec. 3.1, paragraph on initialisation",
    printed="Изначально W инициализируется значениями близкими к нулю, а b к единице. Таким образом получается, что "
    "на первых шагах обучения f(Z) ~ 1 => s(Z) ~ Z",
)
def sgu_starts_near_identity(Z: Tensor, W: Tensor, b: Tensor, near: tuple[float, float]) -> Sides:
    """With W near 0 and b near 1, f(Z) is near 1 and s(Z) near Z.

    Read as: where no |W_{ij}| exceeds epsilon and no |b_i - 1| exceeds delta, f(Z)_{ic} differs from 1 by at most delta
    + epsilon sum_j |Z_{jc}|, and s(Z)_{ic} from Z_{ic} by at most |Z_{ic}| times that: with both 0, by nothing.
    """
    epsilon, delta = near
    s = filled(unit(Gate.PRODUCT, Z.shape[1], len(Z)), {"proj.weight": epsilon * W, "proj.bias": 1 + delta * b})
    near_one = delta + epsilon * Z.abs().sum(0)
    return [
        (s(Z), Z * _f(s, Z)),
        below((s.proj(Z) - 1).abs(), near_one.expand_as(Z)),
        below((s(Z) - Z).abs(), Z.abs() * near_one),
    ]


@claim(
    Z=tensors(SEVERAL, C),
    W=tensors(SEVERAL, SEVERAL, values=SMALL),
    b=tensors(SEVERAL, values=SMALL),
    near=NEAR,
    place="Sec. 3.1, paragraph on initialisation",
    printed="Такая инициализация позволяет обрабатывать все токены независимо друг от друга.",
)
def sgu_starts_token_by_token(Z: Tensor, W: Tensor, b: Tensor, near: tuple[float, float]) -> Sides:
    """With W near 0, the unit treats tokens nearly independently of each other, and with W = 0 exactly so.

    Read as: s(Z)_{ic} changes with another token's Z_{jc} at the rate Z_{ic} W_{ij}, so at most |Z_{ic}| times the
    largest |W_{ij}|, which is 0 at W = 0; it does not depend on other channels of other tokens at all.
    """
    epsilon, delta = near
    W, b = epsilon * W, 1 + delta * b
    s = filled(unit(Gate.PRODUCT, Z.shape[1], len(Z)), {"proj.weight": W, "proj.bias": b})
    others = 1 - eye(len(Z), dtype=Z.dtype)
    rates = jacobian(s, Z) * others[:, None, :, None]
    return rates, einsum("ic,ij,ck->icjk", Z, W * others, eye(Z.shape[1], dtype=Z.dtype))


@claim(
    gate=st.sampled_from(Gate),
    matrix=choice("matrix", *SpatialMatrix),
    share=0.4,
    place="Sec. 3.1, paragraph on initialisation",
    printed="Изначально W инициализируется значениями близкими к нулю, а b к единице.",
)
def sgu_initial_values(gate: Gate, matrix: SpatialMatrix) -> Sides:
    """Every unit of a new network has a W near 0 and a b near 1.

    Read as: near 0 is normal with the standard deviation 10^-6, near 1 is 1, for two blocks of any unit with W full or
    Toeplitz. Words' embeddings are standard normal, the other weights start as torch's.
    """
    reading = TextReading(150, 20, 4, matrix, Presence.YES, OutputLayer.MASKED_LM, Presence.YES)
    make = partial(GmlpText(layers=2, width=16, hidden=32, gate=gate, attention=8).build, BuildRequest(reading=reading))
    network = make()
    units = [module for module in network.modules() if isinstance(module, TokenProjection)]
    W, b = (cat([getattr(f, name).flatten() for f in units]) for name in ("weight", "bias"))
    words = network.get_parameter("embedding.weight")
    start = [*is_normal(W, 1e-6), *is_normal(words, 1.0), *starts_as_torchs(network)]
    keeps = keeps_type(make, torch.zeros(1, 20, dtype=torch.long))
    return [(len(units), 2), (b, torch.ones_like(b)), *start, keeps]
