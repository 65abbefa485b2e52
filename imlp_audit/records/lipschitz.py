"""Bounds on the Lipschitz constant of an AMLP module: the JSON of `imlp-audit lipschitz`."""

from __future__ import annotations

from typing import ClassVar

from imlp_audit.records.document import JsonDocument


class LipschitzBounds(JsonDocument):
    """Bounds on the constant of the module at the path `block`, "" where the checkpoint is the module.

    `bound` is proven by Theorem 1 with `rho` and is the smallest that a solver's proposal led to (`solvers`), `product`
    by the product of the spectral norms. `gradient` is the largest gradient norm found, a lower bound. `width` is C,
    `hidden` the number of units of a branch (C'/2).
    """

    FORMAT: ClassVar = "imlp-audit/lipschitz/1"
    WRITTEN_BY: ClassVar = "imlp-audit lipschitz"

    block: str
    bound: float
    width: int
    hidden: int
    rho: tuple[float, float]
    solvers: dict[str, float]
    product: float
    gradient: float
