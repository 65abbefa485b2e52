"""Sec. 4.3 and 5.2, Fig. 4 and Table 2: the whole IMLP, in every layout and reading, and its parts alone."""

from dataclasses import replace

import torch
import torch.nn.functional as F
from hypothesis.strategies import SearchStrategy
from torch import Tensor, cat, nn, unflatten

from imlp_audit.claims import Side, Sides, choice, claim, gradients, modules, tensors
from imlp_audit.models.blocks import Part
from imlp_audit.models.host import BuildRequest
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.new_modules import keeps_type, refuses, starts_as_torchs
from imlp_audit.models.readings import (
    PRINTED,
    ClassToken,
    ConcatNorm,
    DepthwiseActivation,
    DepthwiseNorm,
    Family,
    OutputNorm,
    Reach,
    Reading,
    axes_of,
)

from ._imlp import PLACES, SMALL, Block, Layout, Place, Raise, compare, cover, window_sum

MAPS = (Layout.CHANNELS_FIRST, Layout.CHANNELS_LAST)
TINY = tuple(number / 8 for number in SMALL)
NEITHER, ONE, OTHER = (0.0, 0.0), (1.0, 0.0), (0.0, 1.0)
READINGS = {name: axis.values for name, axis in axes_of(Family.IMLP).items() if axis.reach is Reach.UNIT}
ARGUMENTS = {
    "place": PLACES, "C": (2, 1, 3), "h": (1, 2), "out": (2, 1, 3), "plain": (False, True), "kernel": (3, 1, 9),
    "phi": (nn.GELU, nn.PReLU, nn.Softplus), "concat_norm": (*ConcatNorm, Raise),
    "bias": ((True, True), (True, False), (False, True), False), "drop": (NEITHER, ONE, OTHER, 1.0),
    "training": (False, True), "terse": (True, False),
}  # fmt: skip


def blocks(**values: tuple[object, ...]) -> SearchStrategy[Block]:
    """Blocks in which each pair of values of two axes or arguments occurs; of some only those that are given."""
    rows = cover(**{**READINGS, **ARGUMENTS, **values})
    for row in rows:  # a norm that is given takes the place of the reading's
        row["norm_layer"] = None if isinstance(row["concat_norm"], ConcatNorm) else row["concat_norm"]
        row["concat_norm"] = row["concat_norm"] if row["norm_layer"] is None else PRINTED.concat_norm
    readings = [replace(PRINTED, **{name: row.pop(name) for name in READINGS}) for row in rows]
    return choice("block", *(Block(reading=reading, **row) for reading, row in zip(readings, rows, strict=True)))


def module_of(blocks: SearchStrategy[Block]) -> SearchStrategy[Imlp]:
    """Blocks with drawn weights."""
    return modules(Block.make, blocks, training=blocks.map(lambda block: block.training), values=SMALL)


def inputs_of(blocks: SearchStrategy[Block]) -> SearchStrategy[Tensor]:
    """A batch of two for each block."""
    return tensors(2, blocks.map(lambda block: block.place.tokens), blocks.map(lambda block: block.C), values=SMALL)


ANY = blocks(part=(Part.CHANNEL_AND_SPATIAL,))


@claim(
    block=ANY,
    m=module_of(ANY),
    x=inputs_of(ANY),
    place="Sec. 4.3, Fig. 4 (b)",
    printed="The channel-wise enhancement part includes the AGeLU function and concatenation operation. The "
    "spatial-wise enhancement part includes a depthwise block",
)
def fig4_readings(block: Block, m: Imlp, x: Tensor) -> Sides:
    """The package's IMLP is Fig. 4 in every reading, in every layout and with any of its arguments: a fully-connected
    layer, two AGeLUs whose outputs are concatenated, the depthwise block on the grid, a second fully-connected layer.

    Read as: the text leaves open whether a layer has a bias, whether an AGeLU has coefficients for each channel or for
    the layer, which norms follow the concatenation and the second layer, and the depthwise block's bias, norm,
    activation and skip; every answer is tried. With several base activations, with GeLU in place of AGeLU (Table
    3), and with kernels of 1, 3 and 9. Tokens before the grid pass the depthwise block by; tokens that form no grid are
    refused. Norms are in evaluation and add 10^-5 to the variance; dropout acts behind the activation and behind the
    second layer.
    """
    refused = block.place.layout in MAPS or refuses(lambda: m(cat([x, x[:, -1:]], 1)))  # maps have no token more
    return [refused, *compare(block, m, x)]


CHANNEL = blocks(part=(Part.CHANNEL,))


@claim(
    block=CHANNEL,
    m=module_of(CHANNEL),
    x=inputs_of(CHANNEL),
    place="Sec. 5.2 on Table 2, row w/ channel",
    printed="In Tab. 2 we separately use channel-wise and spatial-wise enhancement parts in the IMLP module",
)
def table2_channel(block: Block, m: Imlp, x: Tensor) -> Sides:
    """The package's IMLP with the channel-wise part alone is the AMLP of Eq. 5 in every reading, layout and with any of
    its arguments.

    Read as: as in fig4_readings; what remains is Fig. 4 without its depthwise block.
    """
    return compare(block, m, x)


SPATIAL = blocks(part=(Part.SPATIAL,), plain=(False,), concat_norm=tuple(ConcatNorm))


@claim(
    block=SPATIAL,
    m=module_of(SPATIAL),
    x=inputs_of(SPATIAL),
    place="Sec. 5.2 on Table 2, row w/ spatial",
    printed="When using spatial-wise enhancement alone, we replace the channel-wise enhancement part with the original "
    "GeLU activation function",
)
def table2_spatial(block: Block, m: Imlp, x: Tensor) -> Sides:
    """The package's IMLP with the spatial-wise part alone is an MLP with a depthwise block behind its activation, in
    every reading, layout and with any of its arguments.

    Read as: as in fig4_readings. Without the channel-wise part nothing is concatenated, so that no norm follows a
    concatenation, and the second layer reads as many numbers as the first one gives. The activation is GeLU unless
    another one is given.
    """
    return compare(block, m, x)


BATCHED = replace(PRINTED, concat_norm=ConcatNorm.BATCH)
FULL_SIZE = choice(
    "block",
    Block(Place(Layout.CHANNELS_FIRST, (14, 14)), 192, 384, 192, kernel=7),
    Block(Place(Layout.CLASS_TOKEN, (14, 14), 1), 192, 384, 192, BATCHED, drop=(0.25, 0.4), training=True),
)


@claim(
    block=FULL_SIZE,
    m=modules(Block.make, FULL_SIZE, training=FULL_SIZE.map(lambda block: block.training), values=TINY),
    x=inputs_of(FULL_SIZE),
    place="Sec. 4.3, Fig. 4 (b)",
    corrected="IMLP(x) = GeLU(BN(DW(concat(AGeLU(x W^d + b^d), AGeLU'(x W^d + b^d))))) W^e + b^e, C = 192, C' = 768, "
    "14 x 14 positions",
    share=0.02,
)
def fig4_full_size(block: Block, m: Imlp, x: Tensor) -> Sides:
    """At DeiT-Ti's width and grid, with kernels of 3 x 3 and 7 x 7, the IMLP is Fig. 4 in evaluation and in training,
    and learns by the derivatives of the figure.

    Read as: in training, the batch norm takes the mean and the variance of the batch, and moves its own a tenth of the
    way to them; dropout makes each number that is drawn 0, and divides the others by the probability to be kept. Layers
    start as torch's.
    """
    return [*compare(block, m, x), *starts_as_torchs(block.make())]


PLAIN = choice("block", *(Block(place, 2, 1, 2) for place in PLACES))


def of_text(block: Block, m: Imlp, x: Tensor) -> Tensor:
    """Return Fig. 4 (b) as the text has it, in evaluation, for tokens (batch, tokens, C)."""
    w, (H, W) = {**dict(m.named_parameters()), **dict(m.named_buffers())}, block.place.size
    t = x @ w["fc1.weight"].flatten(1).T + w["fc1.bias"]
    alpha, beta, gamma, theta = (
        cat([w[f"act.agelu{i}.{name}"] for i in (1, 2)]) for name in ("alpha", "beta", "gamma", "theta")
    )
    t = beta * F.gelu(alpha * cat([t, t], -1) + gamma) + theta
    prefix, grid = t[:, : -H * W], unflatten(t[:, -H * W :].mT, 2, (H, W))
    convolved = window_sum(w["spatial.conv.weight"][:, 0], grid).flatten(2).mT
    g, s, mean, v = (w[f"spatial.norm.{name}"] for name in ("weight", "bias", "running_mean", "running_var"))
    enhanced = F.gelu(g * (convolved - mean) / (v + 1e-5).sqrt() + s)
    return cat([prefix, enhanced], 1) @ w["fc2.weight"].flatten(1).T + w["fc2.bias"]


@claim(
    block=PLAIN,
    m=module_of(PLAIN),
    x=inputs_of(PLAIN),
    place="Sec. 4.3, Fig. 4 (b)",
    printed="The channel-wise enhancement part includes the AGeLU function and concatenation operation. The "
    "spatial-wise enhancement part includes a depthwise block",
)
def fig4_imlp(block: Block, m: Imlp, x: Tensor) -> Sides:
    """The package's IMLP is Fig. 4 in every layout that a host may have: a fully-connected layer, two AGeLUs whose
    outputs are concatenated, the depthwise block on the grid, and a second fully-connected layer.

    Read as: in evaluation; tokens are the grid row by row, and a class token passes the depthwise block by.
    """
    y, printed = block.apply(m, x), of_text(block, m, x)
    return [(y, printed), (gradients(y, m), gradients(printed, m))]


DEFAULT = Reading(**{name: axis.default for name, axis in axes_of(Family.IMLP).items()})  # type: ignore[arg-type]
UNSTATED = choice("block", *(Block(place, reading=reading) for place in PLACES for reading in (DEFAULT, PRINTED)))


@claim(
    block=UNSTATED,
    m=module_of(UNSTATED),
    x=inputs_of(UNSTATED),
    place='Sec. 4.3, "DW Block (DW Conv with BN and GeLU)", Eq. 5, Eq. 6, Theorem 1 and Sec. 5.1',
    corrected="IMLP(x) = GeLU(BN(DW(concat(AGeLU(x W^d + b^0), AGeLU'(x W^d + b^0))))) W^e + b^1",
)
def fig4_read_by_default(block: Block, m: Imlp, x: Tensor) -> Sides:
    """Where a reading states nothing, and under the reading that the package calls printed, the IMLP is that of the
    text: AGeLUs with coefficients for each channel, biases in both layers, no norm behind the concatenation or the
    second layer, and a depthwise convolution without a bias, then a batch norm and GeLU, without a skip.

    Read as: the class token is kept, because the MLP modules alone are replaced; it passes the depthwise block by. The
    convolution has no bias, because the batch norm behind it has a shift. Weights may be of any type, in which the
    block computes.
    """
    kept = {block.reading.class_token, BuildRequest().class_token} == {ClassToken.KEPT}
    widths = [weight.numel() for name, weight in m.named_parameters() if "agelu" in name]
    typed = block.place.layout in MAPS or keeps_type(block.make, x)
    return [(block.apply(m, x), of_text(block, m, x)), kept, widths == [block.h] * 8, typed]


LEARNED = blocks(
    concat_norm=(ConcatNorm.NONE,), output_norm=(OutputNorm.NONE,), depthwise_norm=(DepthwiseNorm.NONE,),
    drop=(NEITHER,), training=(False,), phi=(nn.ReLU, nn.PReLU), part=tuple(Part), C=(2,),
    kernel=(3,),
    depthwise_activation=(DepthwiseActivation.NONE, DepthwiseActivation.AGELU),
)  # fmt: skip


@claim(
    block=LEARNED,
    m=module_of(LEARNED),
    x=inputs_of(LEARNED),
    place="Sec. 4.1, the sentence after Eq. 3, and Sec. 4.3, Fig. 4 (b)",
    printed="alpha and beta are learnable coefficients before and after applying the basic nonlinear function phi(.), "
    "and gamma and theta are learnable biases",
)
def fig4_learns_every_weight(block: Block, m: Imlp, x: Tensor) -> Sides:
    """Every number of an IMLP is learned, and so is what the block reads: the four coefficients of each AGeLU, both
    layers, the depthwise convolution and the slopes of PReLU have the derivatives of what the block computes.

    Read as: with ReLU or PReLU as phi and without norms, the block is linear in each of its weights as long as no
    argument of phi changes its sign; there its derivative is the difference of two values by the step between them.
    """
    x = x.clone().requires_grad_()
    places = [x, *m.parameters()]
    value, signs = value_and_signs(block, m, x)
    derivatives = torch.autograd.grad(value, places, allow_unused=True, materialize_grads=True)
    sides: list[Side] = [all(place.requires_grad for place in places)]
    for place, derivative in zip(places, derivatives, strict=True):
        step = 2.0**-8 * (counted(place) % 4 - 1.5)
        values = []
        for moved in (place - step, place + step):
            kept, place.data = place.data, moved.data
            after, bent = value_and_signs(block, m, x)
            place.data = kept
            if all(map(torch.equal, bent, signs)):
                values.append(after)
        if len(values) == 2:
            sides.append(((values[1] - values[0]) / 2, (derivative * step).sum()))
    return sides


def counted(of: Tensor) -> Tensor:
    """Return 1, 2, ... in the shape of a tensor."""
    return torch.arange(1.0, of.numel() + 1).reshape(of.shape)


def value_and_signs(block: Block, m: Imlp, x: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Return what a block gives, added up with weights 1, 2, ..., and the signs of what enters each phi."""
    signs: list[Tensor] = []
    bent = [part for part in m.modules() if isinstance(part, nn.ReLU | nn.PReLU)]
    hooks = [part.register_forward_pre_hook(lambda _, z: signs.append(z[0].detach().sign())) for part in bent]
    y = block.apply(m, x)
    for hook in hooks:
        hook.remove()
    return (y * counted(y)).sum(), signs
