"""What a user sets in place of a model's own preprocessing."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from imlp_audit.spec.interpolation import Interpolation

if TYPE_CHECKING:
    from imlp_audit.spec.schema import Preprocessing


@dataclass(frozen=True)
class Overrides:
    """What the user sets in place of the model's own preprocessing; `size` is (height, width)."""

    size: tuple[int, int] | None = None
    crop_pct: float | None = None
    interpolation: Interpolation | None = None
    mean: tuple[float, float, float] | None = None
    std: tuple[float, float, float] | None = None

    def over(self, stated: Preprocessing) -> Overrides:
        """Return these, and where the user sets nothing what a source states."""
        side = None if stated.size is None else (stated.size, stated.size)
        theirs = Overrides(side, stated.crop_pct, stated.interpolation, stated.mean, stated.std)
        own = {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) is not None}
        return replace(theirs, **own)
