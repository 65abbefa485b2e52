"""The AMLP module as Theorem 1 writes it: a sum of two branches W^1i phi_i(W^0 x + b^0)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imlp_audit.errors import CheckpointError

Matrix = NDArray[np.float64]
RELEASED = {  # the names of the authors' released code, and ours
    "conv1": "fc1", "conv2": "fc2",
    "act1.move1.scale": "act.agelu1.alpha", "act1.move1.bias": "act.agelu1.gamma",
    "act1.move2.scale": "act.agelu1.beta", "act1.move2.bias": "act.agelu1.theta",
    "act2.move1.scale": "act.agelu2.alpha", "act2.move1.bias": "act.agelu2.gamma",
    "act2.move2.scale": "act.agelu2.beta", "act2.move2.bias": "act.agelu2.theta",
}  # fmt: skip


@dataclass(frozen=True)
class Branch:
    """One of the two: outer @ GeLU(inner @ x + shift), up to a constant.

    `inner` is diag(alpha) W^0 (h, C), `shift` is alpha b^0 + gamma (h,), `outer` is W^1i diag(beta) (C, h). With the
    coefficients of AGeLU in the weights, every hidden unit has GeLU's own slopes, and one interval fits them all.
    """

    inner: Matrix
    shift: Matrix
    outer: Matrix


def blocks_in(state: Mapping[str, Tensor]) -> list[str]:
    """Return the paths of the AMLP modules that a state holds, in its order; "" is the state itself."""
    ends = (".act.agelu1.alpha", ".act1.move1.scale")
    found = [f".{name}".removesuffix(end) for name in state for end in ends if f".{name}".endswith(end)]
    return [path.removeprefix(".") for path in dict.fromkeys(found)]


def branches(state: Mapping[str, Tensor], path: str = "") -> tuple[Branch, Branch]:
    """Return the branches of the module at a path. Raises CheckpointError for what is missing or not finite."""
    own = _own(state, path)
    fc1, fc2 = (_number(own, f"{name}.weight", path).reshape(len(own[f"{name}.weight"]), -1) for name in ("fc1", "fc2"))
    hidden = len(fc1)
    if fc2.shape[1] != 2 * hidden:
        raise CheckpointError(f"{path or 'the module'}: fc2 reads {fc2.shape[1]} channels, not twice fc1's {hidden}")
    bias = _number(own, "fc1.bias", path) if "fc1.bias" in own else np.zeros(hidden)
    halves = (fc2[:, :hidden], fc2[:, hidden:])
    first, second = (_branch(own, f"act.agelu{i}", fc1, bias, half, path) for i, half in enumerate(halves, start=1))
    return first, second


def _branch(own: Mapping[str, Tensor], agelu: str, fc1: Matrix, bias: Matrix, half: Matrix, path: str) -> Branch:
    alpha, gamma, beta, _ = (
        np.broadcast_to(_number(own, f"{agelu}.{name}", path).ravel(), bias.shape)
        for name in ("alpha", "gamma", "beta", "theta")
    )
    return Branch(inner=alpha[:, None] * fc1, shift=alpha * bias + gamma, outer=half * beta)


def _own(state: Mapping[str, Tensor], path: str) -> dict[str, Tensor]:
    """Return a module's own tensors under our names."""
    prefix = f"{path}." if path else ""
    own = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
    for theirs, ours in RELEASED.items():
        for name in [name for name in own if name == theirs or name.startswith(f"{theirs}.")]:
            own[ours + name.removeprefix(theirs)] = own.pop(name)
    return own


def _number(own: Mapping[str, Tensor], name: str, path: str) -> Matrix:
    """Return a tensor in float64, which holds every smaller type exactly. Raises CheckpointError."""
    shown = f"{path}.{name}" if path else name
    if name not in own:
        raise CheckpointError(f"{shown} is missing: this is no AMLP module as it is built here or in the released code")
    if not torch.isfinite(own[name]).all():
        raise CheckpointError(f"{shown} has numbers that are not finite; no bound follows from them")
    values: Matrix = own[name].detach().to("cpu", torch.float64).numpy()
    return values
