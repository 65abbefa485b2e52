"""The functions and classes that a pickle names, and what calling them would return. None is looked up or called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from imlp_audit.checkpoint.refusal import RefusedError, escape_name
from imlp_audit.checkpoint.tensors import BYTES, StorageView, TensorInfo, read_shape

_STORAGES = {
    "BoolStorage": "bool", "ByteStorage": "uint8", "CharStorage": "int8", "ShortStorage": "int16",
    "IntStorage": "int32", "LongStorage": "int64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "FloatStorage": "float32", "DoubleStorage": "float64", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}  # fmt: skip
_UNTYPED = "torch.storage UntypedStorage"
_KINDS = {f"torch {name}": dtype for name, dtype in _STORAGES.items()} | {_UNTYPED: "uint8"}
_CALLED = {
    "collections OrderedDict", "collections Counter", "torch Size",
    "torch._utils _rebuild_parameter", "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_tensor_v3",
}  # fmt: skip
_PLAIN = {*_KINDS, *_CALLED, *(f"torch {dtype}" for dtype in BYTES)}
_BUILTINS = ("builtins", "__builtin__")
_HARMLESS = {
    "argparse Namespace", "torch device", "_codecs encode",
    *(f"{module} {name}" for module in _BUILTINS for name in ("set", "frozenset", "complex", "slice")),
}  # fmt: skip
"""What is not worth a note: it holds no weights, and everybody saves it."""

_RUNNING = {"os", "posix", "nt", "subprocess", "sys", "runpy", "importlib", "ctypes", "pty", "shutil", "socket"}
_RUNNING_BUILTINS = {"eval", "exec", "execfile", "compile", "open", "__import__", "breakpoint", "input"}
ODD_TENSORS = {
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
    """A place for numbers: their type, the key of its bytes in the file, and how many the pickle claims."""

    dtype: str
    key: str
    numel: int

    @property
    def size(self) -> int:
        """How many bytes it claims."""
        return self.numel * BYTES[self.dtype]


@dataclass(frozen=True, eq=False)
class Inert:
    """An object that is not made: the name of its class or function, and what it would have been made from."""

    name: str
    parts: list[object] = field(default_factory=list, repr=False)

    @property
    def title(self) -> str:
        """Its name as a message gives it."""
        return escape_name(self.name.replace(" ", "."))

    @property
    def noted(self) -> bool:
        """Whether it is worth a note."""
        return self.name not in _HARMLESS


def check_name(text: str) -> Name:
    """Return the name of a function or class. Raises RefusedError for one that is only there to run something."""
    module, _, name = text.partition(" ")
    builtin = module in _BUILTINS and name in _RUNNING_BUILTINS
    if builtin or module.partition(".")[0] in _RUNNING:
        raise explain_code(text)
    return Name(text)


def explain_code(text: str) -> RefusedError:
    """Return the refusal of a file whose weights would have to be made by unknown code."""
    return RefusedError(
        f"contains more than tensors: it refers to {escape_name(text.replace(' ', '.'))} (not executed); if you trust "
        f"it, load it where it was written and {_SAVE}"
    )


def explain_odd(tensor: object, kind: str) -> RefusedError:
    """Return the refusal of a tensor that is not plain."""
    return RefusedError(f"holds {escape_name(tensor)}, which is {kind}, not a plain tensor; {_SAVE}")


def describe_call(function: Name | Inert, arguments: tuple[object, ...], tensor: str) -> object:
    """Return what a call would return, an Inert for an unknown one.

    Raises RefusedError for a tensor larger than its storage, and TypeError for impossible arguments.
    """
    if isinstance(function, Inert):
        return Inert(function.name, [function, arguments])
    if function.text not in _PLAIN:
        return Inert(function.text, [arguments])
    match function.text, arguments:
        case "collections OrderedDict", ():
            return {}
        case "collections Counter", (dict() as counts,):
            return dict(counts)
        case "torch Size", (tuple() as sizes,):
            return sizes
        case "torch._utils _rebuild_parameter", (TensorInfo() as info, bool(), dict() as hooks) if not hooks:
            return info
        case "torch._utils _rebuild_tensor_v2", (
            Storage() as storage,
            start,
            shape,
            strides,
            bool(),
            dict() as hooks,
        ) if not hooks:
            return _describe_view(storage, storage.dtype, (start, shape, strides), tensor)
        case "torch._utils _rebuild_tensor_v3", (
            Storage() as storage,
            start,
            shape,
            strides,
            bool(),
            dict() as hooks,
            Name(dtype),
        ) if not hooks:
            return _describe_view(storage, dtype.removeprefix("torch "), (start, shape, strides), tensor)
    raise TypeError


def _describe_view(storage: Storage, dtype: str, place: tuple[object, object, object], tensor: str) -> TensorInfo:
    """Return the tensor that is a view of a storage: from a start, with a stride for each axis."""
    start, shape, strides = place[0], read_shape(place[1]), read_shape(place[2])
    if type(start) is not int or start < 0 or shape is None or strides is None or len(shape) != len(strides):
        raise RefusedError(f"holds {escape_name(tensor)} with an impossible shape; save it again")
    info = TensorInfo(shape, dtype, StorageView(storage.key, start, strides))
    room = storage.size // BYTES[dtype]
    reach = _find_reach(shape, strides)
    if info.numel and (reach is None or start + reach >= room):
        raise RefusedError(
            f"holds {escape_name(tensor)}, which claims {start + info.numel} numbers in a storage of {room}; if it was "
            "expanded, call .contiguous() before saving it, otherwise do not use the file"
        )
    return info


def _find_reach(shape: Sequence[int], strides: Sequence[int]) -> int | None:
    """Return how far after the first number the last one is; None if two numbers would share a place."""
    reach = 0
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size > 1:
            if stride <= reach:
                return None
            reach += stride * (size - 1)
    return reach


def read_storage(identity: object, *, legacy: bool) -> Storage | Name | Inert:
    """Return the storage that a persistent id names, an Inert for one of unknown numbers, or (in old files) a class.

    Raises TypeError for any other id, and RefusedError.
    """
    match identity:
        case ("module", Name() as kind, *_) if legacy:
            return kind
        case ("storage", Name(dtype), str() as key, str(), int() as numel, *rest) if dtype in _KINDS and numel >= 0:
            if legacy and dtype == _UNTYPED:
                raise RefusedError(
                    f"holds types of numbers that torch writes to its old format but cannot read from it; {_SAVE}"
                )
            if rest == ([None] if legacy else []):
                return Storage(_KINDS[dtype], key, numel)
        case ("storage", Name(unknown), *_) if unknown not in _KINDS:
            return Inert(unknown)
    raise TypeError
