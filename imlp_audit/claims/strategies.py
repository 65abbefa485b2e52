"""Strategies of claims: sizes and choices, of which all are tried, and tensors and modules of drawn numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias, TypeVar

import torch
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from torch import Tensor, nn

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
        return torch.tensor([*draw(st.binary(min_size=count, max_size=count))], dtype=torch.long, device="cpu")
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    return torch.randint(256, (count,), generator=generator, device="cpu")


def _take(table: Sequence[float], places: Tensor) -> Tensor:
    return torch.tensor(table, dtype=torch.float64, device="cpu")[places % len(table)]
