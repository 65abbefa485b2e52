"""A model counted again under changes of one thing: an argument, the size of its images, its form."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torch import nn

from imlp_audit.count.request import ModelRequest
from imlp_audit.count.whole import Counting, build_requested, count_each
from imlp_audit.records.counted import CountedModel

_MOST = 60  # arguments' values
_CLASSES = (10, 100, 200, 365, 1000, 21841, 21842, 21843, 2, 5, 19, 20, 21, 80, 81, 90, 91, 150, 171, 0)
_SIDES = (96, 112, 128, 160, 176, 192, 208, 224, 240, 256, 288, 299, 320, 352, 384, 416, 448, 480, 512)


@dataclass(frozen=True)
class Changes:
    """What to change: `arguments` by the values to try, or else those of the signature.

    With `work`, FLOPs are counted too, and images of other sizes are tried.
    """

    request: ModelRequest
    work: bool
    arguments: Mapping[str, Sequence[object]]


def count_changes(asked: Changes) -> Iterator[tuple[str, str, CountedModel | str]]:
    """Yield the kind of each change, its words, and the model counted under it, or why it could not be built."""
    every = list(_changes(asked))
    found = count_each([counting for _, _, counting in every])
    return ((kind, words, counted) for (kind, words, _), counted in zip(every, found, strict=True))


def _changes(asked: Changes) -> Iterator[tuple[str, str, Counting]]:
    request = asked.request
    tried = asked.arguments or dict(_values_to_try(request))
    pairs = [(name, value) for name, values in tried.items() for value in values]
    for name, value in pairs[:_MOST]:
        yield "argument", f"{name}={value}", Counting(request.with_argument(name, value), asked.work)
    for side in _SIDES if asked.work else ():
        other = request.with_side(side)
        if other is not None and other != request:
            yield "size", f"images of {side} x {side}", Counting(other)
    yield "form", "batch norms folded into the convolutions", Counting(request, asked.work, deployed=True)


def _values_to_try(request: ModelRequest) -> Iterator[tuple[str, Sequence[object]]]:
    """Yield integers and truth values of the signature with other values: classes first, then what may be on or off."""
    model, maker = build_requested(request)
    found = {**_settable(type(model), model), **_settable(maker, model), **request.arguments}
    integers = {name: value for name, value in found.items() if type(value) is int and value > 0}
    for name, value in integers.items():
        if _counts_classes(name):
            yield name, [count for count in _CLASSES if count != value]
    for name, switched in found.items():
        if isinstance(switched, bool):
            yield name, [not switched]
    for name, value in integers.items():
        if not _counts_classes(name):
            others = (2 * value, value // 2, value + 1, value - 1)
            yield name, [other for other in dict.fromkeys(others) if other > 0 and other != value]


def _counts_classes(name: str) -> bool:
    return "class" in name or name in {"num_labels", "nc"}


def _settable(maker: Callable[..., object], model: nn.Module) -> Mapping[str, object]:
    """Return the arguments of a signature that have a default, with what the model has in their place."""
    try:
        known = inspect.signature(maker).parameters.values()
    except (TypeError, ValueError):
        return {}
    own = vars(model)
    return {
        one.name: own[one.name] if type(own.get(one.name)) is type(one.default) else one.default
        for one in known
        if isinstance(one.default, bool | int)
    }
