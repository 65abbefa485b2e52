"""What mixes patches in one block, and how its weights lie."""

from __future__ import annotations

import numpy as np

from imlp_audit.inspect.agelu import gelu_slope
from imlp_audit.inspect.cross_patch import pattern
from imlp_audit.inspect.found import MixingFound
from imlp_audit.inspect.numbers import Matrix, array
from imlp_audit.inspect.sparsity import sparsity
from imlp_audit.records.inspection import CrossPatchLayer


def layer(found: MixingFound, side: int | None) -> CrossPatchLayer:
    """Measure a block whose patches lie on a grid of side x side, or on none that is known."""
    matrix = cross_patch(found)
    why_none = "its activation is gated" if matrix is None else None
    if side is None:
        why_none = f"its {found.patches} tokens are not the patches of a square grid of an image"
    return CrossPatchLayer(
        name=found.name,
        patches=found.patches,
        across=tuple(sparsity(one.letter, one.name, one.values) for one in found.across),
        channels=tuple(sparsity(one.letter, one.name, one.values) for one in found.channels),
        pattern=None if side is None or matrix is None else pattern(matrix, side),
        why_no_pattern=why_none,
    )


def cross_patch(found: MixingFound) -> Matrix | None:
    """Return the matrix (N, N) that mixes patches.

    ResMLP's is A. Of an MLP across patches it is the derivative at 0, W2 diag(GELU'(b)) W1 with the bias b of W1: what
    it does to small inputs, and the norm gives its inputs mean 0. None where a gated activation keeps W1 and W2 apart.
    """
    matrices = [array(one.values) for one in found.across]
    if len(matrices) == 1:
        return matrices[0]
    first, second = matrices
    if second.shape[1] != first.shape[0]:
        return None
    shift = np.zeros(len(first)) if found.bias is None else array(found.bias)
    return np.asarray(second @ (gelu_slope(shift)[:, None] * first))
