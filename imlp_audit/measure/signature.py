"""What decides an operation's result on the meta device: sizes, strides and data types."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor


def signature(value: object) -> Hashable:
    """A key that two arguments share only if an operation's result has the same metadata for both.

    A number carries its type: 1, 1.0 and True are equal, and promote differently.
    """
    if isinstance(value, Tensor):
        return value.shape, value.stride(), value.dtype, value.device
    if isinstance(value, tuple | list):
        return tuple([signature(item) for item in value])
    if isinstance(value, Mapping):
        return tuple([(name, signature(item)) for name, item in value.items()])
    return value.__class__, value


@dataclass(frozen=True)
class Template:
    """A tensor's metadata, of which any number of new tensors can be made."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype

    def fresh(self) -> Tensor:
        """A new tensor on the meta device, without data."""
        return torch.empty_strided(self.size, self.stride, dtype=self.dtype, device="meta")


def template_of(result: object) -> Template | None:
    """The template of a result; None if it isn't a tensor on the meta device alone."""
    if isinstance(result, Tensor) and result.is_meta:
        return Template(tuple(result.shape), result.stride(), result.dtype)
    return None
