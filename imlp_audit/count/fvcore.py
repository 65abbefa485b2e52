"""What fvcore counts: its departures from the exact work of a call, and the real fvcore to compare with."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from math import floor, prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from imlp_audit.count.call import Call, Formula, Operation, Work
from imlp_audit.count.conventions import FVCORE_WEIGHTS

if TYPE_CHECKING:
    from torch import Tensor, nn

Rule: TypeAlias = Callable[[Call], int]


def _nothing(_: Call) -> int:
    return 0


def _matmul(call: Call) -> int:
    """fvcore ignores that the first operand may be broadcast over the second's batch."""
    other = call.shape("other")
    return call.shape("self").numel * (other[-1] if len(other) > 1 else 1)


def _conv(call: Call) -> int:
    """fvcore counts `padding=1` but not `padding="same"`, which torch traces as another operation."""
    if isinstance(call.arguments["padding"], str):
        return 0
    return call.out.numel * prod(call.shape("weight")[1:])


def _einsum(call: Call) -> int:
    """fvcore has formulas for two equations; for others it takes the four digits that numpy prints for its own path.

    numpy counts two flops for every multiplication in a sum and one if nothing is summed; fvcore halves both.
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
    **_names("upsample_linear1d upsample_trilinear3d _upsample_bilinear2d_aa", _nothing),
}


def work_of(call: Call, formula: Formula) -> Work:
    """The exact work of a call, and what fvcore counts beyond that."""
    work = formula(call)
    if call.name.endswith("_"):
        return unseen_by_fvcore(work)  # fvcore knows operations by name, and no in-place one
    rule = FVCORE_RULES.get(call.name)
    return work if rule is None else _with_fvcore_count(work, rule(call))


def unseen_by_fvcore(work: Work) -> Work:
    """The same work, of which fvcore counts nothing: it was done inside an operation that fvcore does not know."""
    exact: Work = {op: amount for op, amount in work.items() if op is not Operation.FVCORE_EXCESS}
    return _with_fvcore_count(exact, 0)


def _with_fvcore_count(work: Work, counted: int) -> Work:
    excess = counted - sum(FVCORE_WEIGHTS.get(operation, 0) * amount for operation, amount in work.items())
    return {**work, Operation.FVCORE_EXCESS: excess} if excess else work


def unfuse_attention(model: nn.Module) -> nn.Module:
    """Make timm's attention compute its two products separately, since fvcore counts no fused ones. Same model."""
    for module in model.modules():
        if getattr(module, "fused_attn", False):
            module.fused_attn, module.was_fused = False, True  # type: ignore[assignment]  # plain attributes
    return model


def is_unfused(module: nn.Module) -> bool:
    """Return whether `unfuse_attention` changed a module."""
    return "was_fused" in module.__dict__


def count_with_fvcore(model: nn.Module, *inputs: Tensor) -> int:
    """fvcore's flops (one per multiply-accumulate) of `model(*inputs)`; puts the model in evaluation mode.

    fvcore traces a real forward pass: model and inputs need data, on one device. timm's fused attention is
    switched off first, because fvcore would not count its products.
    """
    import torch

    # Gradients stay on: without them torch may take fast paths whose inside fvcore doesn't see.
    with torch.enable_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from fvcore.nn import FlopCountAnalysis  # half a second to import; warns of a deprecation

        analysis = FlopCountAnalysis(unfuse_attention(model.eval()), inputs)
        analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False).tracer_warnings("none")
        # A float if an einsum was counted, but always a whole number.
        return int(analysis.total())
