"""The AMLP module as Theorem 1 writes it: a sum of two branches W^1i phi_i(W^0 x + b^0)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from imlp_audit.checkpoint.fitting import rename_part
from imlp_audit.errors import CheckpointError

Matrix = NDArray[np.float64]
_LARGEST = 1e60  # products of four such numbers, and their sums, are still finite


@dataclass(frozen=True)
class Branch:
    """One of the two branches: outer @ GeLU(inner @ x + shift), up to a constant.

    `inner` is diag(alpha) W^0 (h, C), `shift` is alpha b^0 + gamma (h,), `outer` is W^1i diag(beta) (C, h). Since the
    coefficients of AGeLU are part of the weights, every hidden unit has the slopes of GeLU: one interval fits them all.
    """

    inner: Matrix
    shift: Matrix
    outer: Matrix


def blocks_in(state: Mapping[str, Tensor]) -> list[str]:
    """Return the paths of the AMLP modules in a state dict, in its order; "" means that the state itself is one."""
    ends = (".act.agelu1.alpha", ".act1.move1.scale")
    found = [f".{name}".removesuffix(end) for name in state for end in ends if f".{name}".endswith(end)]
    return [path.removeprefix(".") for path in dict.fromkeys(found)]


def branches(state: Mapping[str, Tensor], path: str = "") -> tuple[Branch, Branch]:
    """Return the branches of the module at a path.

    Raises CheckpointError if a tensor is missing, has the wrong shape, or is not an array of finite real numbers.
    """
    own = _ModuleTensors(state, path)
    fc1, fc2 = own.matrix("fc1.weight"), own.matrix("fc2.weight")
    hidden = len(fc1)
    if fc2.shape[1] != 2 * hidden:
        raise CheckpointError(
            f"{own.name_of('fc2.weight')} has {fc2.shape[1]} input channels; expected twice fc1's {hidden}"
        )
    bias = own.vector("fc1.bias", hidden) if own.has("fc1.bias") else np.zeros(hidden)
    halves = (fc2[:, :hidden], fc2[:, hidden:])
    first, second = (_branch(own, f"act.agelu{i}", fc1, bias, half) for i, half in enumerate(halves, start=1))
    return first, second


def _branch(own: _ModuleTensors, agelu: str, fc1: Matrix, bias: Matrix, half: Matrix) -> Branch:
    alpha, gamma, beta, _ = (own.vector(f"{agelu}.{name}", len(fc1)) for name in ("alpha", "gamma", "beta", "theta"))
    return Branch(inner=alpha[:, None] * fc1, shift=alpha * bias + gamma, outer=half * beta)


class _ModuleTensors:
    """The tensors of one module, by the names used here."""

    def __init__(self, state: Mapping[str, Tensor], path: str) -> None:
        self._prefix = f"{path}." if path else ""
        self._found: dict[str, tuple[str, Tensor]] = {}
        for name, value in state.items():
            if name.startswith(self._prefix):
                own = rename_part(name.removeprefix(self._prefix))
                if own in self._found:
                    raise CheckpointError(f"{name} and {self._found[own][0]} are two names of the same tensor")
                self._found[own] = (name, value)

    def name_of(self, name: str) -> str:
        """Return a tensor's name in the file."""
        return self._found[name][0] if name in self._found else self._prefix + name

    def has(self, name: str) -> bool:
        """Return whether there is a tensor with this name."""
        return name in self._found

    def matrix(self, name: str) -> Matrix:
        """Return a weight as a matrix; the kernel axes of a 1x1 convolution are dropped."""
        numbers = self._numbers(name)
        if numbers.ndim < 2 or not numbers.size or numbers.size != numbers.shape[0] * numbers.shape[1]:
            raise CheckpointError(f"{self.name_of(name)} has shape {list(numbers.shape)}; a matrix was expected")
        return numbers.reshape(numbers.shape[:2])

    def vector(self, name: str, size: int) -> Matrix:
        """Return a bias or coefficient for each of `size` channels; a single number is repeated."""
        numbers = self._numbers(name).ravel()
        if len(numbers) not in (1, size):
            raise CheckpointError(f"{self.name_of(name)} has {len(numbers)} numbers; 1 or {size} were expected")
        return np.broadcast_to(numbers, (size,))

    def _numbers(self, name: str) -> Matrix:
        """Return a tensor in float64, which holds every smaller type exactly."""
        if name not in self._found:
            raise CheckpointError(
                f"{self.name_of(name)} is missing, so this is not an AMLP module as built here or in the released code"
            )
        value = self._found[name][1]
        if value.is_complex() or value.is_meta or value.is_quantized or value.layout is not torch.strided:
            raise CheckpointError(f"{self.name_of(name)} is not a plain tensor of real numbers")
        values: Matrix = value.detach().to("cpu", torch.float64).numpy()
        if not np.all(np.abs(values) <= _LARGEST):
            raise CheckpointError(f"{self.name_of(name)} has numbers that are not finite or are too large to multiply")
        return values
