"""A model counted again under changes of one thing: an argument, the size of its images, its form."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, islice

from torch import nn

from imlp_audit.count.request import ModelRequest
from imlp_audit.count.whole import CountRequest, build_requested, count_each
from imlp_audit.records.counted import CountReport

_MOST = 80  # changes of arguments
_CLASSES = (10, 100, 200, 365, 1000, 21841, 21842, 21843, 2, 5, 19, 20, 21, 80, 81, 90, 91, 150, 171, 0)
_SIDES = (96, 112, 128, 160, 176, 192, 208, 224, 240, 256, 288, 299, 320, 352, 384, 416, 448, 480, 512)


@dataclass(frozen=True)
class Changes:
    """A model to change. With `work`, FLOPs are counted too, and images of other sizes are tried."""

    request: ModelRequest
    work: bool


def count_changes(asked: Changes) -> Iterator[tuple[str, str, CountReport | str]]:
    """Yield the kind of each change, its words, and the model counted under it, or why it could not be built.

    What is most often the cause comes first: a search may be ended.
    """
    every = list(_changes(asked))
    found = count_each([counting for _, _, counting in every])
    return ((kind, words, counted) for (kind, words, _), counted in zip(every, found, strict=True))


def _changes(asked: Changes) -> Iterator[tuple[str, str, CountRequest]]:
    request = asked.request
    yield "form", "batch norms folded into the convolutions", CountRequest(request, asked.work, deployed=True)
    for side in _SIDES if asked.work else ():
        other = request.with_side(side)
        if other is not None and other != request:
            yield "size", f"images of {side} x {side}", CountRequest(other)
    for words, changed in islice(_other_arguments(request), _MOST):
        yield "argument", words, CountRequest(changed, asked.work)


def _other_arguments(request: ModelRequest) -> Iterator[tuple[str, ModelRequest]]:
    """Yield other values of the signature's integers and truth values, one at a time, and integers exchanged."""
    model, maker = build_requested(request)
    found = {**_settable(type(model), model), **_settable(maker, model), **request.arguments}
    integers = {name: value for name, value in found.items() if type(value) is int and value > 0}
    sizes = {name: value for name, value in integers.items() if not _counts_classes(name)}
    values = [(name, count) for name in integers if _counts_classes(name) for count in _CLASSES]
    values += [(name, not value) for name, value in found.items() if isinstance(value, bool)]
    values += [(name, value) for name, size in sizes.items() for value in (2 * size, max(1, size // 2))]
    values += [(name, value) for name, size in sizes.items() for value in (size + 1, max(1, size - 1))]
    tried = [(name, value) for name, value in dict.fromkeys(values) if value != found[name]]
    yield from ((f"{name}={value}", request.with_argument(name, value)) for name, value in tried)
    for (one, first), (other, second) in combinations(sizes.items(), 2):
        if first != second:
            changed = request.with_argument(one, second).with_argument(other, first)
            yield f"{one} and {other} exchanged", changed


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
