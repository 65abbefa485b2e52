"""Formulas of normalisations, in input elements."""

from __future__ import annotations

from imlp_audit.measure.call import Call
from imlp_audit.measure.operations import Operation, Work
from imlp_audit.measure.tables import Formula, Table, each, join


def norm(plain: Operation, affine: Operation) -> Formula:
    """A normalisation of its input, with or without a learned weight."""

    def formula(call: Call) -> Work:
        elements = call.operand.numel
        return {plain: elements, affine: elements} if call.given("weight") else {plain: elements}

    return formula


def batch_norm(call: Call) -> Work:
    """With running statistics in evaluation, with the batch's own in training."""
    plain = Operation.BATCH_NORM_TRAINING if call.given("training") else Operation.BATCH_NORM
    return norm(plain, Operation.BATCH_NORM_AFFINE)(call)


NORMS: Table = join(
    each("layer_norm", norm(Operation.LAYER_NORM, Operation.LAYER_NORM_AFFINE)),
    each("group_norm", norm(Operation.GROUP_NORM, Operation.GROUP_NORM_AFFINE)),
    each("instance_norm", norm(Operation.INSTANCE_NORM, Operation.INSTANCE_NORM_AFFINE)),
    each("rms_norm", norm(Operation.RMS_NORM, Operation.RMS_NORM_AFFINE)),
    each("batch_norm", batch_norm),
)
