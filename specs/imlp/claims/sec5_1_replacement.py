"""Sec. 5.1 and 5.2: what takes the place of a host's MLPs."""

from dataclasses import replace
from functools import partial
from math import inf

import torch
import torch.nn.functional as F
from hypothesis.strategies import integers
from timm.layers import Mlp
from torch import Tensor, nn

from imlp_audit.claims import Sides, choice, claim, modules, size, tensors
from imlp_audit.models.blocks import Activation, ImlpRecipe, Part
from imlp_audit.models.imlp import Imlp, imlp_for, with_activation
from imlp_audit.models.new_modules import refuses
from imlp_audit.models.readings import PRINTED, AGeLUParameters, ConcatNorm, OutputNorm, Presence
from imlp_audit.models.recipe import Recipe, Replacement

from ..sums import SumOfFunctions
from ._amlp import PHIS
from ._imlp import PLACES, SMALL, Block, Layout, compare

# What the rows of Tables 1, 2, 3 and 5 say, and other numbers.
RECIPES = (
    ImlpRecipe(), ImlpRecipe(kernel=5), ImlpRecipe(part=Part.CHANNEL), ImlpRecipe(ratio=4, part=Part.SPATIAL),
    ImlpRecipe(plain=True), ImlpRecipe(ratio=1.5, kernel=1), ImlpRecipe(ratio=0.5),
)  # fmt: skip
OTHER = replace(
    PRINTED, agelu_parameters=AGeLUParameters.PER_LAYER, concat_norm=ConcatNorm.LAYER, output_norm=OutputNorm.LAYER,
    depthwise_bias=Presence.YES, depthwise_skip=Presence.YES,
)  # fmt: skip


def replaced(i: int) -> tuple[ImlpRecipe, Activation | None, Block]:
    """Return what is written, and the block that it stands for: of everything something else as i grows."""
    recipe, activation = RECIPES[i % 7], (None, *PHIS)[i % 5]
    C, drop = 2 + i % 2, ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))[i % 3]
    return recipe, activation, Block(
        PLACES[(i + i // 5) % 5], C, int(recipe.ratio * C), (C, 1, 3)[i % 3], (PRINTED, OTHER)[i // 2 % 2], recipe.part,
        recipe.plain, recipe.kernel, PHIS[activation or Activation.GELU],
        bias=((True, True), (True, False), (False, True))[i % 3], drop=drop, training=i // 3 % 2 == 1,
    )  # fmt: skip


def put_in(recipe: ImlpRecipe, activation: Activation | None, block: Block) -> Imlp:
    """Return what the package puts in the place of the MLP of a host."""
    conv = block.place.layout is Layout.CHANNELS_FIRST
    host = Mlp(block.C, 3 * block.C, block.out, bias=block.bias, drop=block.drop, use_conv=conv).train(block.training)
    grid, prefix = block.place.size, block.place.before
    return imlp_for(host, recipe, block.reading, activation, grid=grid, prefix_tokens=prefix)


REPLACED = choice("replaced", *map(replaced, range(14)))
BLOCK = REPLACED.map(lambda replaced: replaced[2])


@claim(
    case=REPLACED,
    m=modules(lambda case: put_in(*case), REPLACED, training=BLOCK.map(lambda block: block.training), values=SMALL),
    x=tensors(2, BLOCK.map(lambda block: block.place.tokens), BLOCK.map(lambda block: block.C), values=SMALL),
    place="Sec. 5.1, Implementation details",
    printed="We use r = 2 and n = 3 in the following experiments if not specified",
)
def replaced_mlp(case: tuple[ImlpRecipe, Activation | None, Block], m: Imlp, x: Tensor) -> Sides:
    """Where nothing else is specified, an MLP is replaced by the IMLP with r = 2, n = 3 and both parts.

    Also with the r, n and part of the rows of Tables 1, 2, 3 and 5, in every reading and layout. Every MLP of a host is
    replaced, and none of the baselines'. The block has the biases, dropout and output width of the MLP, and is in
    training where the MLP is. Refused are an r of less than one hidden unit, or not positive, an even n, which cannot
    keep the grid, and GeLU+concat (Table 3) without the channel-wise part.
    """
    block, usual = case[2], ImlpRecipe()
    return [
        (usual.ratio, usual.kernel, usual.part, usual.plain) == (2, 3, Part.CHANNEL_AND_SPATIAL, False),
        Replacement(imlp=usual).sites == ("*",) and not Recipe.of(timm="deit").changes_mlps,
        *compare(block, m, x),
        put_in(*case).training == block.training,
        refuses(lambda: put_in(ImlpRecipe(ratio=0.9 / block.C), None, block)),
        all(refuses(partial(ImlpRecipe, ratio=r)) for r in (0, -1, inf)),
        all(refuses(partial(ImlpRecipe, kernel=n)) for n in (-1, 0, 2, 4, 6, 8)),
        all(refuses(partial(ImlpRecipe, plain=True, part=Part.SPATIAL, ratio=r)) for r in (0.5, 2, 4)),
    ]


@claim(
    part=choice("part", *Part),
    kernels=choice("n", (1, 1), (3, 3), (1, 3), (5, 3), (7, 5)),
    place="Sec. 5.1, Implementation details",
    printed="the second is the kernel size n of the depthwise convolution operation",
)
def replaced_kernel_of_the_convolution(part: Part, kernels: tuple[int, int]) -> Sides:
    """The kernel size n is that of the depthwise convolution: blocks that have one differ with n, and without one all n
    give the same block.
    """
    one, other = (
        {
            name: tuple(weight.shape)
            for name, weight in put_in(ImlpRecipe(part=part, kernel=n), None, Block()).named_parameters()
        }
        for n in kernels
    )
    n = kernels[0]
    convolution = {name: shape[2:] for name, shape in one.items() if name == "spatial.conv.weight"}
    return [
        (one == other) == (part is Part.CHANNEL or kernels[0] == kernels[1]),
        convolution == ({} if part is Part.CHANNEL else {"spatial.conv.weight": (n, n)}),
    ]


C = size("C", 1, 2, 3, 192)  # DeiT-Ti's


@claim(
    x=tensors(integers(1, 2), C, 1, 2),
    row=choice(
        "row, layout, training",
        ("GeLU", "last", False),
        ("AGeLU", "last", True),
        ("GeLU", "first", True),
        ("AGeLU", "first", False),
    ),
    place="Sec. 5.2 on Table 4",
    printed="In Tab. 4 we empirically show the results of adding 4C number of nonlinear functions",
)
def table4_functions(x: Tensor, row: tuple[str, str, bool]) -> Sides:
    """In Table 4 an MLP is replaced by the sum of 4 C functions, which all start as GeLU; AGeLUs have coefficients for
    each of C channels.

    Read as: the text does not say with which coefficients AGeLUs start.
    """
    C, agelu, first, training = x.shape[1], row[0] == "AGeLU", row[1] == "first", row[2]
    module = SumOfFunctions(C, agelu=agelu, use_conv=first).train(training)
    y = module(x) if first else module(x.movedim(1, -1)).movedim(-1, 1)
    coefficients = [parameter.numel() for parameter in module.parameters()]
    return [
        (y, sum(F.gelu(x) for _ in range(4 * C)) + torch.zeros_like(x)),
        coefficients == ([4 * C * C] * 4 if agelu else []),
    ]


C, hidden = size("C", 2), size("C'", 3)
CHANGE = choice(
    "activation, AGeLU, layout",
    *((phi, agelu, (i + agelu) % 2 == 0) for agelu in (False, True) for i, phi in enumerate((None, *PHIS))),
)


def change(C: int, hidden: int, case: tuple[Activation | None, bool, bool]) -> nn.Module:
    """Return an MLP without biases and with another activation."""
    activation, agelu, first = case
    return with_activation(Mlp(C, hidden, bias=False, use_conv=first), activation, agelu=agelu)


@claim(
    x=tensors(2, 2, C),
    case=CHANGE,
    m=modules(change, C, hidden, CHANGE, values=SMALL),
    place="Sec. 5.2 on Table 3",
    printed="The first line is the baseline DeiT-Ti model, and the second line changes GeLU in MLP modules to AGeLU",
)
def table3_activation(x: Tensor, case: tuple[Activation | None, bool, bool], m: nn.Module) -> Sides:
    """Without concatenation, only the activation of an MLP changes: to AGeLU with coefficients for each of C' channels,
    or to another base activation (Table 8). Its layers stay, and the MLP itself keeps its GeLU.
    """
    (activation, agelu, first), w = case, dict(m.named_parameters())
    t = x @ w["fc1.weight"].flatten(1).T
    t = w["act.alpha"] * t + w["act.gamma"] if agelu else t
    if activation is Activation.PRELU:
        t = t.clamp(min=0) + w["act.phi.weight" if agelu else "act.weight"] * t.clamp(max=0)
    else:
        t = PHIS[activation or Activation.GELU]()(t)
    t = w["act.beta"] * t + w["act.theta"] if agelu else t
    y = m(x.mT[..., None])[..., 0].mT if first else m(x)
    host = Mlp(1, 2, use_conv=first)
    before, changed = host.act, with_activation(host, activation, agelu=agelu)
    each = not agelu or w["act.alpha"].shape == w["act.theta"].shape == (len(w["fc1.weight"]),)
    stays = changed.fc1 is host.fc1 and changed.fc2 is host.fc2 and host.act is before
    return [(y, t @ w["fc2.weight"].flatten(1).T), each and stays and changed.training == host.training]
