"""Appendix A: an MLP for self-attention, and position encoding."""

from __future__ import annotations

import torch

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.rounded import Rounded
from imlp_audit.equations.strategies import NUMBERS, Matrix, Vector, matrices
from imlp_audit.models.resmlp import AlgorithmLayer, CrossPatchMlp, FeedForward

from ._layer import Values, loaded
from ._mlp import PatchMlp, patch_mlps
from ._patches import IMAGE, TYPICAL_PATCH, grid


@claim(patch_mlps(), proof=Proof("all numbers and any activation", PatchMlp.sizes))
def appendix_mlp_across_patches(case: PatchMlp, arithmetic: Arithmetic) -> Trial:
    """The MLP that replaces self-attention is the transposition, a linear layer from N to 4N, GELU, a linear layer from
    4N to N, and the transposition back: each channel is mixed across patches by the same MLP.

    Place: Appendix A, first paragraphs
    Printed: ()^T - linear N x 4N - GELU - linear 4N x N - ()^T
    Bound: gamma_{N+1} times the magnitudes under GELU, times its largest slope, then gamma_{4N+2} times those of the
        sum
    """
    # Hold the module against the printed sequence, channel by channel.
    first, last = arithmetic.matrix(case.first), arithmetic.matrix(case.last)

    def mlp(channel: list[Rounded]) -> list[Rounded]:
        hidden = [gelu(n + bias) for n, bias in zip(first @ channel, case.first_bias, strict=True)]
        return [n + bias for n, bias in zip(last @ hidden, case.last_bias, strict=True)]

    module = loaded(CrossPatchMlp(len(case.x)), case.weights("mlp."), arithmetic)
    printed = arithmetic.matrix(case.x).T.map_rows(mlp).T
    return equal(module(arithmetic.tensor([case.x]))[0], printed, **case.shown())


@claim(patch_mlps())
def appendix_mlps_are_symmetrical(case: PatchMlp, arithmetic: Arithmetic) -> Trial:
    """The network with an MLP for self-attention is symmetrical in N and d. Read as: of its two MLPs alone, of N
    patches and d channels, the one across patches does what the one across channels does of d patches and N channels,
    and the parameters of both are as many where N and d are exchanged. (Normalisations and scales of channels are not.)

    Place: Appendix A, first paragraphs
    Printed: Hence this network is symmetrical in N and d
    Bound: none: the same operations on the same numbers, and counts are integers
    """
    # Hold the two MLPs against each other on transposed features, then the counts.
    patches, channels = len(case.x), len(case.x[0])
    x = arithmetic.tensor([case.x])
    across_patches = loaded(CrossPatchMlp(patches), case.weights("mlp."), arithmetic)(x)
    across_channels = loaded(FeedForward(patches, bias=True), case.weights(), arithmetic)(x.transpose(1, 2))
    counts = _parameters(patches, channels), _parameters(channels, patches)
    holds = torch.equal(across_patches, across_channels.transpose(1, 2)) and counts[0] == counts[1]
    outputs = {"across patches": across_patches.tolist(), "across channels": across_channels.tolist()}
    return Trial(holds, {**case.shown(), **outputs, "parameters": counts})


def _parameters(patches: int, channels: int) -> int:
    modules = CrossPatchMlp(patches), FeedForward(channels, bias=True)
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


@claim(st.just(TYPICAL_PATCH))
def grid_of_16_by_16_patches(patch: int, arithmetic: Arithmetic) -> Trial:
    """An image of 224 x 224 in patches of the typical size, 16 x 16, is N = 16 x 16 patches.

    Place: Appendix A, first paragraphs, and Sec. 2, The overall ResMLP architecture
    Printed: images in resolution 224 x 224 and N = 16 x 16 patches (N being how many there are: linear N x 4N); the
        patch size is typically equal to 16 x 16
    Nearest: grid_of_16_by_16_patches_corrected
    Bound: none: counts are integers
    """
    # Hold the patches down and across against the printed ones.
    found = grid(patch, arithmetic)
    return Trial(
        found == (16, 16), {"image": (IMAGE, IMAGE), "patch": (patch, patch), "N": found, "printed N": (16, 16)}
    )


@claim(st.sampled_from((TYPICAL_PATCH, 14)))
def grid_of_16_by_16_patches_corrected(patch: int, arithmetic: Arithmetic) -> Trial:
    """An image of 224 x 224 in patches of the typical size, 16 x 16, is N = 14 x 14 patches; 16 x 16 patches would have
    14 x 14 pixels each.

    Place: Appendix A, first paragraphs, and Sec. 2, The overall ResMLP architecture
    Corrected: images in resolution 224 x 224 and N = 14 x 14 patches of 16 x 16
    Bound: none: counts are integers
    """
    # Hold the patches down and across against the image's side by the patch's.
    found, side = grid(patch, arithmetic), {TYPICAL_PATCH: 14, 14: 16}[patch]
    return Trial(found == (side, side), {"image": (IMAGE, IMAGE), "patch": (patch, patch), "N": found})


@claim(st.tuples(matrices(4, 4), st.permutations(NUMBERS, 4).map(tuple)))
def bias_tells_patches_apart(case: tuple[Matrix, Vector], arithmetic: Arithmetic) -> Trial:
    """The linear layer's bias makes it possible to tell patch positions apart before the shared linear layer: of
    patches that are all zero, Algorithm 1's new layer (whose linear layers have biases, unlike Eq. 2's A) makes
    different ones wherever the biases differ.

    Place: Appendix A, Position encoding
    Printed: additionally the linear includes a bias that makes it possible to differentiate the patch positions before
        the shared linear layer
    Bound: none: a bias times a scale of 1 is exact
    """
    # Look for two patches that the cross-patch sublayer makes alike.
    a, biases = case
    weights: dict[str, Values] = {"across_patches.a.weight": a, "across_patches.a.bias": biases}
    layer = loaded(AlgorithmLayer(1, len(a), scale=1.0), weights, arithmetic)
    z = layer.cross_patch(torch.zeros_like(arithmetic.tensor([[[0.0]] * len(a)])))[0, :, 0].tolist()
    return Trial(len(set(z)) == len(z), {"A": a, "bias of A": biases, "patches of zero become": z})
