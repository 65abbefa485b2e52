"""The functions and classes that a pickle of weights may name, and what comes of calling them. None is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from imlp_audit.checkpoint.held import BYTES, Held, shape_of
from imlp_audit.checkpoint.refusal import RefusedError, shown

_STORAGES = {
    "BoolStorage": "bool", "ByteStorage": "uint8", "CharStorage": "int8", "ShortStorage": "int16",
    "IntStorage": "int32", "LongStorage": "int64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "FloatStorage": "float32", "DoubleStorage": "float64", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}  # fmt: skip
_UNTYPED = "torch.storage UntypedStorage"
_KINDS = {f"torch {name}": dtype for name, dtype in _STORAGES.items()} | {_UNTYPED: "uint8"}
_CALLED = {
    "collections OrderedDict", "collections Counter", "torch Size", "torch device", "_codecs encode",
    "torch._utils _rebuild_parameter", "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_tensor_v3",
}  # fmt: skip
_PLAIN = {*_KINDS, *_CALLED, *(f"torch {dtype}" for dtype in BYTES), "argparse Namespace"}
_ODD = {
    "torch._utils _rebuild_sparse_tensor": "a sparse tensor",
    "torch._utils _rebuild_qtensor": "a quantized tensor",
    "torch._utils _rebuild_meta_tensor_no_storage": "a tensor without numbers, on the meta device",
    "torch._utils _rebuild_nested_tensor": "a nested tensor",
    "torch._utils _rebuild_wrapper_subclass": "a tensor of a class of its own",
    "torch._utils _rebuild_device_tensor_from_numpy": "a tensor of another device",
    "torch._utils _rebuild_device_tensor_from_cpu_tensor": "a tensor of another device",
    "torch._utils _rebuild_parameter_with_state": "a parameter with attributes of its own",
    "torch._utils _rebuild_tensor": "a tensor as torch wrote it before 0.4",
    "torch._tensor _rebuild_from_type_v2": "a tensor of a class of its own",
}
_SAVE = "save model.state_dict() with safetensors, in a file that ends in .safetensors"


@dataclass(frozen=True)
class Name:
    """A function or class as the pickle names it, "module name". It is never looked up."""

    text: str


@dataclass(frozen=True)
class Storage:
    """Where numbers lie: their type, the key of the bytes in the file, and how many the pickle claims."""

    dtype: str
    key: str
    numel: int

    @property
    def size(self) -> int:
        """How many bytes it claims."""
        return self.numel * BYTES[self.dtype]


class Inert:
    """An object that holds no weights: training options, a device, bytes."""


INERT = Inert()


def allowed(text: str, tensor: str) -> Name:
    """Return the name of something that is known; `tensor` is what is being made. Raises RefusedError for all else."""
    if text in _ODD:
        raise RefusedError(f"holds {shown(tensor)}, which is no plain tensor of real numbers but {_ODD[text]}; {_SAVE}")
    if text not in _PLAIN:
        told = (
            f"is no torch file that holds tensors alone: it asks for {shown(text.replace(' ', '.'))}, which was not run"
        )
        raise RefusedError(f"{told}; where you trust it, load it where it was written and {_SAVE}")
    return Name(text)


def called(function: Name, arguments: tuple[object, ...], tensor: str) -> object:
    """Return what a call would make. Raises RefusedError for a tensor that its storage has no room for, TypeError."""
    match function.text, arguments:
        case "collections OrderedDict", ():
            return {}
        case "collections Counter", (dict() as counts,):
            return dict(counts)
        case "torch Size", (tuple() as sizes,):
            return sizes
        case ("torch device", (str(), *_)) | ("_codecs encode", (str(), "latin1")):
            return INERT
        case "torch._utils _rebuild_parameter", (Held() as held, bool(), dict() as hooks) if not hooks:
            return held
        case "torch._utils _rebuild_tensor_v2", (
            Storage() as storage,
            start,
            shape,
            strides,
            bool(),
            dict() as hooks,
        ) if not hooks:
            return _view(storage, storage.dtype, (start, shape, strides), tensor)
        case "torch._utils _rebuild_tensor_v3", (
            Storage() as storage,
            start,
            shape,
            strides,
            bool(),
            dict() as hooks,
            Name(dtype),
        ) if not hooks:
            return _view(storage, dtype.removeprefix("torch "), (start, shape, strides), tensor)
    raise TypeError


def _view(storage: Storage, dtype: str, place: tuple[object, object, object], tensor: str) -> Held:
    """Return the tensor that is a view of a storage: from a start, with a stride for each axis."""
    start, shape, strides = place[0], shape_of(place[1]), shape_of(place[2])
    if type(start) is not int or start < 0 or shape is None or strides is None or len(shape) != len(strides):
        raise RefusedError(f"holds {shown(tensor)} with a shape that is none; save it again")
    held = Held(shape, dtype)
    room = storage.size // BYTES[dtype]
    reach = _reach(shape, strides)
    if held.numel and (reach is None or start + reach >= room):
        told = f"holds {shown(tensor)}, which claims {start + held.numel} numbers in a place of {room}"
        raise RefusedError(
            f"{told}; if it was expanded, call .contiguous() before it is saved, else do not use the file"
        )
    return held


def _reach(shape: Sequence[int], strides: Sequence[int]) -> int | None:
    """Return how far behind the first number the last one lies; None where two would lie in one place."""
    reach = 0
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size > 1:
            if stride <= reach:
                return None
            reach += stride * (size - 1)
    return reach


def stored(identity: object, *, legacy: bool) -> Storage:
    """Return the storage that a persistent id names. Raises TypeError for what is none, RefusedError."""
    match identity:
        case ("storage", Name(kind), str() as key, str(), int() as numel, *rest) if kind in _KINDS and numel >= 0:
            if legacy and kind == _UNTYPED:
                told = "holds types of numbers that torch writes to its old format and does not read from it"
                raise RefusedError(f"{told}; {_SAVE}")
            if rest == ([None] if legacy else []):
                return Storage(_KINDS[kind], key, numel)
    raise TypeError
