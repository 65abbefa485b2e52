"""What IMLP says about its learned weights."""

import numpy as np

from imlp_audit.claims import claim
from imlp_audit.inspect.learned_weights import Judgement, Layers, LayerWeights, UndecidedError

LAYERS = (
    {
        "alpha": "act.agelu1.alpha", "beta": "act.agelu1.beta", "gamma": "act.agelu1.gamma",
        "theta": "act.agelu1.theta", "alpha'": "act.agelu2.alpha", "beta'": "act.agelu2.beta",
        "gamma'": "act.agelu2.gamma", "theta'": "act.agelu2.theta", "phi": "act.agelu1.phi.weight?",
        "phi'": "act.agelu2.phi.weight?",
    },
    {  # the authors' released code
        "alpha": "act1.move1.scale", "beta": "act1.move2.scale", "gamma": "act1.move1.bias",
        "theta": "act1.move2.bias", "alpha'": "act2.move1.scale", "beta'": "act2.move2.scale",
        "gamma'": "act2.move1.bias", "theta'": "act2.move2.bias",
    },
)  # fmt: skip


@claim(
    learned=LAYERS,
    place="Sec. 4.1, after Eq. 5",
    printed="AGeLU(·) and AGeLU'(·) are two nonlinear functions proposed in Eq. 4 with different parameters",
    measured="share of the units whose two AGeLUs differ in alpha, beta, gamma or theta",
    judged="Above 0 in every block. Both start as GeLU (all 1 and 0), so equal ones have learned nothing.",
)
def two_agelus_differ(layers: Layers) -> Judgement:
    """The two AGeLUs of a block have learned different parameters."""
    shares = [_share_of_different(layer) for layer in layers]
    reason = f"{sum(share > 0 for share in shares)} of {len(shares)} blocks; the least share {min(shares):.1%}"
    return Judgement(all(shares), reason, {"differ": shares})


def _share_of_different(layer: LayerWeights) -> float:
    """Return the share of a block's units with two different AGeLUs; a coefficient may be one for all units."""
    if "phi" in layer or "phi'" in layer:
        raise UndecidedError(f"{layer.name}: its base activation has weights of its own, so it is not GeLU")
    numbers = {letter: layer[letter].ravel() for letter in layer.names}
    units = max(map(len, numbers.values()))
    if {len(values) for values in numbers.values()} - {1, units}:
        raise UndecidedError(f"{layer.name}: its coefficients are not for one number of units")
    pairs = [(numbers[letter], numbers[f"{letter}'"]) for letter in ("alpha", "beta", "gamma", "theta")]
    differ = np.zeros(units, dtype=bool)
    for one, other in pairs:
        differ |= one != other
    return float(differ.mean())
