"""State dicts of AMLP modules: ours or as the released code has them, of any type, as layers or 1x1 convolutions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors

OURS = {
    name: name
    for name in (
        "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias",
        *(f"act.agelu{i}.{each}" for i in (1, 2) for each in ("alpha", "beta", "gamma", "theta")),
    )
}  # fmt: skip
RELEASED = {
    "fc1.weight": "conv1.weight",
    "fc1.bias": "conv1.bias",
    "fc2.weight": "conv2.weight",
    "fc2.bias": "conv2.bias",
    "act.agelu1.alpha": "act1.move1.scale",
    "act.agelu1.beta": "act1.move2.scale",
    "act.agelu1.gamma": "act1.move1.bias",
    "act.agelu1.theta": "act1.move2.bias",
    "act.agelu2.alpha": "act2.move1.scale",
    "act.agelu2.beta": "act2.move2.scale",
    "act.agelu2.gamma": "act2.move1.bias",
    "act.agelu2.theta": "act2.move2.bias",
}


@dataclass(frozen=True)
class Stored:
    """How a module is stored: whose names, which type, further axes of weights, and whether b^0 is there."""

    names: Mapping[str, str]
    dtype: torch.dtype
    axes: tuple[int, ...]
    biased: bool


@dataclass(frozen=True)
class Weights:
    """W^0, b^0 and W^1 of a module, and of both AGeLUs alpha, beta, gamma and theta, of one number or of all."""

    w0: Matrix
    b0: Vector
    w1: Matrix
    agelus: tuple[tuple[Vector, Vector, Vector, Vector], ...]

    def state(self, stored: Stored, prefix: str = "") -> dict[str, Tensor]:
        """Return the module's tensors by their names."""
        own: dict[str, object] = {"fc1.weight": self.w0, "fc2.weight": self.w1}
        own |= {"fc1.bias": self.b0} if stored.biased else {}
        for i, agelu in enumerate(self.agelus, start=1):
            own |= {
                f"act.agelu{i}.{name}": v for name, v in zip(("alpha", "beta", "gamma", "theta"), agelu, strict=True)
            }
        tensors = {name: torch.tensor(values, dtype=stored.dtype) for name, values in own.items()}
        for name in ("fc1.weight", "fc2.weight"):
            tensors[name] = tensors[name].reshape(*tensors[name].shape, *stored.axes)
        return {prefix + stored.names[name]: tensor.requires_grad_() for name, tensor in tensors.items()}


# Each has digits that the next smaller type does not hold.
_NUMBERS = st.sampled_from(
    (1.0, 1 + 2.0**-40, 0.1, -1 / 3, 0.0, -7.25, 1e-30, 3e4 + 2.0**-20, -(2.0**-149), 1 - 2.0**-12)
)
_DTYPES = st.sampled_from((torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.float64))


def stored() -> st.Strategy[Stored]:
    """Any way of storing a module."""
    names, axes = st.sampled_from((OURS, RELEASED)), st.sampled_from(((), (1, 1), (1,)))
    return st.builds(Stored, names, _DTYPES, axes, st.booleans())


def weights() -> st.Strategy[Weights]:
    """Modules of up to 3 inputs, hidden units and outputs."""

    def of(width: int, hidden: int, outputs: int) -> st.Strategy[Weights]:
        each = st.sampled_from((hidden, 1)).flatmap(lambda size: vectors(size, _NUMBERS))
        agelu = st.tuples(each, each, each, each)
        w0, w1 = matrices(hidden, width, _NUMBERS), matrices(outputs, 2 * hidden, _NUMBERS)
        return st.builds(Weights, w0, vectors(hidden, _NUMBERS), w1, st.tuples(agelu, agelu))

    sizes = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
    return sizes.flatmap(lambda size: of(*size))
