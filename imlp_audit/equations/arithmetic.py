"""The arithmetic that claims are tested in: a floating-point type on a device."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from imlp_audit.equations.matrix import RoundedMatrix
from imlp_audit.equations.rounded import Rounded


@dataclass(frozen=True)
class Arithmetic:
    """A floating-point type on a device."""

    dtype: torch.dtype = torch.float64
    device: str = "cpu"

    @property
    def unit(self) -> float:
        """The unit roundoff: half the distance from 1 to the next number."""
        return torch.finfo(self.dtype).eps / 2

    def tensor(self, values: object) -> Tensor:
        """Return a tensor of a number or of nested sequences of numbers."""
        return torch.tensor(values, dtype=self.dtype, device=self.device)

    def number(self, value: float) -> Rounded:
        """Return a number that this arithmetic holds exactly, to write formulas in."""
        return Rounded.exact(value, self.unit)

    def vector(self, values: Sequence[float]) -> list[Rounded]:
        """Return exact numbers, to write formulas in."""
        return [self.number(value) for value in values]

    def matrix(self, rows: Sequence[Sequence[float]]) -> RoundedMatrix:
        """Return rows of exact numbers, to write formulas in."""
        return RoundedMatrix(map(self.vector, rows))

    def put(self, module: nn.Module, name: str, values: object) -> None:
        """Give a parameter or a buffer its numbers; one number stands for all."""
        parameter = operator.attrgetter(name)(module)
        tensor = self.tensor(values)
        if tensor.numel() != 1 and tensor.shape != parameter.shape:
            raise ValueError(f"{name} has the shape {tuple(parameter.shape)}, its numbers {tuple(tensor.shape)}")
        parameter.data = tensor.expand(parameter.shape)

    def load(self, module: nn.Module, weights: Mapping[str, object]) -> None:
        """Give a module its weights: every one of them."""
        if weights.keys() != module.state_dict().keys():
            raise ValueError(f"the weights are {', '.join(module.state_dict())}; given are {', '.join(weights)}")
        for name, values in weights.items():
            self.put(module, name, values)

    def place(self, module: nn.Module) -> nn.Module:
        """Move a module to the device and the type; in evaluation mode."""
        return module.to(device=self.device, dtype=self.dtype).eval()
