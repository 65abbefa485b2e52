"""Peak memory of a forward pass: which tensors live at once, seen on the meta device by when Python frees them."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, UntypedStorage, nn
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode

from imlp_audit.count.dispatch import RunsOperations
from imlp_audit.count.ledger import Bucket, CallCache, Recorder
from imlp_audit.count.record import Peak


class Lifetimes(RunsOperations, TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch types it in part
    """Tracks the bytes of all live storages that operations made, and their largest sum."""

    def __init__(self, weights: Mapping[int, int]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.weights = sum(weights.values())
        self.live = self.peak = self.least = self.weights
        self._known = set(weights)
        self._held_by_model = frozenset(weights)

    def run(self, func: OpOverload, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
        """Run one operation and track its results."""
        result = func(*args, **kwargs)
        for tensor in _tensors(result):
            self.hold(tensor.untyped_storage())
        if not func.is_view:
            self.least = max(self.least, self.weights + self._bytes_touched(args, kwargs, result))
        return result

    def hold(self, storage: UntypedStorage) -> None:
        """Count a storage from now until it is freed; one that is already counted (a view's) counts once."""
        key = storage._cdata
        if key in self._known:
            return
        self._known.add(key)
        size = storage.nbytes()
        self.live += size
        self.peak = max(self.peak, self.live)
        weakref.finalize(storage, self._release, key, size)

    def _release(self, key: int, size: int) -> None:
        self._known.discard(key)
        self.live -= size

    def _bytes_touched(self, args: object, kwargs: Mapping[str, object], result: object) -> int:
        """Return the bytes of an operation's operands and results, without the weights."""
        storages = _storages(_tensors((args, tuple(kwargs.values()), result)))
        return sum(size for key, size in storages.items() if key not in self._held_by_model)


def _tensors(value: object) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _tensors(part)


def _storages(tensors: Iterator[Tensor]) -> dict[int, int]:
    """Return the bytes of each storage; one that tensors share is counted once."""
    return {t.untyped_storage()._cdata: t.untyped_storage().nbytes() for t in tensors}


def peak_memory(model: nn.Module, *inputs: Tensor, cache: CallCache | None = None) -> Peak:
    """Return the bytes alive at once in `model(*inputs)`: weights, buffers, inputs and activations.

    Model and inputs must be on the meta device. An operation's result counts from when it is made until Python
    frees it, as in an eager forward pass without gradients; work space inside a kernel is not counted.
    """
    weights = _storages(iter([*model.parameters(), *model.buffers()]))
    with torch.inference_mode(), Recorder(Bucket(), {} if cache is None else cache):
        lifetimes = Lifetimes(weights)
        for tensor in inputs:
            lifetimes.hold(tensor.untyped_storage())
        with lifetimes:
            model.eval()(*inputs)
    return Peak(lifetimes.peak, lifetimes.least)
