"""Tensors of a checkpoint as arrays of float64."""

from __future__ import annotations

from collections.abc import Iterator
from math import frexp

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Matrix = NDArray[np.float64]
_CHUNK = 1 << 20  # how many numbers are converted at a time
_LARGEST = 1e60  # products of four such numbers, and their sums, are still finite


def why_not_plain(value: Tensor) -> str | None:
    """Return why a tensor is not one of floating-point numbers as they are; None if it is."""
    if value.is_meta or value.is_quantized or value.layout is not torch.strided or not value.is_floating_point():
        return "is not a plain tensor of floating-point numbers"
    return None


def why_unusable(value: Tensor) -> str | None:
    """Return why a tensor's numbers cannot be used; None if they can."""
    other = why_not_plain(value)
    if other is not None:
        return other
    if not value.numel():
        return "is empty"
    if value.numel() * value.element_size() > value.untyped_storage().nbytes():
        return "repeats the numbers of a smaller one"
    bad = sum(int((~torch.isfinite(chunk)).sum()) for chunk in chunks(value))
    if bad:
        return f"holds numbers that are not finite: {bad} of {value.numel()}"
    return (
        "holds numbers that are too large to multiply"
        if any(chunk.abs().max() > _LARGEST for chunk in chunks(value))
        else None
    )


def chunks(value: Tensor) -> Iterator[Tensor]:
    """Yield the numbers of a tensor in float64, which holds every smaller type exactly, a chunk at a time."""
    flat = value.detach().reshape(-1)
    for start in range(0, len(flat), _CHUNK):
        yield flat[start : start + _CHUNK].to("cpu", torch.float64)


def to_array(value: Tensor) -> Matrix:
    """Return a tensor's numbers in float64."""
    numbers: Matrix = value.detach().to("cpu", torch.float64).numpy()
    return numbers


def scale(values: Matrix) -> Matrix:
    """Return the numbers times a power of two, so that the largest is near 1 and no square overflows.

    Only numbers that are too small to count next to the largest are rounded.
    """
    _, exponent = frexp(float(np.abs(values).max(initial=0.0)))
    moved: Matrix = np.ldexp(values, -exponent)
    return moved
