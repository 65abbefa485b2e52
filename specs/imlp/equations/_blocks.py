"""The modules whose sizes the paper compares, as it prints them, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.ledger import measure
from imlp_audit.equations import draw as st
from imlp_audit.models.blocks import Part
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.reading import PRINTED

KERNELS = st.sampled_from((1, 3, 5, 7))  # Table 5
_LAYERS_OF_TABLE_1 = (
    ((64, 160, 256), 5),  # LVT, the least that is saved
    ((192, 384), 3),  # DeiT-Ti and -S
    ((768,), 5),  # DeiT-B
    ((96, 192, 384, 768), 3),  # Swin-Ti and -S, PoolFormer-M36
    ((128, 256, 512, 1024), 5),  # Swin-B
    ((64, 128, 320, 512), 3),  # PoolFormer-S12, -S24 and -S36
    ((96, 192, 384, 768), 5),  # PoolFormer-M48
)
# width C and kernel n
LAYERS_OF_TABLE_1 = tuple((width, n) for widths, n in _LAYERS_OF_TABLE_1 for width in widths)


@dataclass(frozen=True)
class Size:
    """A number N of tokens, a width C, and C', the numbers that the second FC layer reads; C' is even."""

    tokens: int
    width: int
    hidden: int

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"N": self.tokens, "C": self.width, "C'": self.hidden}


def sizes() -> st.Strategy[Size]:
    """Return sizes small and large."""
    return st.builds(Size, st.integers(1, 16), st.integers(1, 64), st.integers(1, 64).map(lambda half: 2 * half))


def mlp(width: int, hidden: int) -> nn.Module:
    """Return the MLP of Eq. 1 with biases, C to C' to C, without its numbers."""
    with torch.device("meta"):
        return nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))


def amlp(width: int, hidden: int) -> nn.Module:
    """Return the AMLP of Eq. 5 with biases, without its numbers."""
    with torch.device("meta"):
        return Imlp(width, hidden // 2, reading=PRINTED, part=Part.CHANNEL)


def imlp(width: int, hidden: int, kernel: int, grid: tuple[int, int] | None = None) -> nn.Module:
    """Return the IMLP of Fig. 4 with biases, without its numbers."""
    with torch.device("meta"):
        return Imlp(width, hidden // 2, reading=PRINTED, kernel=kernel, grid=grid)


def multiply_accumulates(module: nn.Module, *shape: int) -> int:
    """Return a module's multiply-accumulates on an input of a shape, from the operation ledger."""
    return total(measure(module, torch.empty(shape, device="meta")), FLOPS_CONVENTIONS["macs"])
