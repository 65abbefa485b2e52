"""The real fvcore, for tables that were made with it and for checking the ledger against it."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn

from imlp_audit.measure.attention import unfuse_attention


def count_with_fvcore(model: nn.Module, *inputs: Tensor) -> int:
    """fvcore's flops (one a multiply-accumulate) of `model(*inputs)`; puts the model in evaluation mode.

    fvcore traces real compute: model and inputs need data, on one device. Attention that timm fuses is written
    out first, as fvcore would drop its products.
    """
    # Gradients stay on: without them torch may take fast paths, whose inside fvcore doesn't see.
    with torch.enable_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from fvcore.nn import FlopCountAnalysis  # warns of a deprecation when it is imported

        analysis = FlopCountAnalysis(unfuse_attention(model.eval()), inputs)
        analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False).tracer_warnings("none")
        # A float where an einsum was counted; whole all the same.
        return int(analysis.total())
