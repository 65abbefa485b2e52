"""The two public counters that the ledger is held to, and hosts to count."""

from __future__ import annotations

import warnings
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO

import torch
from ptflops import get_model_complexity_info
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from imlp_audit.count.call import BOOKED_TWICE, Operation
from imlp_audit.count.conventions import FLOPS_CONVENTIONS, total
from imlp_audit.count.fvcore import count_with_fvcore, unfuse_attention
from imlp_audit.count.ledger import measure
from imlp_audit.count.record import Ledger

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)  # timm scripts two activations, which torch deprecates
    import timm


def host(name: str, device: str) -> nn.Module:
    """A timm classifier with random weights whose attention is written out."""
    with torch.device(device):
        model: nn.Module = timm.create_model(name, pretrained=False)
    return unfuse_attention(model.eval().requires_grad_(False))


def with_zeros(model: nn.Module) -> nn.Module:
    """A model of the meta device on the CPU, its weights zeros: drawing them would take longer than counting."""
    model.to_empty(device="cpu")
    for tensor in (*model.parameters(), *model.buffers()):
        tensor.zero_()
    return model


def image_size(model: nn.Module) -> tuple[int, ...]:
    """(1, channels, height, width) of the image that a timm model takes."""
    return (1, *timm.data.resolve_model_data_config(model)["input_size"])


def flop_counter_macs(model: nn.Module, *inputs: Tensor) -> int:
    """Multiply-accumulates by torch's FlopCounterMode, which counts two flops for each."""
    with FlopCounterMode(display=False) as counter:
        model(*inputs)
    flops: int = counter.get_total_flops()
    assert flops % 2 == 0
    return flops // 2


def ptflops_of(model: nn.Module) -> int:
    """Multiply-accumulates and biases of one image of 224 x 224, by ptflops where it watches torch itself."""
    with redirect_stdout(StringIO()):
        counted, _ = get_model_complexity_info(
            model, (3, 224, 224), as_strings=False, print_per_layer_stat=False, backend="aten"
        )
    return int(counted)


def on_meta(*inputs: Tensor) -> list[Tensor]:
    """The inputs without their data."""
    return [tensor.to("meta") for tensor in inputs]


def ledger_of(model: nn.Module, *inputs: Tensor) -> Ledger:
    """The ledger of a small model that lives on the CPU; the model is moved."""
    return measure(model.to("meta"), *on_meta(*inputs))


def both_fvcore(model: nn.Module, *inputs: Tensor) -> tuple[int, int]:
    """Total by the ledger under the convention `fvcore`, and by fvcore itself."""
    real = count_with_fvcore(model, *inputs)
    return total(ledger_of(model, *inputs), FLOPS_CONVENTIONS["fvcore"]), real


def by_operation(ledger: Ledger) -> dict[Operation, int]:
    """A ledger's work by class over all modules, without what is booked for one counter or in other units."""
    sums: Counter[Operation] = Counter()
    for (_, operation), amount in ledger.work.items():
        if operation not in set(BOOKED_TWICE) - {Operation.IN_LAYERS, Operation.IN_CLASSIFIER, Operation.FVCORE_EXCESS}:
            sums[operation] += amount
    return dict(sums)
