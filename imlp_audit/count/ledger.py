"""One forward pass on the meta device: every operation's work is booked, and which tensors live at once."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

import torch
from torch import Tensor, UntypedStorage, nn
from torch._ops import OpOverload
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils._python_dispatch import TorchDispatchMode

from imlp_audit.count.call import MULTIPLY_ACCUMULATES, Operation, Work
from imlp_audit.count.dispatch import (
    FirstArgument,
    Made,
    RunsOperations,
    Template,
    call_of,
    made_by,
    output_shapes,
    run_on_meta,
    signature,
    tensors_in,
)
from imlp_audit.count.formulas import formula_of
from imlp_audit.count.fvcore import unseen_by_fvcore, work_of
from imlp_audit.count.hooks import Bucket, book_hooks
from imlp_audit.count.parameters import classifiers
from imlp_audit.count.record import Ledger, Peak
from imlp_audit.errors import BuildError

CallCache: TypeAlias = dict[Hashable, tuple[Work, Made]]
"""Work and result of every operation seen so far, by its name and the shapes and types of its arguments."""

# torch's tracer looks into these, so fvcore counts the operations inside.
_TRACED_THROUGH = frozenset({"aten::lstm_cell", "aten::gru_cell", "aten::rnn_tanh_cell", "aten::rnn_relu_cell"})


def measure(model: nn.Module, *inputs: Tensor, cache: CallCache | None = None, real: bool = False) -> Ledger:
    """The exact work of `model(*inputs)`; puts the model in evaluation mode.

    Model and inputs must be on the meta device (`torch.empty(1, 3, 224, 224, device="meta")`): nothing is
    computed. Models that share operations are counted faster with the same `cache`. Raises BuildError for a
    parameter on another device, unless the model is to be run for real, since it reads values, and for a forward pass
    that is a generator or a coroutine.
    """
    modules = dict(model.named_modules())  # listed once: a walk takes as long as a tenth of the pass
    for path, module in modules.items():
        for name, parameter in module.named_parameters(path, recurse=False):
            if not parameter.is_meta and not real:
                where = f"{name} is on {parameter.device}"
                raise BuildError(f"{where}; build the model under torch.device('meta') to count it")
    if any(module.training for module in modules.values()):
        model.eval()
    buckets = {path: Bucket() for path in modules}
    recorder = Recorder(buckets[""], {} if cache is None else cache, real=real)
    own = {module: buckets[path] for path, module in modules.items()}
    with torch.inference_mode(), _attribution(own, recorder.stack), recorder:
        output = model(*inputs)
    if isinstance(output, Iterator | AsyncIterator | Awaitable):
        what = type(output).__name__
        raise BuildError(f"forward of {type(model).__name__} returns a {what}, so the pass has not run what makes it")
    book_hooks(own)
    _book_classifier(model, own)
    work = {(path, op): amount for path, bucket in buckets.items() for op, amount in bucket.items() if amount}
    return Ledger(work, dict(recorder.unknown))


class Recorder(RunsOperations, TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch types it in part
    """Books the work of each operation in the bucket on top of `stack`.

    On the meta device a result is only sizes and strides, and models repeat their blocks: a call with arguments
    like an earlier one's is answered from the cache, without torch's slow shape functions. A real one is run.
    """

    def __init__(self, root: Bucket, cache: CallCache, *, real: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.stack = [root]
        self.unknown: Counter[str] = Counter()
        self._cache, self._real = cache, real
        self._hidden = False

    def run(self, func: OpOverload, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
        """Book and run one operation."""
        key = (func, signature(args), signature(kwargs))
        seen = self._cache.get(key)
        if seen is None:
            return self._run_first(func, args, kwargs, key)
        work, made = seen
        self._book(work)
        if self._real:
            return run_on_meta(func, args, kwargs)
        match made:
            case Template():
                return made.fresh()
            case FirstArgument():
                return args[0]
            case None:
                return run_on_meta(func, args, kwargs)

    def _run_first(
        self, func: OpOverload, args: tuple[object, ...], kwargs: Mapping[str, object], key: Hashable
    ) -> object:
        name = func._schema.name
        formula = formula_of(name)
        if formula is None:
            return self._run_without_formula(func, args, kwargs)
        result = run_on_meta(func, args, kwargs)
        work = work_of(call_of(func, args, kwargs, result), formula)
        self._cache[key] = work, made_by(func, args, result)
        self._book(work)
        return result

    def _run_without_formula(self, func: OpOverload, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
        """Record the operations that this one is made of; with this mode off, they would not be seen."""
        with self._inside(func._schema.name), self:
            result = func.decompose(*args, **kwargs)
        if result is not NotImplemented:
            return result
        result = run_on_meta(func, args, kwargs)
        self.unknown[func._schema.name] += 1
        self._book({Operation.UNKNOWN: sum(shape.numel for shape in output_shapes(result))})
        return result

    @contextmanager
    def _inside(self, name: str) -> Iterator[None]:
        outer, self._hidden = self._hidden, self._hidden or name not in _TRACED_THROUGH
        try:
            yield
        finally:
            self._hidden = outer

    def _book(self, work: Work) -> None:
        bucket = self.stack[-1]
        for operation, amount in (unseen_by_fvcore(work) if self._hidden else work).items():
            bucket[operation] += amount


def _book_classifier(model: nn.Module, own: Mapping[nn.Module, Bucket]) -> None:
    """Book a second time what the modules of the classifier did."""
    for module in {inner for classifier in classifiers(model) for inner in classifier.modules()}:
        if module in own:
            bucket = own[module]
            bucket[Operation.IN_CLASSIFIER] = sum(bucket[operation] for operation in MULTIPLY_ACCUMULATES)


@contextmanager
def _attribution(own: Mapping[nn.Module, Bucket], stack: list[Bucket]) -> Iterator[None]:
    """Keep the innermost running module's own bucket on top of the stack.

    One hook for all modules: thousands of hooks take longer to set than a model to run.
    """

    def enter(module: nn.Module, _inputs: object) -> None:
        stack.append(own.get(module, stack[-1]))  # a module that a function makes while it runs has no path

    def leave(_module: nn.Module, _inputs: object, _output: object) -> None:
        stack.pop()

    handles = register_module_forward_pre_hook(enter), register_module_forward_hook(leave)
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


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
        for tensor in tensors_in((result,)):
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
        storages = _storages(tensors_in((args, tuple(kwargs.values()), result)))
        return sum(size for key, size in storages.items() if key not in self._held_by_model)


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
