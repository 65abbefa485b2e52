"""The MLP module of Eq. 1: an input and two weight matrices."""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors


@dataclass(frozen=True)
class Mlp:
    """An input x of C numbers, W^a (C x C') and W^b (C' x C)."""

    x: Vector
    wa: Matrix
    wb: Matrix

    def matrix_form(self, arithmetic: Arithmetic) -> Tensor:
        """Return phi(x W^a) W^b with phi = GeLU, as Eq. 1 has it."""
        hidden = F.gelu(arithmetic.tensor(self.x) @ arithmetic.tensor(self.wa))
        return hidden @ arithmetic.tensor(self.wb)

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"x": self.x, "W^a": self.wa, "W^b": self.wb}


def mlps() -> st.SearchStrategy[Mlp]:
    """MLPs of width C up to 3 and hidden width C' up to 4."""
    return st.tuples(st.integers(1, 3), st.integers(1, 4)).flatmap(
        lambda size: st.builds(Mlp, vectors(size[0]), matrices(*size), matrices(size[1], size[0]))
    )
