"""Numbers, switches and defaults that the code of a model's classes has, changed one at a time. No file is changed."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FunctionType

from torch import nn

_SMALL = 7  # a kernel, a stride or a number of layers; what is larger is a width


def change_code(model: nn.Module, root: Path) -> Iterator[str]:
    """Yield changes, in words, of what the classes of a repository do when a model is made; each holds until the next.

    The arguments of the model itself are left to those who call it.
    """
    classes = dict.fromkeys(kind for one in model.modules() for kind in type(one).__mro__)
    for kind in filter(lambda one: _is_below(one, root), classes):
        make = inspect.unwrap(vars(kind).get("__init__", object.__init__))
        if isinstance(make, FunctionType):
            if kind is not type(model):
                yield from _change_defaults(kind.__name__, make)
            yield from _change_constants(kind.__name__, make)


def _is_below(kind: type, root: Path) -> bool:
    with suppress(TypeError, OSError):
        file = Path(inspect.getfile(kind)).resolve()
        return file.is_relative_to(root) and "site-packages" not in file.parts
    return False


def _change_defaults(name: str, make: FunctionType) -> Iterator[str]:
    plain, named = make.__defaults__ or (), make.__kwdefaults__ or {}
    places = make.__code__.co_varnames[: make.__code__.co_argcount][-len(plain) :] if plain else ()
    try:
        for at, (argument, value) in enumerate(zip((*places, *named), (*plain, *named.values()), strict=True)):
            for other in _others(value):
                every = [*plain, *named.values()]
                every[at] = other
                make.__defaults__ = tuple(every[: len(plain)])
                make.__kwdefaults__ = dict(zip(named, every[len(plain) :], strict=True))
                yield f"{name} with {argument}={other}, which is {value} by default"
    finally:
        make.__defaults__, make.__kwdefaults__ = plain, named


def _change_constants(name: str, make: FunctionType) -> Iterator[str]:
    own = make.__code__
    try:
        for at, value in enumerate(own.co_consts):
            for other in _others(value):
                make.__code__ = own.replace(co_consts=(*own.co_consts[:at], other, *own.co_consts[at + 1 :]))
                yield f"{other}, not {value}, in the code of {name}"
    finally:
        make.__code__ = own


def _others(value: object) -> Iterator[object]:
    """Yield what may stand in the place of a switch or a number: nothing for 0 and 1, which may mean anything."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int) and value > _SMALL:
        yield from (2 * value, value // 2)
    elif isinstance(value, int) and value > 1:
        yield from dict.fromkeys(one for one in (value + 1, value - 1, value + 2, value - 2, 2 * value) if one > 0)
