"""Sec. 2.2 and 2.3: sizes of models, patches and images."""

from __future__ import annotations

import torch
from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.mixer import Sizes
from imlp_audit.models.mixer import MixerLayer, PatchEmbedding


@claim(st.just(Sizes(s=64, c=256, d_s=256, d_c=1024)))
def mixer_small_configuration(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """The small configuration has S = HW / P^2 for images of 32 x 32, D_S > S and D_C > C.

    Read as: the images are those of CIFAR-10 and CIFAR-100, which Sec. 3.2 says are 32 x 32.

    Place: Sec. 2.2, last paragraph
    Printed: Вместе с этим необходимо уменьшить гиперпараметры: P = 4, S = 64, C = 256, D_C = 1024, D_S = 256.
    Bound: none: integers are compared
    """
    # Hold the numbers against each other.
    patches = 32 * 32 // 4**2
    holds = case.s == patches and case.d_s > case.s and case.d_c > case.c
    return Trial(holds, {**case.symbols(), "HW / P^2": patches})


_SIDE = 24  # of the images


@claim(st.permutations([2, 3, 4, 6, 8, 12]).map(lambda sizes: (sizes[0], sizes[1])))
def mixer_patch_size(case: tuple[int, int], arithmetic: Arithmetic) -> Trial:
    """With another patch size the network has to be trained again.

    Read as: on the same images, weights for one P do not fit the network for another P.

    Place: Sec. 2.3
    Printed: Изменяя разрешение патча, приходится заново переобучать нейронную сеть.
    Bound: none: the weights load or do not
    """
    # Load the weights for one patch size into the network for the other.
    weights, other = _mixer(case[0]).state_dict(), _mixer(case[1]).state_dict()
    misfits = [name for name in weights if weights[name].shape != other[name].shape]
    both_ends = {"0.proj.weight", "1.token_mixing.mlp.fc1.weight"}  # of the patches, and of the tokens
    return Trial(both_ends <= set(misfits), {"H = W": _SIDE, "P": case, "weights that do not fit": misfits})


def _mixer(patch: int) -> nn.Module:
    with torch.device("meta"):
        return nn.Sequential(PatchEmbedding(patch, 3), MixerLayer((_SIDE // patch) ** 2, 3, 4, 4))


Grid = tuple[int, int]

_grids = st.tuples(st.integers(1, 3), st.integers(1, 3))


@claim(st.tuples(_grids, _grids).filter(lambda case: case[0][0] * case[0][1] != case[1][0] * case[1][1]))
def mixer_fixed_image_size(case: tuple[Grid, Grid], arithmetic: Arithmetic) -> Trial:
    """A Mixer works only with images of one size.

    Read as: an image of another number of patches fails.

    Place: Sec. 2.3
    Printed: слои token-mixing зависят от длины последовательности S, что является существенным ограничением данной
        модели. Так как она может работать только с фиксированными размерами изображений.
    Bound: none: the forward pass runs or raises
    """
    # Give a Mixer for one grid of 2 x 2 patches an image of that size, and of another.
    own, other = case
    with torch.device("meta"):
        mixer = nn.Sequential(PatchEmbedding(2, 3), MixerLayer(own[0] * own[1], 3, 4, 4))
    runs = _runs(mixer, own), _runs(mixer, other)
    return Trial(runs == (True, False), {"patches": own, "of another image": other, "run": list(runs)})


def _runs(mixer: nn.Module, grid: Grid) -> bool:
    try:
        mixer(torch.empty(1, 3, 2 * grid[0], 2 * grid[1], device="meta"))
    except RuntimeError:
        return False
    return True
