"""What a claim is: examples to try it on, and a judgement of one example."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from torch import Tensor

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.rounded import Rounded

Case = TypeVar("Case")


@dataclass(frozen=True)
class Trial:
    """Whether a claim holds on one example, and what to show of the example where it does not.

    `shown` are the example's inputs by the paper's symbols, then both sides; a person can check them by hand.
    """

    holds: bool
    shown: Mapping[str, object] = field(default_factory=dict)


Judge = Callable[[Case, Arithmetic], Trial]


@dataclass(frozen=True)
class Proof(Generic[Case]):
    """How a claim is judged on symbols in place of numbers.

    `covers` says what the symbols stand for. `sizes` returns an example's sizes by their names: a report says for which
    of them the claim was proved. `cases` are examples that cover the claim's where symbols cannot be drawn of these;
    `judge` judges what the claim follows from where that is not the claim itself.
    """

    covers: str
    sizes: Callable[[Case], Mapping[str, int | str]]
    cases: Strategy[Case] | None = None
    judge: Judge[Case] | None = None


@dataclass(frozen=True)
class Claim(Generic[Case]):
    """A statement that is tested by running it: `judge` must hold on every example that `cases` can make.

    Where one example takes long, `share` is the part of the examples asked for that are run. `proof` says how it is
    judged on symbols, if it can be.
    """

    cases: Strategy[Case]
    judge: Judge[Case]
    share: float = 1.0
    proof: Proof[Case] | None = None


def claim(
    cases: Strategy[Case],
    *,
    share: float = 1.0,
    proof: Proof[Case] | None = None,
) -> Callable[[Judge[Case]], Claim[Case]]:
    """Make a claim of a function that judges one example; its docstring is read without running it (catalogue.py)."""
    return lambda judge: Claim(cases, judge, share, proof)


Values = Tensor | Rounded | Sequence["Values"]


def equal(left: Values, right: Values, **inputs: object) -> Trial:
    """Judge whether two sides are the same number, vector or matrix, up to the rounding of both.

    A tensor, evaluated in the arithmetic that is tested, may be off by as much as the formula on the other side, so one
    side at least is written in Rounded numbers, with no fewer roundings than the tensor's evaluation has. Where sides
    differ, the first different element is shown.
    """
    ours, theirs = list(_flat(left)), list(_flat(right))
    if _shape(left) != _shape(right):
        return Trial(False, {**inputs, "shape of left": _shape(left), "shape of right": _shape(right)})
    for (place, one), (_, other) in zip(ours, theirs, strict=True):
        if not _close(one, other):
            at = str(list(place)) if place else ""
            return Trial(False, {**inputs, f"left{at}": _plain(one), f"right{at}": _plain(other)})
    return Trial(True)


def at_most(left: Rounded, right: Rounded, **inputs: object) -> Trial:
    """Judge whether the left side is at most the right one, up to the rounding of both."""
    holds = left.value - right.value <= left.error + right.error
    return Trial(holds, {**inputs, "left": left.value, "right": right.value})


def _close(left: float | Rounded, right: float | Rounded) -> bool:
    if isinstance(left, Rounded):
        return left.same(right)
    return right.same(left) if isinstance(right, Rounded) else left == right


def _plain(number: float | Rounded) -> float:
    return number.value if isinstance(number, Rounded) else number


def _flat(values: object, place: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], float | Rounded]]:
    if isinstance(values, Tensor):
        values = values.detach().cpu()
    if hasattr(values, "tolist"):  # symbols' tensors have it too
        values = values.tolist()
    if isinstance(values, Rounded | float | int):
        yield place, values
    elif isinstance(values, Sequence):
        for index, value in enumerate(values, start=1):
            yield from _flat(value, (*place, index))
    else:
        raise TypeError(f"neither a number nor a sequence of numbers: {values!r}")


def _shape(values: object) -> tuple[int, ...]:
    if hasattr(values, "shape"):
        return tuple(values.shape)
    if isinstance(values, Sequence):
        return (len(values), *(_shape(values[0]) if values else ()))
    return ()
