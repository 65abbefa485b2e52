"""What a file claims about one tensor, before any of its numbers is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

BYTES = {
    "bool": 1, "uint8": 1, "int8": 1, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1,
    "uint16": 2, "int16": 2, "float16": 2, "bfloat16": 2,
    "uint32": 4, "int32": 4, "float32": 4,
    "uint64": 8, "int64": 8, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
"""The size of one number of each supported type, by torch's name."""

MOST_TENSORS = 20_000
LARGEST_RANK = 16


@dataclass(frozen=True)
class TensorInfo:
    """A tensor's shape, the type of its numbers (torch's name), and where they lie.

    They lie in a storage, from its number `start` on, with a stride for each axis.
    """

    shape: tuple[int, ...]
    dtype: str
    storage: str
    start: int = 0
    strides: tuple[int, ...] = ()

    @property
    def numel(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)


def read_shape(value: object) -> tuple[int, ...] | None:
    """Return a shape from a file; None for anything but a short list of whole numbers of which strides can be made."""
    if not isinstance(value, tuple | list) or len(value) > LARGEST_RANK:
        return None
    sizes = tuple(size for size in value if type(size) is int and 0 <= size < 2**63)
    return sizes if len(sizes) == len(value) and prod(max(size, 1) for size in sizes) < 2**63 else None


@dataclass(frozen=True)
class Content:
    """What a file describes, and where in it the bytes of each storage are, unless its own library reads them."""

    tree: object
    spans: Mapping[str, range] = field(default_factory=dict)
