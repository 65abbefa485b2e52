"""How claims are to be tested. Torch-free."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Limits:
    """How many examples a claim is tried on, from which seed, and the seconds after which it is an error.

    A process that imports a claim, or tries one example, for longer than `patience` seconds is ended.
    """

    examples: int
    seed: int = 0
    seconds: float | None = None
    patience: float = 120.0


@dataclass(frozen=True)
class Settings:
    """The limits of each claim, the device it is tested on, and how many other processes share the claims.

    With `trust_code` the Python of any folder is run, and not only that of trusted ones.
    """

    limits: Limits = field(default_factory=lambda: Limits(examples=10))
    device: str = "cpu"
    jobs: int = 0
    trust_code: bool = False
