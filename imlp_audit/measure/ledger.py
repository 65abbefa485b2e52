"""Measuring the operation ledger: one forward pass on the meta device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from imlp_audit.errors import BuildError
from imlp_audit.measure.operations import Operation
from imlp_audit.measure.record import Ledger
from imlp_audit.measure.recorder import Bucket, Memory, Recorder

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
LAYERS = frozenset({nn.Linear, *CONVOLUTIONS})


def measure(model: nn.Module, *inputs: Tensor, memory: Memory | None = None) -> Ledger:
    """The exact work of `model(*inputs)`; puts the model in evaluation mode.

    Model and inputs must be on the meta device (`torch.empty(1, 3, 224, 224, device="meta")`): nothing is
    computed. Models counted with one `memory` are counted faster, as far as they share operations. Raises
    BuildError for a parameter that is elsewhere.
    """
    for name, parameter in model.named_parameters():
        if not parameter.is_meta:
            raise BuildError(f"{name} is on {parameter.device}; build the model under torch.device('meta') to count it")
    buckets = {path: Bucket() for path, _ in model.named_modules()}
    recorder = Recorder(buckets[""], {} if memory is None else memory)
    with torch.inference_mode(), _attribution(model.eval(), buckets, recorder.stack), recorder:
        model(*inputs)
    _book_layers(model, buckets)
    work = {(path, op): amount for path, bucket in buckets.items() for op, amount in bucket.items() if amount}
    return Ledger(work, dict(recorder.unknown))


def _book_layers(model: nn.Module, buckets: dict[str, Bucket]) -> None:
    """Books again what layers of torch.nn did; a layer of a class derived from one is not among them."""
    for path, module in model.named_modules():
        if type(module) in LAYERS:
            bucket = buckets[path]
            bucket[Operation.IN_LAYERS] = bucket[Operation.LINEAR] + bucket[Operation.CONV]


@contextmanager
def _attribution(model: nn.Module, buckets: dict[str, Bucket], stack: list[Bucket]) -> Iterator[None]:
    """Keeps the innermost running module's bucket on top of the stack; a shared module has its first path."""
    handles: list[RemovableHandle] = []
    try:
        for path, module in model.named_modules():
            handles += _hooks(module, buckets[path], stack)
        yield
    finally:
        for handle in handles:
            handle.remove()


def _hooks(module: nn.Module, bucket: Bucket, stack: list[Bucket]) -> tuple[RemovableHandle, RemovableHandle]:
    def enter(_module: nn.Module, _inputs: object) -> None:
        stack.append(bucket)

    def leave(_module: nn.Module, _inputs: object, _output: object) -> None:
        stack.pop()

    return module.register_forward_pre_hook(enter), module.register_forward_hook(leave)
