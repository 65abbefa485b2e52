"""The arguments of one example: their parts by name, to be shown, and to see that a claim leaves them as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum

import torch
from torch import Tensor, nn

_MOST, _SOME = 64, 4  # numbers of a tensor: of a larger one some are shown


@dataclass(frozen=True)
class Leaf:
    """A tensor, or another value, of an argument; `fixed` unless a module in training mode updates it."""

    name: str
    value: object
    fixed: bool = True


def list_parts(arguments: Mapping[str, object]) -> list[Leaf]:
    """Return copies of what the arguments hold: a module's state, the fields of a dataclass, what is in a sequence."""
    return [
        replace(part, value=part.value.clone()) if isinstance(part.value, Tensor) else part
        for part in _all_parts(arguments)
    ]


def _all_parts(arguments: Mapping[str, object]) -> Iterator[Leaf]:
    for name, value in arguments.items():
        yield from _parts(name, value)


def _parts(name: str, value: object) -> Iterator[Leaf]:
    if isinstance(value, Tensor):
        yield Leaf(name, value.detach())
    elif isinstance(value, nn.Module):
        yield from (Leaf(f"{name}.{own}", held.detach()) for own, held in value.named_parameters())
        for own, held in value.named_buffers():
            owner = value.get_submodule(own.rpartition(".")[0])
            yield Leaf(f"{name}.{own}", held.detach(), fixed=not owner.training)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _all_parts({f"{name}.{field.name}": getattr(value, field.name) for field in fields(value)})
    elif isinstance(value, Mapping):
        yield from _all_parts({f"{name}[{key}]": one for key, one in value.items()})
    elif isinstance(value, list | tuple) and not all(isinstance(one, str | float | int) for one in value):
        yield from _all_parts({f"{name}[{place}]": one for place, one in enumerate(value, start=1)})
    else:
        yield Leaf(name, tuple(value) if isinstance(value, list) else value)


def find_change(before: Sequence[Leaf], arguments: Mapping[str, object]) -> str | None:
    """Return the name of a part that is another now."""
    after = {part.name: part.value for part in _all_parts(arguments)}
    return next((one.name for one in before if one.fixed and not _same(one.value, after.get(one.name))), None)


def _same(one: object, other: object) -> bool:
    if isinstance(one, Tensor):
        if not isinstance(other, Tensor) or one.shape != other.shape:
            return False
        return torch.equal(one, other) or bool(((one == other) | one.isnan()).all())
    return one is other or one == other


def write_all(values: Mapping[str, object]) -> tuple[str, ...]:
    """Write values by their names, as texts "symbol = value"."""
    return tuple(f"{name} = {write(value)}" for name, value in values.items())


def write(value: object) -> str:
    """Write a value, numbers to six digits: as much as a person checks, and the same on every machine."""
    if isinstance(value, Tensor):
        if value.numel() <= _MOST:
            return write(value.tolist())
        some = ", ".join(map(write, value.flatten()[:_SOME].tolist()))
        return f"[{some}, ...] of shape {write(list(value.shape))}"
    if isinstance(value, float):
        return f"{value + 0.0:.6g}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(write, value))}]"
    if isinstance(value, Enum):
        return value.name.lower()
    text = getattr(value, "__name__", None) or str(value)
    return type(value).__name__ if " at 0x" in text else text
