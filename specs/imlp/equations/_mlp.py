"""The MLP module of Eq. 1, as the package builds it: an input and two weight matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations import mixer
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.dependence import Operation
from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors
from imlp_audit.models import mixer as models


@dataclass(frozen=True)
class Mlp:
    """An input x of C numbers, W^a (C x C') and W^b (C' x C)."""

    x: Vector
    wa: Matrix
    wb: Matrix

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"C": len(self.x), "C'": len(self.wb)}

    def matrix_form(self, arithmetic: Arithmetic) -> Tensor:
        """Return phi(x W^a) W^b with phi = GeLU, as Eq. 1 has it."""
        y: Tensor = module(self.wa, self.wb, arithmetic)(arithmetic.tensor(self.x))
        return y

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"x": self.x, "W^a": self.wa, "W^b": self.wb}


def module(wa: Matrix, wb: Matrix, arithmetic: Arithmetic) -> models.Mlp:
    """Return the package's MLP with these weights."""
    weights: dict[str, object] = {
        "fc1.weight": tuple(zip(*wa, strict=True)),
        "fc2.weight": tuple(zip(*wb, strict=True)),
    }
    return mixer.fill(lambda: models.Mlp(len(wa), len(wb), bias=False), weights, arithmetic)


def under_phi(wa: Matrix, arithmetic: Arithmetic) -> Operation:
    """Return what the package's MLP makes of an input before phi: its C' numbers m_{cj} x_c + n_{cj}."""
    return lambda x: _around_phi(wa, x, arithmetic)[0]


def after_phi(wa: Matrix, arithmetic: Arithmetic) -> Operation:
    """Return what the package's MLP makes of an input up to phi."""
    return lambda x: _around_phi(wa, x, arithmetic)[1]


def _around_phi(wa: Matrix, x: Tensor, arithmetic: Arithmetic) -> tuple[Tensor, Tensor]:
    mlp = module(wa, ((0.0,) * len(wa),) * len(wa[0]), arithmetic)
    seen: list[tuple[Tensor, Tensor]] = []
    mlp.act.register_forward_hook(lambda _, arguments, output: seen.append((arguments[0], output)))
    mlp(x)
    return seen[0]


def mlps() -> st.Strategy[Mlp]:
    """MLPs of width C up to 3 and hidden width C' up to 4."""
    return st.tuples(st.integers(1, 3), st.integers(1, 4)).flatmap(
        lambda size: st.builds(Mlp, vectors(size[0]), matrices(*size), matrices(size[1], size[0]))
    )
