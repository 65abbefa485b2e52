"""Ways to run torch's functions: on another device, with other threads, or without numbers that nobody needs."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

Function = Callable[..., object]
Named = dict[str, object]
"""The arguments of a call that are given by name."""


def current_device() -> torch.device:
    """Return the default device; `torch.get_default_device` of torch 2.6 ignores a `with torch.device(...)`."""
    return torch.empty(0).device


@contextmanager
def with_threads(count: int) -> Iterator[None]:
    """Let torch compute with a number of threads inside the context."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class CallMode(TorchFunctionMode):
    """Runs each function of torch by `call`; inside one, torch switches this mode off."""

    def __torch_function__(
        self,
        func: Function,
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        return self.call(func, args, dict(kwargs or {}))

    @abstractmethod
    def call(self, func: Function, args: tuple[object, ...], named: Named) -> object:
        """Return the result of a call."""


class SkipInitialisation(CallMode):
    """Skips in-place arithmetic on meta tensors, which is how weights are initialised: there are none to set.

    This makes building a host four times as fast; shapes and sharing stay as they are. Functions of `torch.nn.init`
    that are skipped whole have to be named: inside one, torch switches this mode off.
    """

    _ARITHMETIC = frozenset({"uniform_", "normal_", "erfinv_", "mul_", "add_", "clamp_", "fill_", "zero_", "copy_"})
    _IN_PLACE = _ARITHMETIC | {"constant_", "kaiming_uniform_"}

    def call(self, func: Function, args: tuple[object, ...], named: Named) -> object:
        """Return the tensor that an in-place call was to change; run every other call."""
        if getattr(func, "__name__", "") in self._IN_PLACE:
            target = args[0] if args else named.get("tensor")
            if isinstance(target, Tensor) and target.is_meta:
                return target
        return func(*args, **named)


class ArithmeticOnTheProcessor(CallMode):
    """Makes numbers on the processor: RegNet computes its widths with tensors, and meta tensors hold no numbers."""

    def call(self, func: Function, args: tuple[object, ...], named: Named) -> object:
        """Run a call, on the processor if it makes numbers."""
        device = {"device": "cpu"} if func in (torch.arange, torch.linspace, torch.tensor) else {}
        return func(*args, **{**device, **named})


class NothingIsPadded(CallMode):
    """Answers whether all of a mask is true, which transformers asks to leave the mask out: inputs are whole.

    Models ask the same of other tensors, such as whether a text has ended. That depends on values, and is not answered.
    """

    _ON_MASKS = frozenset({"transformers.masking_utils", "transformers.modeling_attn_mask_utils"})

    def call(self, func: Function, args: tuple[object, ...], named: Named) -> object:
        """Run a call; a mask without values is true everywhere."""
        mask = args[0] if args else None
        whole = func in (Tensor.all, torch.all) and len(args) == 1 and not named
        if whole and isinstance(mask, Tensor) and mask.is_meta and self._asked_of_masks():
            return True
        return func(*args, **named)

    def _asked_of_masks(self) -> bool:
        """Return whether what called the function is one of transformers' modules about masks."""
        callers = inspect.stack(0)[3:4]  # above this method, `call` and `__torch_function__`
        return any(caller.frame.f_globals.get("__name__") in self._ON_MASKS for caller in callers)


_SET_DATA = Tensor.data.__set__  # type: ignore[attr-defined]  # of the class, it is a descriptor


class WithoutCuda(CallMode):
    """Makes on the current device what code asks for on CUDA: sizes and counts are the same there.

    Parameters without values keep their data: inference mode refuses them what is made in it.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__()
        self._note = note

    def call(self, func: Function, args: tuple[object, ...], named: Named) -> object:
        """Run a call without its CUDA device."""
        if func == _SET_DATA:
            like = [(one.shape, one.dtype) for one in args if isinstance(one, Tensor) and one.is_meta]
            return None if like == like[:1] * 2 else func(*args, **named)
        if func is Tensor.cuda or any(map(_is_cuda, (*args[1:], *named.values()))):
            self._note("CUDA was asked for; the model was counted without it")
            named = {name: value for name, value in named.items() if not _is_cuda(value)}
            args = (*args[:1], *(one for one in args[1:] if not _is_cuda(one)))
            if func is Tensor.cuda or (func is Tensor.to and len(args) == 1 and not named):
                return args[0]
        return func(*args, **named)


def _is_cuda(value: object) -> bool:
    if isinstance(value, torch.device):
        return value.type == "cuda"
    return isinstance(value, str) and value.partition(":")[0] == "cuda"


class UsedParameters(CallMode):
    """Remembers which parameters operations were given."""

    def __init__(self) -> None:
        super().__init__()
        self.used: set[int] = set()

    def call(self, func: Function, args: tuple[object, ...], named: Named) -> object:
        """Run a call."""
        self.used.update(id(one) for one in tree_leaves((args, named)) if isinstance(one, nn.Parameter))
        return func(*args, **named)
