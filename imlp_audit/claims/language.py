"""What claims are written in: their statements and what these may measure, and the strategies of what they are about.

Of sizes and choices all values are tried; tensors and modules are of drawn numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from inspect import signature
from math import prod
from typing import Any, TypeAlias, TypeVar

import torch
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from torch import Tensor, nn

from imlp_audit.claims.catalogue import FOLDER, ClaimCode
from imlp_audit.processes.code import load_module

Number: TypeAlias = Tensor | float | int
Operation: TypeAlias = Callable[[Tensor], Tensor]


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

    function: Callable[..., object]
    strategies: Mapping[str, SearchStrategy[Any]]
    examples: Sequence[Mapping[str, object]] = ()
    tolerance: float = 1e-10
    share: float = 1.0

    def __call__(self, **arguments: object) -> Sides:
        """Return the sides for some arguments."""
        return self.function(**arguments)  # type: ignore[return-value]  # what is none is refused by `find_difference`


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
    share: float = 1.0,
    learned: Sequence[Mapping[str, str]] = (),
    measured: str | None = None,
    judged: str | None = None,
    **strategies: SearchStrategy[Any],
) -> Callable[[Callable[..., object]], Claim]:
    """Make a claim of a function whose docstring states it; every other keyword draws the argument of that name.

    The texts are read without running them (catalogue.py): `place` says where in the paper the claim stands; `printed`
    is its literal form, or `corrected` the nearest form that is true; `nearest` names the claim that holds in place of
    a false one; `needs` says what only `properties` does for it. `examples` are tried first. Sides may differ by the
    `tolerance` times their largest number, or 1; another than 1e-10 needs a reason, `because`. `share` is the part of
    the examples that is run where one takes long.

    A claim about learned weights names those of its layers (`learned`), says what is `measured` in each and when it is
    `judged` to be true, and returns a Judgement of them; `inspect` asks it of a checkpoint.
    """
    return lambda function: Claim(function, strategies, tuple(examples), tolerance, share)


def load_claim(code: ClaimCode) -> Claim:
    """Import a claim. Raises TypeError for what is none, and what its module raises."""
    found = getattr(load_module(code.folder, f"{FOLDER}.{code.module}"), code.function)
    if not isinstance(found, Claim):
        raise TypeError(f"{code.function} is not a claim; its decorator is not imlp_audit's `claim`")
    return found


def claim_about(**symbols: SearchStrategy[Any]) -> Callable[..., Callable[[Callable[..., object]], Claim]]:
    """Return a `claim` that draws an argument of one of these names so, unless a decorator says otherwise."""

    def about(**keywords: Any) -> Callable[[Callable[..., object]], Claim]:  # noqa: ANN401  # those of `claim`
        def make(function: Callable[..., object]) -> Claim:
            known = {**symbols, **keywords}
            drawn = {name: known[name] for name in signature(function).parameters if name in known}
            return claim(**{**drawn, **keywords})(function)

        return make

    return about


def find_difference(claim: Claim, sides: object) -> dict[str, object] | None:
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
            left, right = _number(one, "left"), _number(other, "right")
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


def _number(value: object, name: str) -> Tensor:
    """Return a side as a tensor on the processor."""
    if not isinstance(value, bool | int | float | Tensor):
        raise TypeError(f"its {name} side is {type(value).__name__}, not a tensor or a number")
    dtype = torch.float64 if isinstance(value, float) else None
    found = value.detach().cpu() if isinstance(value, Tensor) else torch.tensor(value, dtype=dtype, device="cpu")
    if found.dtype.is_complex or (found.is_floating_point() and found.dtype != torch.float64):
        raise TypeError(f"its {name} side is of {str(found.dtype).removeprefix('torch.')}, not of float64")
    if not found.isfinite().all():
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
    gap = left - right  # where large numbers cancel, as in derivatives, their rounding stays
    scale = torch.maximum(left.abs(), right.abs()).max().clamp(min=1)
    return exact | ((gap if bound else gap.abs()) <= tolerance * scale)


def jacobian(function: Operation, x: Tensor) -> Tensor:
    """Return d function(x) / d x, of the output's shape followed by the input's.

    Vectorised: one output at a time, torch 2.14's batch norm returns wrong derivatives of a grid of one row where an
    output was made contiguous. For some strides it does so vectorised, too.
    """
    derivatives: Tensor = torch.autograd.functional.jacobian(function, x, vectorize=True)  # type: ignore[no-untyped-call]
    return derivatives


def depends(function: Operation, x: Tensor) -> Tensor:
    """Return, in the same shape, which outputs have a derivative by which inputs that is not exactly zero.

    Where no path leads from an input to an output, backpropagation adds up exact zeros alone.
    """
    return jacobian(function, x) != 0


def mixes(function: Operation, table: Tensor) -> set[str]:
    """Return what a function of a table (tokens, channels) mixes: "tokens" and "channels", either or neither.

    It mixes tokens if an output depends on an input of another token at this table; channels alike.
    """
    links = depends(function, table)
    found = {"tokens": links.any(3).any(1), "channels": links.any(2).any(0)}
    return {name for name, pairs in found.items() if (pairs & ~torch.eye(len(pairs), dtype=torch.bool)).any()}


def gradients(output: Tensor, module: nn.Module) -> Tensor:
    """Return the derivatives of a weighted sum of the output by each parameter of a module, in one vector.

    The weights differ, so that no derivative of the output hides behind another. A parameter without influence has 0.
    """
    weights = torch.cos(torch.arange(output.numel(), dtype=output.dtype)).reshape(output.shape)
    found = torch.autograd.grad(
        (weights * output).sum(), [*module.parameters()], allow_unused=True, materialize_grads=True
    )
    return torch.cat([one.flatten() for one in found])


T = TypeVar("T")
Module = TypeVar("Module", bound=nn.Module)

NUMBERS = (
    *(0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1.5, -1.5, 0.25, -0.25),  # towards the first, when simplified
    *(10.0, -7.25, 1 / 3, -0.4, 0.7, -1.1, 2.718281828459045, -5.3, 0.01, -0.001),
)
"""What tensors are filled with."""
NONZERO = tuple(number for number in NUMBERS if number)
POSITIVE = tuple(number for number in NUMBERS if number > 0)
_MOST_BYTES = 500  # numbers that are drawn one by one; of larger tensors a seed is drawn


@dataclass(frozen=True, eq=False)
class Alternative:
    """Values of which all are tried, by name."""

    name: str
    values: tuple[Any, ...]


Combination: TypeAlias = dict[Alternative, int]
"""A value of each choice, by its place; of choices that it does not have yet, the first is drawn."""

_current: ContextVar[Combination] = ContextVar("_current")


@contextmanager
def combination_of(places: Mapping[Alternative, int]) -> Iterator[Combination]:
    """Within this block, draw these values of the choices; what is yielded has those that were drawn besides."""
    combination = dict(places)
    token = _current.set(combination)
    try:
        yield combination
    finally:
        _current.reset(token)


def choice(name: str, *values: T) -> SearchStrategy[T]:
    """Return some values, all of which are tried, with all of other choices; an example has one of them everywhere."""
    if not values:
        raise ValueError(f"choice {name!r} has no values")
    one = Alternative(name, values)

    def current() -> T:
        combination = _current.get(None)
        place = combination.setdefault(one, 0) if combination is not None else 0
        return values[place]

    return st.builds(current)


def size(name: str, *values: int) -> SearchStrategy[int]:
    """A size by the paper's symbol: 1, 2 and 3 or the values given, all of which are tried (see `choice`)."""
    return choice(name, *(values or (1, 2, 3)))


@st.composite
def tensors(draw: DrawFn, *dims: int | SearchStrategy[int], values: Sequence[float] = NUMBERS) -> Tensor:
    """Tensors of a shape; without dimensions, of one number."""
    shape = [dim if isinstance(dim, int) else draw(dim) for dim in dims]
    return _take(values, _draw_places(draw, prod(shape))).reshape(shape).to(torch.empty(0).device)


@st.composite
def modules(
    draw: DrawFn,
    make: Callable[..., Module],
    *arguments: object,
    training: bool | SearchStrategy[bool] = False,
    values: Sequence[float] = NUMBERS,
) -> Module:
    """Modules that are made of the drawn arguments, of float64, each parameter and running statistic drawn too."""
    given = [draw(one) if isinstance(one, SearchStrategy) else one for one in arguments]
    module = make(*given).double().train(training if isinstance(training, bool) else draw(training))
    state = {id(held): (name, held) for name, held in module.state_dict(keep_vars=True).items()}  # tied ones once
    learned = [(name, held) for name, held in state.values() if held.is_floating_point()]
    places = _draw_places(draw, sum(held.numel() for _, held in learned))
    for (name, held), own in zip(learned, places.split([held.numel() for _, held in learned]), strict=True):  # type: ignore[no-untyped-call]
        table = [number for number in values if number > 0] if name.endswith("running_var") else values
        held.data = _take(table, own).reshape(held.shape).to(held.device)
    return module


def _draw_places(draw: DrawFn, count: int) -> Tensor:
    """Draw some numbers from 0 to 255, on the processor."""
    if count <= _MOST_BYTES:
        return torch.tensor([*draw(st.binary(min_size=count, max_size=count))], dtype=torch.uint8, device="cpu")
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    return torch.randint(256, (count,), generator=generator, dtype=torch.uint8, device="cpu")


def _take(table: Sequence[float], places: Tensor) -> Tensor:
    return torch.tensor(table, dtype=torch.float64, device="cpu")[places.int() % len(table)]
