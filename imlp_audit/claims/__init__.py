"""Claims about functions: a claim is a function of torch tensors, whose arguments are strategies of hypothesis.

What a paper imports from here brings torch and hypothesis when it is asked for, not before: `list` and `lint` read
claims without running them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from imlp_audit.claims.measures import depends, gradients, jacobian, mixes
    from imlp_audit.claims.statement import Claim, Side, Sides, below, claim, claim_about, strictly_below
    from imlp_audit.claims.strategies import NONZERO, NUMBERS, POSITIVE, choice, modules, size, tensors
    from imlp_audit.count.from_python import macs, parameters

__all__ = [
    "NONZERO", "NUMBERS", "POSITIVE", "Claim", "Side", "Sides", "below", "choice", "claim", "claim_about", "depends",
    "gradients", "jacobian", "macs", "mixes", "modules", "parameters", "size", "strictly_below", "tensors",
]  # fmt: skip

_HOMES = {
    "claims.statement": ("Claim", "Side", "Sides", "below", "claim", "claim_about", "strictly_below"),
    "claims.measures": ("depends", "gradients", "jacobian", "mixes"),
    "claims.strategies": ("NONZERO", "NUMBERS", "POSITIVE", "choice", "modules", "size", "tensors"),
    "count.from_python": ("macs", "parameters"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"imlp_audit.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
