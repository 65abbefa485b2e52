"""What a claim is, what its function returns, and whether that holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, TypeAlias

import torch
from hypothesis.strategies import SearchStrategy
from torch import Tensor

from imlp_audit.claims.weights import Judgement, Layers

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

    function: Callable[..., Sides | Judgement]
    strategies: Mapping[str, SearchStrategy[Any]]
    examples: Sequence[Mapping[str, object]] = ()
    tolerance: float = 1e-10
    infinite: bool = False
    share: float = 1.0

    def __call__(self, **arguments: object) -> Sides:
        """Return the sides for some arguments."""
        found = self.function(**arguments)
        if isinstance(found, Judgement):
            raise TypeError("it returns a Judgement, but its decorator names none in `learned`")
        return found

    def judge(self, layers: Layers) -> Judgement:
        """Return what a claim about learned weights says of some layers."""
        found = self.function(layers)
        if not isinstance(found, Judgement):
            raise TypeError(f"it returns {type(found).__name__}, not a Judgement")
        return found


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
    learned: Sequence[Mapping[str, str]] = (),
    measured: str | None = None,
    judged: str | None = None,
    **strategies: SearchStrategy[Any],
) -> Callable[[Callable[..., Sides | Judgement]], Claim]:
    """Make a claim of a function whose docstring states it; every other keyword draws the argument of that name.

    The texts are read without running them (catalogue.py): `place` says where in the paper the claim stands; `printed`
    is its literal form, or `corrected` the nearest form that is true; `nearest` names the claim that holds in place of
    a false one; `needs` says what only `properties` does for it. `examples` are tried first. Sides may differ by the
    `tolerance` times max(1, |left|, |right|), and another than 1e-10 needs a reason, `because`. Infinite sides are an
    error unless `infinite`. `share` is the part of the examples that is run where one takes long.

    A claim about learned weights names those of its layers (`learned`), says what is `measured` in each and when it is
    `judged` to be true, and returns a Judgement of them; `inspect` asks it of a checkpoint.
    """
    return lambda function: Claim(function, strategies, tuple(examples), tolerance, infinite, share)


def claim_about(**symbols: SearchStrategy[Any]) -> Callable[..., Callable[[Callable[..., Sides]], Claim]]:
    """Return a `claim` that draws an argument of one of these names so, unless a decorator says otherwise."""

    def about(**keywords: Any) -> Callable[[Callable[..., Sides]], Claim]:  # noqa: ANN401  # those of `claim`
        def make(function: Callable[..., Sides]) -> Claim:
            known = {**symbols, **keywords}
            drawn = {name: known[name] for name in signature(function).parameters if name in known}
            return claim(**{**drawn, **keywords})(function)

        return make

    return about


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
        case Below(one, other) | (one, other) if not isinstance(side, list):
            left, right = _number(one, "left", claim), _number(other, "right", claim)
        case _:
            raise TypeError(f"it returns {type(side).__name__}, not two sides, a bool, below(...) or a list of these")
    if left.shape != right.shape:
        raise ValueError(f"its sides have different shapes, {[*left.shape]} and {[*right.shape]}")
    if not left.numel():
        raise ValueError(f"its sides have no element (shape {[*left.shape]}), so nothing is compared")
    different = ~_agree(side, left, right, claim.tolerance)
    if not different.any():
        return None
    place = tuple(different.nonzero()[0].tolist())
    at = str([index + 1 for index in place]) if place else ""
    numbers = {f"left{at}": left[place].item(), f"right{at}": right[place].item()}
    digits = 6 if len({f"{number:.6g}" for number in numbers.values()}) > 1 else 17  # as many as tell them apart
    return {name: f"{number:.{digits}g}" for name, number in numbers.items()}


def _number(value: object, name: str, claim: Claim) -> Tensor:
    """Return a side as a tensor on the processor."""
    if not isinstance(value, bool | int | float | Tensor):
        raise TypeError(f"its {name} side is {type(value).__name__}, not a tensor or a number")
    dtype = torch.float64 if isinstance(value, float) else None
    found = value.detach().cpu() if isinstance(value, Tensor) else torch.tensor(value, dtype=dtype, device="cpu")
    if found.dtype.is_complex or (found.is_floating_point() and found.dtype != torch.float64):
        raise TypeError(f"its {name} side is of {str(found.dtype).removeprefix('torch.')}, not of float64")
    if not found.isfinite().all() and (found.isnan().any() or not claim.infinite):
        raise ValueError(f"its {name} side is not finite ({found[~found.isfinite()][0].item()})")
    return found


def _agree(side: object, left: Tensor, right: Tensor, tolerance: float) -> Tensor:
    """Return where two sides are as they should be: exactly, or by so little that it may be rounding."""
    bound = isinstance(side, Below)
    if isinstance(side, Below) and side.strict:
        return left < right
    exact = left <= right if bound else left == right
    if not (left.is_floating_point() or right.is_floating_point()):
        return exact
    gap, scale = left - right, torch.maximum(left.abs(), right.abs()).clamp(min=1)
    return exact | (scale.isfinite() & ((gap if bound else gap.abs()) <= tolerance * scale))
