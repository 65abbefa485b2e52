"""What the course work on gMLP says about learned weights."""

from math import isqrt

import numpy as np

from imlp_audit.claims import claim
from imlp_audit.inspect.learned_weights import (
    Judgement,
    Layers,
    LayerWeights,
    Matrix,
    UndecidedError,
    above_half,
    format_number,
    share_of_means,
    shifts,
)

LAYERS = ({"W": "mlp_channels.gate.proj.weight"}, {"W": "sgu.proj.weight"})  # timm's name, and ours


@claim(
    learned=LAYERS,
    place="Sec. 3.3",
    printed="Было эмпирически замечено, что gMLP всегда выучивает матрицу W в функции f(·) (SGU) подобной Тёплицевой "
    "матрице.",
    measured="share of W's squared numbers that the nearest Toeplitz matrix has, the mean of each diagonal; of an "
    "image the nearest one of Toeplitz blocks in Toeplitz order, where shifts are those of the grid",
    judged="More than one half in every layer: the sentence says always. One half is where what is named has more "
    "than all the rest together.",
)
def gates_are_toeplitz(layers: Layers) -> Judgement:
    """The matrix W of every spatial gating unit is like a Toeplitz matrix."""
    measured = [_toeplitz_share(layer) for layer in layers]
    shares = [share for share, _ in measured]
    holds = [above_half(share) for share in shares]
    least = format_number(min((share for share in shares if share is not None), default=None))
    chance = format_number(measured[0][1])
    reason = f"{sum(holds)} of {len(layers)} layers, the least {least}; {chance} by chance"
    return Judgement(all(holds), reason, {"Toeplitz": shares})


def _square(layer: LayerWeights) -> Matrix:
    """Return W, which a spatial gating unit learns as a whole."""
    weights = layer["W"]
    if weights.ndim == 1 and len(weights) % 2:
        raise UndecidedError("this is a tMLP: its W is a Toeplitz matrix by construction, nothing is learned")
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise UndecidedError(f"{layer.name}: W has shape {list(weights.shape)}; a square matrix is needed")
    return weights


def _toeplitz_share(layer: LayerWeights) -> tuple[float | None, float]:
    """Return the share of the nearest Toeplitz matrix, and of as many independent numbers: a class is one of n^2."""
    weights = _square(layer)
    tokens, side = len(weights), isqrt(len(weights))
    on_grid = layer.image and side * side == tokens
    at = np.arange(tokens)
    classes = shifts(side) if on_grid else np.asarray(at[None, :] - at[:, None] + tokens - 1)
    return share_of_means(weights, classes), len(np.unique(classes)) / tokens**2
