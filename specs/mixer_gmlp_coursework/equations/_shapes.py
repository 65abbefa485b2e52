"""Sizes of gMLP blocks, to count and to compare shapes with."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from imlp_audit.count.call import Operation
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.ledger import measure
from imlp_audit.equations import draw as st
from imlp_audit.models.blocks import Gate
from imlp_audit.models.gmlp import GmlpBlock


@dataclass(frozen=True)
class Sizes:
    """S tokens, C channels, D_C hidden channels."""

    s: int
    c: int
    d_c: int

    def block(self, gate: Gate) -> GmlpBlock:
        """Return the package's block of these sizes, on the meta device: for its shapes."""
        with torch.device("meta"):
            return GmlpBlock(self.c, self.d_c, self.s, gate)

    def costs(self, gate: Gate) -> dict[str, int]:
        """Return the work of U and V, of f, and of s beside f: multiply-accumulates, and products of elements."""
        ledger = measure(self.block(gate), torch.empty(1, self.s, self.c, device="meta"))
        macs = FLOPS_CONVENTIONS["macs"]
        return {
            "U and V": total(ledger.within({"u", "v"}), macs),
            "f": total(ledger.within({"sgu.proj"}), macs),
            "s": ledger.work["sgu", Operation.ELEMENTWISE],
        }

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"S": self.s, "C": self.c, "D_C": self.d_c}


def sizes(hidden: tuple[int, ...] = (2, 4, 6)) -> st.Strategy[Sizes]:
    """Small sizes; by default D_C is even, so that every unit can be built."""
    return st.builds(Sizes, st.integers(1, 4), st.integers(1, 4), st.sampled_from(hidden))


def printed_costs(of: Sizes) -> dict[str, int]:
    """Return the work that the text prints."""
    return {"U and V": 2 * of.d_c * of.s * of.c, "f": of.d_c * of.s**2, "s": of.d_c * of.s}
