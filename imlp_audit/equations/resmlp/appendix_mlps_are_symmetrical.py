"""The network with an MLP for self-attention is symmetrical in N and d. Read as: of its two MLPs alone, of N patches
and d channels, the one across patches does what the one across channels does of d patches and N channels, and the
parameters of both are as many where N and d are exchanged. (Normalisations and scales of channels are not.)

Place: Appendix A, first paragraphs
Printed: Hence this network is symmetrical in N and d
Bound: none: the same operations on the same numbers, and counts are integers
"""

from __future__ import annotations

import torch

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._layer import loaded
from imlp_audit.equations.resmlp._mlp import PatchMlp, patch_mlps
from imlp_audit.models.resmlp import CrossPatchMlp, FeedForward


def judge(case: PatchMlp, arithmetic: Arithmetic) -> Trial:
    """Hold the two MLPs against each other on transposed features, then the counts."""
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


CLAIM = Claim(patch_mlps(), judge)
