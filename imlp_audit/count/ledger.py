"""One forward pass on the meta device: every operation's work is booked, and which tensors live at once."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor, UntypedStorage, nn
from torch._ops import OpOverload
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils._python_dispatch import TorchDispatchMode

from imlp_audit.count.call import MULTIPLY_ACCUMULATES, Argument, Call, Operation, TensorShape, Work
from imlp_audit.count.formulas import formula_of
from imlp_audit.count.fvcore import unseen_by_fvcore, work_of
from imlp_audit.count.hooks import Bucket, book_hooks
from imlp_audit.count.parameters import classifiers
from imlp_audit.count.record import Ledger, Peak
from imlp_audit.errors import BuildError


class RunsOperations(ABC):
    """What a TorchDispatchMode inherits instead of having a `__torch_dispatch__` of its own.

    Torch wraps a mode's own one for its compiler: that takes a second to import, and as long for each call as booking.
    """

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: tuple[type, ...],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        return self.run(func, args, kwargs or {})

    @abstractmethod
    def run(self, func: OpOverload, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
        """Run one operation and return its result."""


def call_of(func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object], result: object) -> Call:
    """The call that produced `result`, with defaults for omitted arguments."""
    parameters = func._schema.arguments
    given = {parameter.name: value for parameter, value in zip(parameters, args, strict=False)} | dict(kwargs)
    arguments = {p.name: _argument(given.get(p.name, p.default_value)) for p in parameters}
    first = next(iter(_tensors([*args, *kwargs.values()])), None)
    row_by_row = first is None or first.is_contiguous()
    return Call(func._schema.name, arguments, tuple(output_shapes(result)), row_by_row)


def output_shapes(result: object) -> list[TensorShape]:
    """TensorShapes of all tensors in a result, in order."""
    return [TensorShape(tensor.shape) for tensor in _tensors(result)]


def _argument(value: object) -> Argument:
    if isinstance(value, Tensor):
        return TensorShape(value.shape)
    if isinstance(value, tuple | list):
        return tuple(_argument(item) for item in value)
    return value if value is None or isinstance(value, int | float | str) else str(value)


def run_on_meta(func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
    """The operation's result, computed on the meta device if any argument is there.

    A model may create a table in its forward pass without naming a device, so on the CPU; when that meets a
    tensor on the meta device, it is moved there. A convolution of an image that is stored pixel by pixel gives such an
    image, as on a processor; torch's own meta device says otherwise.
    """
    if len({tensor.is_meta for tensor in _tensors([*args, *kwargs.values()])}) == 2:
        args, kwargs = [*map(_on_meta, args)], {name: _on_meta(value) for name, value in kwargs.items()}
    result = func(*args, **kwargs)
    if func._schema.name == "aten::conv2d" and isinstance(result, Tensor) and result.is_meta and _is_by_pixel(args[0]):
        return result.contiguous(memory_format=torch.channels_last)
    return result


def _is_by_pixel(image: object) -> bool:
    """Return whether an image is stored pixel by pixel; `is_contiguous` allows any stride for an extent of 1."""
    if not isinstance(image, Tensor) or image.ndim != 4:
        return False
    by_pixel = image.is_contiguous(memory_format=torch.channels_last)
    return by_pixel and image.stride() != torch.empty(image.shape, device="meta").stride()


def _on_meta(value: object) -> object:
    if isinstance(value, Tensor):
        return value.to("meta")
    return type(value)(map(_on_meta, value)) if isinstance(value, tuple | list) else value


_SCALARS = frozenset({int, float, bool, str, type(None)})


def signature(value: object) -> Hashable:
    """A key of sizes, strides and types: two arguments share it only if an operation's results are alike for both.

    Numbers include their type: 1, 1.0 and True are equal but promote differently.
    """
    if value.__class__ in _SCALARS:  # most arguments are
        return value.__class__, value
    if isinstance(value, Tensor):
        return value.shape, value.stride(), value.dtype, value.device
    if isinstance(value, tuple | list):
        return tuple([signature(item) for item in value])
    if isinstance(value, Mapping):
        return tuple([(name, signature(item)) for name, item in value.items()])
    return value.__class__, value


@dataclass(frozen=True)
class Template:
    """A tensor's metadata, from which new tensors can be made."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype

    def fresh(self) -> Tensor:
        """A new tensor on the meta device, without data."""
        return torch.empty_strided(self.size, self.stride, dtype=self.dtype, device="meta")


Made: TypeAlias = Template | Literal["first argument"] | None
"""The first argument of an operation that returns it: one that writes in place, or a dropout that drops nothing."""


def made_by(func: OpOverload, args: Sequence[object], result: object) -> Made:
    """Return how to make the result of a call like this one on the meta device; None where it has to be run again."""
    first = args[0] if args else None
    if result is first and isinstance(first, Tensor) and first.is_meta and torch.Tag.inplace_view not in func.tags:
        return "first argument"
    returned = any(result is argument for argument in args)
    if func._schema.is_mutable or func.is_view or returned or not isinstance(result, Tensor) or not result.is_meta:
        return None
    return Template(tuple(result.shape), result.stride(), result.dtype)


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
        if self._real or made is None:
            return run_on_meta(func, args, kwargs)
        return made.fresh() if isinstance(made, Template) else args[0]

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
    """Keep the running module's bucket on top of the stack, by one hook: thousands take longer than a model."""

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
