"""Class-MLP updates only the class token: the patch embeddings come out of each of its layers as they went in, and
have no derivative by the class token.

Place: Sec. 2, Class-MLP as an alternative to average-pooling
Printed: only the class token is updated based on the frozen patch embeddings; still keeping the patch embeddings frozen
Bound: none: the patches are the same to the bit or they are not
"""

from __future__ import annotations

import torch

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.resmlp._class_mlp import ClassMlpCase, class_mlps
from imlp_audit.equations.resmlp._layer import Values, loaded
from imlp_audit.models.resmlp import ClassMlpLayer


def judge(case: ClassMlpCase, arithmetic: Arithmetic) -> Trial:
    """Hold patches that come out against those that went in, then look for derivatives by the class token."""
    weights: dict[str, Values] = {"aggregate.weight": (case.aggregator,), "aggregate.bias": (1.0,)}
    layer = loaded(ClassMlpLayer(len(case.token), len(case.patches), scale=1.0), weights, arithmetic)
    tokens = arithmetic.tensor([[case.token, *case.patches]])
    patches = layer(tokens)[:, 1:]
    follows = bool(depends(layer, tokens)[:, 1:, :, :, 0].any())
    shown = {**case.shown(), "patches after": patches[0].tolist(), "depend on the class token": follows}
    return Trial(torch.equal(patches, tokens[:, 1:]) and not follows, shown)


CLAIM = Claim(class_mlps(), judge)
