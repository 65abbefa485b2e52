"""The linear layer's bias makes it possible to tell patch positions apart before the shared linear layer: of patches
that are all zero, Algorithm 1's new layer (whose linear layers have biases, unlike Eq. 2's A) makes different ones
wherever the biases differ.

Place: Appendix A, Position encoding
Printed: additionally the linear includes a bias that makes it possible to differentiate the patch positions before the
    shared linear layer
Bound: none: a bias times a scale of 1 is exact
"""

from __future__ import annotations

import torch
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._layer import Values, loaded
from imlp_audit.equations.strategies import Matrix, Vector, matrices, numbers
from imlp_audit.models.resmlp import AlgorithmLayer


def judge(case: tuple[Matrix, Vector], arithmetic: Arithmetic) -> Trial:
    """Look for two patches that the cross-patch sublayer makes alike."""
    a, biases = case
    weights: dict[str, Values] = {"across_patches.a.weight": a, "across_patches.a.bias": biases}
    layer = loaded(AlgorithmLayer(1, len(a), scale=1.0), weights, arithmetic)
    z = layer.cross_patch(torch.zeros_like(arithmetic.tensor([[[0.0]] * len(a)])))[0, :, 0].tolist()
    return Trial(len(set(z)) == len(z), {"A": a, "bias of A": biases, "patches of zero become": z})


CLAIM = Claim(st.tuples(matrices(4, 4), st.lists(numbers(), min_size=4, max_size=4, unique=True).map(tuple)), judge)
