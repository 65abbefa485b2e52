"""What a claim is, what its function returns, and whether that holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from hypothesis.strategies import SearchStrategy
from torch import Tensor

Number: TypeAlias = Tensor | float | int


@dataclass(frozen=True)
class Below:
    """The left side is at most the right one, or less; element by element."""

    left: Number
    right: Number
    strict: bool = False


Side: TypeAlias = tuple[Number, Number] | Below | Tensor | bool
Sides: TypeAlias = Side | Sequence[Side]
"""What a claim returns: two sides that must be equal, a bound, a truth value, or a list of these."""


def below(left: Number, right: Number) -> Below:
    """Return the claim that left is at most right, up to the tolerance."""
    return Below(left, right)


def strictly_below(left: Number, right: Number) -> Below:
    """Return the claim that left is less than right, without a tolerance."""
    return Below(left, right, strict=True)


@dataclass(frozen=True)
class Claim:
    """A function of drawn arguments that returns the sides of a statement."""

    function: Callable[..., Sides]
    strategies: Mapping[str, SearchStrategy[Any]]
    examples: Sequence[Mapping[str, object]] = ()
    tolerance: float = 1e-10
    infinite: bool = False
    share: float = 1.0
    texts: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, **arguments: object) -> Sides:
        """Return the sides for some arguments."""
        return self.function(**arguments)


def claim(
    *,
    place: str,
    printed: str | None = None,
    corrected: str | None = None,
    nearest: str | None = None,
    needs: str | None = None,
    examples: Sequence[Mapping[str, object]] = (),
    tolerance: float = 1e-10,
    because: str | None = None,
    infinite: bool = False,
    share: float = 1.0,
    **strategies: SearchStrategy[Any],
) -> Callable[[Callable[..., Sides]], Claim]:
    """Make a claim of a function whose docstring states it; every other keyword draws the argument of that name.

    The texts are read without running them (catalogue.py): `place` says where in the paper the claim stands; `printed`
    is its literal form, or `corrected` the nearest form that is true; `nearest` names the claim that holds in place of
    a false one; `needs` says what only `properties` does for it. `examples` are tried first. Sides may differ by the
    `tolerance` times max(1, |left|, |right|), and another than 1e-10 needs a reason, `because`. Infinite sides are an
    error unless `infinite`. `share` is the part of the examples that is run where one takes long.
    """
    return lambda function: Claim(function, strategies, tuple(examples), tolerance, infinite, share)


def find_difference(claim: Claim, sides: Sides) -> dict[str, object] | None:
    """Return what to show of the first difference; None where the claim holds.

    Raises TypeError or ValueError for what is not a claim.
    """
    if not isinstance(sides, list):
        return _differs(claim, sides)
    if not sides:
        raise ValueError("it returns an empty list, which compares nothing")
    for place, side in enumerate(sides, start=1):
        difference = _differs(claim, side)
        if difference is not None:
            return {"part": place, **difference}
    return None


def _differs(claim: Claim, side: object) -> dict[str, object] | None:
    if isinstance(side, bool) or (isinstance(side, Tensor) and side.dtype == torch.bool and side.ndim == 0):
        return None if side else {"holds": False}
    match side:
        case (one, other) | Below(one, other):
            left, right = _number(one, "left", claim), _number(other, "right", claim)
        case _:
            raise TypeError(f"it returns {type(side).__name__}, not two sides, a bool, below(...) or a list of these")
    if left.shape != right.shape:
        raise ValueError(f"its sides have different shapes, {list(left.shape)} and {list(right.shape)}")
    if not left.numel():
        raise ValueError(f"its sides have no element (shape {list(left.shape)}), so nothing is compared")
    strict = isinstance(side, Below) and side.strict
    compare = (_below if not strict else lambda one, other, _: one < other) if isinstance(side, Below) else _equal
    holds = compare(left, right, claim.tolerance)
    if holds.all():
        return None
    place = tuple(int(index) for index in (~holds).nonzero()[0])
    at = str([index + 1 for index in place]) if place else ""
    return {f"left{at}": left[place].item(), f"right{at}": right[place].item()}


def _number(value: object, name: str, claim: Claim) -> Tensor:
    """Return a side as a tensor on the processor."""
    if isinstance(value, bool | int | float):
        found = torch.tensor(value, device="cpu")
    elif isinstance(value, Tensor):
        found = value.detach().cpu()
    else:
        raise TypeError(f"its {name} side is {type(value).__name__}, not a tensor or a number")
    if found.dtype.is_complex or (found.is_floating_point() and found.dtype != torch.float64):
        raise TypeError(f"its {name} side is of {str(found.dtype).removeprefix('torch.')}, not of float64")
    if found.isnan().any() or (found.isinf().any() and not claim.infinite):
        raise ValueError(f"its {name} side is not finite ({_first(found, ~found.isfinite())})")
    return found


def _first(values: Tensor, where: Tensor) -> object:
    return values[where].flatten()[0].item()


def _equal(left: Tensor, right: Tensor, tolerance: float) -> Tensor:
    if not (left.is_floating_point() or right.is_floating_point()):
        return left == right
    left, right = left.double(), right.double()
    return (left == right) | ((left - right).abs() <= _slack(left, right, tolerance))


def _below(left: Tensor, right: Tensor, tolerance: float) -> Tensor:
    if not (left.is_floating_point() or right.is_floating_point()):
        return left <= right
    left, right = left.double(), right.double()
    return (left <= right) | (left - right <= _slack(left, right, tolerance))


def _slack(left: Tensor, right: Tensor, tolerance: float) -> Tensor:
    """Return the difference that is allowed; none where a side is infinite."""
    slack = tolerance * torch.maximum(left.abs(), right.abs()).clamp(min=1)
    return slack.where(slack.isfinite(), torch.zeros_like(slack))
