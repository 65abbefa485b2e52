"""With another patch size the network has to be trained again.

Read as: on the same images, weights for one P do not fit the network for another P.

Place: Sec. 2.3
Printed: Изменяя разрешение патча, приходится заново переобучать нейронную сеть.
Bound: none: the weights load or do not
"""

from __future__ import annotations

import torch
from hypothesis import strategies as st
from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.models.mixer import MixerLayer, PatchEmbedding

_SIDE = 24  # of the images


def judge(case: tuple[int, int], arithmetic: Arithmetic) -> Trial:
    """Load the weights for one patch size into the network for the other."""
    weights, other = _mixer(case[0]).state_dict(), _mixer(case[1]).state_dict()
    misfits = [name for name in weights if weights[name].shape != other[name].shape]
    both_ends = {"0.proj.weight", "1.token_mixing.mlp.fc1.weight"}  # of the patches, and of the tokens
    return Trial(both_ends <= set(misfits), {"H = W": _SIDE, "P": case, "weights that do not fit": misfits})


def _mixer(patch: int) -> nn.Module:
    with torch.device("meta"):
        return nn.Sequential(PatchEmbedding(patch, 3), MixerLayer((_SIDE // patch) ** 2, 3, 4, 4))


CLAIM = Claim(st.permutations([2, 3, 4, 6, 8, 12]).map(lambda sizes: (sizes[0], sizes[1])), judge)
