"""What mmcv's counter gives, told from a ledger (`mmcv/cnn/utils/flops_counter.py`, since version 1.2.8).

It counts modules by their type, and so nothing that is written between them: attention's two products, functional
calls, GELU. Swin's official detectors and segmenters were counted with it, attention's products added.
"""

from __future__ import annotations

from collections.abc import Collection

from torch import nn

from imlp_audit.count.call import Operation
from imlp_audit.count.record import Ledger, is_within

COUNTED: dict[type[nn.Module], tuple[Operation, ...]] = {
    nn.Conv2d: (Operation.CONV, Operation.BIAS),
    nn.ConvTranspose2d: (Operation.CONV, Operation.BIAS),
    nn.Linear: (Operation.LINEAR,),
    nn.LayerNorm: (Operation.LAYER_NORM, Operation.LAYER_NORM_AFFINE),
    nn.BatchNorm2d: (Operation.BATCH_NORM, Operation.BATCH_NORM_AFFINE),
    nn.ReLU: (Operation.ACTIVATION,),
    nn.AdaptiveAvgPool2d: (Operation.ADAPTIVE_POOL,),
}


def mmcv_count(model: nn.Module, ledger: Ledger, synchronised: Collection[str] = ()) -> int:
    """Return the count; in the modules named `synchronised` the batch norms are SyncBN, which it does not know."""
    kinds = {path: type(module) for path, module in model.named_modules()}
    return sum(
        amount
        for (path, operation), amount in ledger.work.items()
        if operation in COUNTED.get(kinds[path], ())
        and not (kinds[path] is nn.BatchNorm2d and is_within(path, synchronised))
    )


def products(ledger: Ledger) -> int:
    """Return the multiply-accumulates of attention's two products."""
    return sum(amount for (_, operation), amount in ledger.work.items() if operation is Operation.PRODUCT)
