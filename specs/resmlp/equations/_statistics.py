"""A sample beside others that are changed: what depends on the others tells the two batches apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors


@dataclass(frozen=True)
class Batch:
    """A sample x of two different channels and the two other samples of its batch."""

    own: Vector
    others: Matrix

    def reflected(self) -> Batch:
        """Return the batch with the other samples reflected about the sample: their mean crosses it."""
        others = [
            tuple(2 * mine - theirs for mine, theirs in zip(self.own, other, strict=True)) for other in self.others
        ]
        return Batch(self.own, tuple(others))

    def off_the_mean(self) -> bool:
        """Whether the sample is off the mean of the batch, so that reflecting the others moves that mean."""
        return any(2 * mine != sum(theirs) for mine, *theirs in zip(self.own, *self.others, strict=True))

    def of_own(self, module: Callable[[Tensor], Tensor], arithmetic: Arithmetic) -> list[float]:
        """Return the sample's output."""
        output: list[float] = module(arithmetic.tensor((self.own, *self.others)))[0].tolist()
        return output

    def shown(self, module: Callable[[Tensor], Tensor], arithmetic: Arithmetic) -> dict[str, object]:
        """Return the two batches and the sample's output in both."""
        return {
            "x": self.own,
            "other samples": self.others,
            "output of x": self.of_own(module, arithmetic),
            "other samples reflected": self.reflected().others,
            "output of x then": self.reflected().of_own(module, arithmetic),
        }


def batches() -> Strategy[Batch]:
    """Batches whose statistics change where the other samples are reflected."""
    own = vectors(2).filter(lambda x: x[0] != x[1])
    return st.builds(Batch, own, matrices(2, 2)).filter(Batch.off_the_mean)
