"""Claims about functions: a claim is a function of torch tensors, whose arguments are strategies of hypothesis.

What a paper imports from here brings torch and hypothesis when it is asked for, not before: `list` and `lint` read
claims without running them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from imlp_audit.claims.language import *  # noqa: F403
    from imlp_audit.count.from_python import macs, parameters

__all__ = [
    "NONZERO", "NUMBERS", "POSITIVE", "Claim", "Side", "Sides", "below", "choice", "claim", "claim_about", "depends",  # noqa: F405
    "gradients", "jacobian", "macs", "mixes", "modules", "parameters", "size", "strictly_below", "tensors",  # noqa: F405
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "count.from_python" if name in ("macs", "parameters") else "claims.language"
    return getattr(import_module(f"imlp_audit.{home}"), name)
