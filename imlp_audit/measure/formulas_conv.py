"""Formulas of convolutions, in multiply-accumulates."""

from __future__ import annotations

from math import prod

from imlp_audit.measure.call import Call
from imlp_audit.measure.operations import Operation, Work
from imlp_audit.measure.tables import Table, each, join


def conv(call: Call) -> Work:
    """Every output element sums over its group's channels and kernel; weight (out, in/groups, *kernel)."""
    return _with_bias(call, call.out.numel * prod(call.shape("weight")[1:]))


def conv_transpose(call: Call) -> Work:
    """Every input element spreads over its group's outputs and kernel; weight (in, out/groups, *kernel)."""
    return _with_bias(call, call.shape("input").numel * prod(call.shape("weight")[1:]))


def convolution(call: Call) -> Work:
    """The general operation, transposed or not."""
    return conv_transpose(call) if call.given("transposed") else conv(call)


def _with_bias(call: Call, macs: int) -> Work:
    work = {Operation.CONV: macs}
    return work | {Operation.BIAS: call.out.numel} if call.given("bias") else work


CONVOLUTIONS: Table = join(
    each("conv1d conv2d conv3d", conv),
    each("conv_transpose1d conv_transpose2d conv_transpose3d", conv_transpose),
    each("convolution _convolution", convolution),
)
