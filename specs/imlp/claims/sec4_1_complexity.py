"""Sec. 4.1, 4.3 and 5: what the modules cost in parameters and multiply-accumulates."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from hypothesis.strategies import integers, sampled_from
from timm.models.vision_transformer import Attention
from torch import nn

from imlp_audit.claims import Sides, choice, claim_about, macs, parameters, strictly_below
from imlp_audit.models.blocks import Part
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.mixer import Mlp
from imlp_audit.models.readings import PRINTED

N, C, HIDDEN = integers(1, 16), integers(1, 64), integers(1, 64).map(lambda half: 2 * half)  # C' is even
KERNELS = choice("n", 1, 3, 5, 7)  # Table 5
TABLE_1 = (  # widths and kernel
    ((64, 160, 256), 5),  # LVT, the least that is saved
    ((192, 384), 3),  # DeiT-Ti and -S
    ((768,), 5),  # DeiT-B
    ((96, 192, 384, 768), 3),  # Swin-Ti and -S, PoolFormer-M36
    ((128, 256, 512, 1024), 5),  # Swin-B
    ((64, 128, 320, 512), 3),  # PoolFormer-S12, -S24 and -S36
    ((96, 192, 384, 768), 5),  # PoolFormer-M48
)
LAYERS = choice("widths and n", *TABLE_1)
RATIOS = choice("C'/C", 4, 8)
Build = Callable[[], nn.Module]


def mlp(width: int, hidden: int) -> Build:
    """The MLP of Eq. 1, C to C' to C."""
    return partial(Mlp, width, hidden)


def amlp(width: int, hidden: int) -> Build:
    """The AMLP of Eq. 5, C to C'/2, of which the second FC layer reads C'."""
    return partial(Imlp, width, hidden // 2, reading=PRINTED, part=Part.CHANNEL)


def imlp(width: int, hidden: int, kernel: int, tokens: int = 0) -> Build:
    """The IMLP of Fig. 4; its tokens lie in one row, where their number is given, else on a square."""
    grid = (1, tokens) if tokens else None
    return partial(Imlp, width, hidden // 2, reading=PRINTED, kernel=kernel, grid=grid)


claim = claim_about(N=N, C=C, hidden=HIDDEN, layers=LAYERS, ratio=RATIOS, n=KERNELS)


@claim(
    place="Sec. 4.1, the sentence after Eq. 5",
    printed="the first FC layer has half the output channels compared to the original MLP module, and can effectively "
    "reduce the FLOPs",
)
def complexity_amlp_multiply_accumulates(N: int, C: int, hidden: int) -> Sides:
    """The AMLP does N C C'/2 fewer multiply-accumulates than the MLP, a quarter of its 2 N C C'.

    For every number N of tokens, width C and even C'. The first FC layer has C'/2 outputs; the second still reads C'.
    """
    of_mlp = macs(mlp(C, hidden), 1, N, C)
    saved = of_mlp - macs(amlp(C, hidden), 1, N, C)
    return [(saved, N * C * hidden // 2), (4 * saved, of_mlp), (of_mlp, 2 * N * C * hidden)]


@claim(
    place="Sec. 4.1, the sentence after Eq. 5",
    printed="the first FC layer has half the output channels compared to the original MLP module, and can effectively "
    "reduce the FLOPs and parameters in the vision transformer model",
)
def complexity_amlp_parameters(layers: tuple[tuple[int, ...], int], ratio: int) -> Sides:
    """The AMLP has fewer parameters than the MLP, at the widths of the models of Table 1.

    With biases, and AGeLU coefficients for every channel; C' is 4 C, or 8 C as in a stage of LVT.
    """
    hidden = [(C, ratio * C) for C in layers[0]]
    return [strictly_below(parameters(amlp(*sizes)), parameters(mlp(*sizes))) for sizes in hidden]


@claim(
    place="Sec. 4.1, the sentence after Eq. 5",
    corrected="(parameters of the MLP) - (parameters of the AMLP) = C C'/2 + C'/2 - 4 C' = C' (C - 7) / 2",
)
def complexity_amlp_parameters_exact(C: int, hidden: int) -> Sides:
    """The AMLP has C' (C - 7) / 2 fewer parameters than the MLP: fewer exactly where C > 7.

    For every width C and even C', with biases. Half of the first FC layer is saved, C C'/2 weights and C'/2 biases;
    four coefficients for each channel of two AGeLUs of C'/2 channels are added, 4 C' of them.
    """
    return 2 * (parameters(mlp(C, hidden)) - parameters(amlp(C, hidden))), hidden * (C - 7)


@claim(
    place="Sec. 4.1, the sentence after Eq. 5, and Sec. 4.3",
    corrected="(multiply-accumulates of the MLP) - (of the IMLP) = N C C'/2 - N C' n^2",
)
def complexity_imlp_multiply_accumulates(n: int, N: int, C: int, hidden: int) -> Sides:
    """The IMLP does N C' (C/2 - n^2) fewer multiply-accumulates than the MLP: fewer exactly where C > 2 n^2.

    For every number N of tokens, width C, even C' and odd n: half of the first FC layer is saved, and the depthwise
    convolution does n^2 for each of C' channels at each token.
    """
    saved = macs(mlp(C, hidden), 1, N, C) - macs(imlp(C, hidden, n, N), 1, N, C)
    return 2 * saved, N * hidden * (C - 2 * n**2)


@claim(
    place="Sec. 4.1, the sentence after Eq. 5, and Sec. 4.3",
    corrected="(parameters of the MLP) - (parameters of the IMLP) = C' (C - 7) / 2 - C' (n^2 + 2)",
)
def complexity_imlp_parameters(n: int, C: int, hidden: int) -> Sides:
    """The IMLP has C' (C - 2 n^2 - 11) / 2 fewer parameters than the MLP: fewer exactly where C > 2 n^2 + 11.

    For every width C, even C' and odd n, with biases: to what the AMLP has, the DW block adds n^2 weights for each of
    C' channels, and two numbers for each in the batch norm. A bias in the convolution would add one more.
    """
    return 2 * (parameters(mlp(C, hidden)) - parameters(imlp(C, hidden, n))), hidden * (C - 2 * n**2 - 11)


@claim(
    place="Sec. 4.1 and Sec. 6",
    printed="With the above modification, we can use fewer hidden dimensions which reduces the FLOPs and parameters of "
    "the model",
)
def complexity_imlp_reduces(layers: tuple[tuple[int, ...], int], ratio: int) -> Sides:
    """The IMLP has fewer parameters and multiply-accumulates than the MLP, at the widths and kernels of Table 1.

    With biases but none in the depthwise convolution, and AGeLU coefficients for every channel, on a 7 x 7 grid; C' is
    4 C, or 8 C as in a stage of LVT. At a width of 64 and n = 5, the first stages of LVT, parameters are just fewer.
    Work is compared at the least width of a model, where the least is saved.
    """
    (widths, n), C = layers, layers[0][0]
    pairs = [(imlp(C, ratio * C, n), mlp(C, ratio * C)) for C in widths]
    work = (macs(each, 1, 49, C) for each in pairs[0])
    return [strictly_below(*work), *(strictly_below(parameters(ours), parameters(theirs)) for ours, theirs in pairs)]


@claim(
    m=sampled_from((1, 3, 5, 7)),
    place="Sec. 5.2, on Table 5",
    printed="as the kernel size n increases, the classification performances are getting better and better with a "
    "little increased FLOPs and parameters",
)
def complexity_kernel_size(n: int, m: int, N: int, C: int, hidden: int) -> Sides:
    """A larger kernel costs C' weights and N C' multiply-accumulates more for each of its n^2 entries.

    Read as: the costs of an IMLP grow with n, by exactly this. From n to m, that is C' (m^2 - n^2) parameters and N C'
    (m^2 - n^2) multiply-accumulates.
    """
    small, large = (imlp(C, hidden, kernel, N) for kernel in (n, m))
    return [
        (parameters(large) - parameters(small), hidden * (m**2 - n**2)),
        (macs(large, 1, N, C) - macs(small, 1, N, C), N * hidden * (m**2 - n**2)),
    ]


@dataclass(frozen=True)
class Vit:
    """A plain ViT at 224 with patches of 16: a width C, in heads of 64, and a number L of blocks; C' = 4 C."""

    width: int
    depth: int


@cache
def costs(vit: Vit) -> dict[str, tuple[int, int, int]]:
    """Return what a ViT costs in all, its MLPs alone, and what IMLPs with n = 3 in their place save."""
    C, tokens = vit.width, 14 * 14

    def cost(count: Callable[..., int]) -> tuple[int, int, int]:
        """Positions are left out."""
        stem = count(partial(nn.Conv2d, 3, C, 16, stride=16), 1, 3, 224, 224)
        norm, mix = (
            count(partial(nn.LayerNorm, C), 1, tokens, C),
            count(partial(Attention, C, C // 64, qkv_bias=True), 1, tokens, C),
        )
        head = count(partial(nn.LayerNorm, C), 1, C) + count(partial(nn.Linear, C, 1000), 1, C)
        mlps, imlps = (vit.depth * count(each, 1, tokens, C) for each in (mlp(C, 4 * C), imlp(C, 4 * C, 3)))
        return stem + vit.depth * (2 * norm + mix) + head + mlps, mlps, mlps - imlps

    return {"parameters": cost(lambda build, *_: parameters(build)), "multiply-accumulates": cost(macs)}


VITS = [Vit(width, depth) for width in (64, 128, 192, 384, 768, 1024) for depth in (1, 2, 12, 24)]
GROWING = sampled_from([(a, b) for a in VITS for b in VITS if a != b and a.width <= b.width and a.depth <= b.depth])


@claim(
    pair=GROWING,
    place="Sec. 5.1, on Table 1",
    printed="As the model becomes larger, [...] the proportion of the MLP module in the computation grows",
)
def complexity_mlp_share(pair: tuple[Vit, Vit]) -> Sides:
    """In a larger ViT, the MLPs have a larger share of the computation.

    Read as: of the multiply-accumulates at 224 with patches of 16, in a ViT that is wider, deeper or both. Depth does
    not change the share of a block's own computation; stem and head lose weight as depth grows.
    """
    (small, small_mlps, _), (large, large_mlps, _) = (costs(vit)["multiply-accumulates"] for vit in pair)
    return strictly_below(small_mlps / small, large_mlps / large)


@claim(
    pair=GROWING,
    place="Sec. 5.1, on Table 1",
    printed="As the model becomes larger, the amount of parameter/FLOPs reduction also increases",
)
def complexity_reduction_grows(pair: tuple[Vit, Vit]) -> Sides:
    """In a larger ViT, IMLPs reduce a larger share of parameters and of multiply-accumulates.

    Read as: at 224 with patches of 16, in a ViT that is wider, deeper or both, with the same kernel n = 3 in both, from
    widths of 64 on. (Table 1 takes n = 5 for the largest models.)
    """
    found = []
    for measure in ("parameters", "multiply-accumulates"):
        (small, _, small_saved), (large, _, large_saved) = (costs(vit)[measure] for vit in pair)
        found.append(strictly_below(small_saved / small, large_saved / large))
    return found
