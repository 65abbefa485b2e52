"""Where fvcore counts other than its weights times the exact work: its own formula, by operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import floor, prod
from typing import TypeAlias

import numpy as np

from imlp_audit.measure.call import Call

Rule: TypeAlias = Callable[[Call], int]


def _nothing(_: Call) -> int:
    return 0


def _matmul(call: Call) -> int:
    """Forgets that the first operand may be broadcast over the second's batch."""
    other = call.shape("other")
    return call.shape("self").numel * (other[-1] if len(other) > 1 else 1)


def _conv(call: Call) -> int:
    """Knows `padding=1` and not `padding="same"`, which torch traces as another operation."""
    if isinstance(call.arguments["padding"], str):
        return 0
    return call.out.numel * prod(call.shape("weight")[1:])


def _einsum(call: Call) -> int:
    """Two equations by formula; the others as the four digits that numpy prints of its own optimised path.

    numpy counts two flops for every multiplication of a sum, one where nothing is summed; fvcore halves both.
    """
    equation = str(call.arguments["equation"]).replace(" ", "")
    shapes = call.shapes("tensors")
    letters = dict.fromkeys(letter for letter in equation if letter.isalpha())
    renamed = equation.translate({ord(letter): 97 + rank for rank, letter in enumerate(letters)})
    if renamed == "abc,abd->acd":
        return shapes[0].numel * shapes[1][-1]
    if renamed == "abc,adc->adb":
        return shapes[0].numel * shapes[1][1]
    # Broadcast from one element: numpy looks at shapes only.
    operands = [np.broadcast_to(np.zeros(()), shape) for shape in shapes]
    report: str = np.einsum_path(renamed, *operands, optimize="optimal")[1]
    line = next(line for line in report.split("\n") if "optimized flop" in line.lower())
    return floor(float(line.split(":")[-1]) / 2)


def _names(text: str, rule: Rule) -> Mapping[str, Rule]:
    return {f"aten::{name}": rule for name in text.split()}


FVCORE_RULES: Mapping[str, Rule] = {
    **_names("matmul", _matmul),
    **_names("conv1d conv2d conv3d", _conv),
    **_names("einsum", _einsum),
    **_names("baddbmm mv dot scaled_dot_product_attention", _nothing),
    **_names("adaptive_avg_pool1d adaptive_avg_pool3d", _nothing),
    **_names("adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d", _nothing),
    **_names("upsample_nearest1d upsample_nearest3d", _nothing),
    **_names(
        "upsample_linear1d upsample_trilinear3d _upsample_bilinear2d_aa",
        _nothing,
    ),
}
