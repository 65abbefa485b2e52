"""Reads what a pickle of weights describes without executing it: no name in it is ever looked up.

The values are plain, with a `TensorInfo` in place of each tensor and an `Inert` in place of each function, class, and
object of another class. No other unpickler reads the file: the tensors are read where this one found them to lie.
"""

from __future__ import annotations

import pickle
import pickletools
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from math import prod
from typing import Any, TypeAlias

from imlp_audit.checkpoint.container import RefusedError, escape_name

BYTES = {
    "bool": 1, "uint8": 1, "int8": 1, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1,
    "uint16": 2, "int16": 2, "float16": 2, "bfloat16": 2,
    "uint32": 4, "int32": 4, "float32": 4,
    "uint64": 8, "int64": 8, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
"""The size of one number of each supported type, by torch's name."""

MOST_TENSORS = 20_000
LARGEST_RANK = 16


@dataclass(frozen=True)
class TensorInfo:
    """A tensor's shape, the type of its numbers (torch's name), and where they lie.

    They lie in a storage, from its number `start` on, with a stride for each axis.
    """

    shape: tuple[int, ...]
    dtype: str
    storage: str
    start: int = 0
    strides: tuple[int, ...] = ()

    @property
    def numel(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)


def read_shape(value: object) -> tuple[int, ...] | None:
    """Return a shape from a file; None for anything but a short list of whole numbers of which strides can be made."""
    if not isinstance(value, tuple | list) or len(value) > LARGEST_RANK:
        return None
    sizes = tuple(size for size in value if type(size) is int and 0 <= size < 2**63)
    return sizes if len(sizes) == len(value) and prod(max(size, 1) for size in sizes) < 2**63 else None


@dataclass(frozen=True)
class Content:
    """What a file describes, and where in it the bytes of each storage are, unless its own library reads them."""

    tree: object
    spans: Mapping[str, range] = field(default_factory=dict)


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
_ODD_TENSOR = ("torch._utils _rebuild_", "torch._tensor _rebuild_")
_SAVE = "save model.state_dict() with safetensors"


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
    """A function, class or object that is not made: "module name", and what it would have been made from."""

    name: str
    parts: list[object] = field(default_factory=list, repr=False)

    @property
    def title(self) -> str:
        """Its name as a message gives it."""
        return escape_name(self.name.replace(" ", "."))

    @property
    def noted(self) -> bool:
        """Whether it is worth a note."""
        return self.name not in _HARMLESS | _PLAIN

    @property
    def is_tensor(self) -> bool:
        """Whether it would be a tensor, but not a plain one: sparse, quantized, of a class of its own."""
        return self.name.startswith(_ODD_TENSOR) and self.name not in _PLAIN

    def append(self, part: object) -> None:
        """Take what an object would take as an element."""
        self.parts.append(part)

    add = append

    def extend(self, parts: Sequence[object]) -> None:
        """Take what an object would take as elements."""
        self.parts.extend(parts)

    def __setitem__(self, key: object, value: object) -> None:
        self.parts.extend((key, value))


OTHER_KEYS = Inert("keys that are not names")
"""The key of a list of what has other keys than names; these could be made to collide, which would take hours."""


class PickledDict(dict[object, object]):
    """A dictionary from a pickle."""

    def __setitem__(self, key: object, value: object) -> None:
        if isinstance(key, str) or (type(key) is int and -(2**31) <= key < 2**31):
            super().__setitem__(key, value)
            return
        others = self.setdefault(OTHER_KEYS, [])
        assert isinstance(others, list)
        others += (key, value)


def explain_code(text: str) -> RefusedError:
    """Return the refusal of a file whose weights would have to be made by unknown code."""
    return RefusedError(
        f"contains more than tensors: it refers to {escape_name(text.replace(' ', '.'))} (not executed); if you trust "
        f"it, load it where it was written and {_SAVE}, in a file that ends in .safetensors"
    )


def explain_odd(tensor: object, one: Inert) -> RefusedError:
    """Return the refusal of a tensor that is not plain."""
    return RefusedError(f"holds {escape_name(tensor)}, which {one.title} makes and is not a plain tensor; {_SAVE}")


def _describe_call(function: Inert, arguments: tuple[object, ...], tensor: str) -> object:
    """Return what a call would return, or an Inert. Raises RefusedError, and TypeError for impossible arguments."""
    if function.parts or function.name not in _PLAIN:
        return Inert(function.name, [function, arguments])
    match function.name, arguments:
        case "collections OrderedDict", ():
            return PickledDict()
        case "collections Counter", (dict() as counts,):
            return counts
        case "torch Size", (tuple() as sizes,):
            return sizes
        case "torch._utils _rebuild_parameter", (TensorInfo() as info, bool(), dict() as hooks) if not hooks:
            return info
        case "torch._utils _rebuild_tensor_v2", (Storage() as storage, *place, bool(), dict() as hooks) if not hooks:
            return _describe_view(storage, storage.dtype, place, tensor)
        case "torch._utils _rebuild_tensor_v3", (Storage() as storage, *place, bool(), dict() as hooks, Inert(dtype)):
            if not hooks:
                return _describe_view(storage, dtype.removeprefix("torch "), place, tensor)
    raise TypeError


def _describe_view(storage: Storage, dtype: str, place: Sequence[object], tensor: str) -> TensorInfo:
    """Return the tensor that is a view of a storage: from a start, with a stride for each axis."""
    start, *sides = place
    shape, strides = map(read_shape, sides)
    if type(start) is not int or start < 0 or shape is None or strides is None or len(shape) != len(strides):
        raise RefusedError(f"holds {escape_name(tensor)} with an impossible shape; save it again")
    info = TensorInfo(shape, dtype, storage.key, start, strides)
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


MOST_STEPS = 250_000  # 1.5 times what 2,000 tensors with their averages and an optimizer's state take
LARGEST_PICKLE = 16 << 20
_CORRUPT = (
    ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, TypeError, ValueError,
    pickle.UnpicklingError, struct.error,
)  # fmt: skip
_INHERITED = (
    *("NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "BINFLOAT", "LONG1"),
    *("BINUNICODE", "SHORT_BINUNICODE", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES"),
    *("EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "EMPTY_LIST", "APPEND", "APPENDS", "SETITEM", "SETITEMS"),
    *("ADDITEMS", "MARK", "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET", "MEMOIZE", "GLOBAL", "STACK_GLOBAL"),
    *("BINPERSID", "PROTO", "FRAME", "STOP"),
)
"""What torch.save writes and the standard unpickler does without calling or hashing anything from the file."""


class PickleReader(pickle._Unpickler):
    """Reads the pickles of one file. `storages` are those that its tensors use.

    It stands on the standard unpickler in Python, a private name but the only one that lets a subclass choose what each
    operation does: the one in C calls, and hashes as keys, whatever the file puts together. The hostile files hold it.
    """

    stack: list[object]
    append: Callable[[object], None]
    pop_mark: Callable[[], list[object]]

    def __init__(self, file: BytesIO, *, legacy: bool = False) -> None:
        super().__init__(file, encoding="latin-1")
        self.legacy = legacy
        self.storages: set[Storage] = set()
        self.steps = 0

    def read_next(self) -> object:
        """Return what the next pickle in the file describes. Raises RefusedError."""
        self.memo: dict[int, object] = {}
        try:
            return self.load()
        except _CORRUPT as error:
            raise RefusedError("has a pickle that is cut off or corrupt; download it or save it again") from error

    def find_class(self, module: str, name: str) -> Inert:
        """Return the name of a function or class. Raises RefusedError for one that is only there to run something."""
        text = f"{module} {name}"
        if module.partition(".")[0] in _RUNNING or (module in _BUILTINS and name in _RUNNING_BUILTINS):
            raise explain_code(text)
        return Inert(text)

    def persistent_load(self, identity: object) -> Storage | Inert:
        """Return the storage that an id names, an Inert for one of unknown numbers, or (in old files) a class."""
        match identity:
            case ("module", Inert() as kind, *_) if self.legacy:
                return kind
            case ("storage", Inert(dtype), str() as key, str(), int() as numel, *rest) if dtype in _KINDS:
                if self.legacy and dtype == _UNTYPED:
                    raise RefusedError(
                        f"holds types of numbers that torch writes to its old format but cannot read from it; {_SAVE}"
                    )
                if numel >= 0 and rest == ([None] if self.legacy else []):
                    storage = Storage(_KINDS[dtype], key, numel)
                    self.storages.add(storage)
                    return storage
            case ("storage", Inert(unknown), *_) if unknown not in _KINDS:
                return Inert(unknown, [identity])
        raise TypeError

    def _reduce(self) -> None:
        arguments, function = self.stack.pop(), self.stack.pop()
        if not isinstance(function, Inert) or not isinstance(arguments, tuple):
            raise TypeError
        tensor = next((value for value in reversed(self.stack[-8:]) if isinstance(value, str)), "a tensor")
        self.append(_describe_call(function, arguments, tensor))

    def _new(self, *named: object) -> None:
        arguments, kind = self.stack.pop(), self.stack.pop()
        if not isinstance(kind, Inert) or kind.parts or not (named or isinstance(arguments, tuple)):
            raise TypeError
        self.append(Inert(kind.name, [arguments, *named]))

    def _freeze(self) -> None:
        parts = self.pop_mark()  # which also changes what `append` is
        self.append(Inert("builtins frozenset", parts))

    def _build(self) -> None:
        """Accept an object's attributes: those of one that is not made, or the versions that a state_dict carries."""
        state, target = self.stack.pop(), self.stack[-1]
        if isinstance(target, Inert):
            target.append(state)
        elif not isinstance(target, dict) or not isinstance(state, dict) or not set(state) <= {"_metadata"}:
            raise TypeError


Step: TypeAlias = Callable[[Any], None]


def _refuse(operation: str, _: PickleReader) -> None:
    raise RefusedError(
        f"has a pickle with the operation {operation}, which torch.save does not write; save it again with torch.save "
        "and its default options, or with safetensors"
    )


def _count(step: Step, reader: PickleReader) -> None:
    """Take a step. Raises RefusedError for more of them than any file of weights takes."""
    reader.steps += 1
    if reader.steps > MOST_STEPS:
        raise RefusedError("holds more tensors than the limit; save model.state_dict() alone, with safetensors")
    step(reader)


_CODES = {operation.name: ord(operation.code) for operation in pickletools.opcodes}
_STEPS: dict[str, Step] = {
    **{name: pickle._Unpickler.dispatch[_CODES[name]] for name in _INHERITED},
    "EMPTY_DICT": lambda reader: reader.append(PickledDict()),
    "BYTEARRAY8": lambda reader: reader.append(reader.read(int.from_bytes(reader.read(8), "little"))),
    "EMPTY_SET": lambda reader: reader.append(Inert("builtins set")),
    "FROZENSET": PickleReader._freeze,
    "REDUCE": PickleReader._reduce,
    "NEWOBJ": PickleReader._new,
    "NEWOBJ_EX": lambda reader: reader._new(reader.stack.pop()),
    "BUILD": PickleReader._build,
}
PickleReader.dispatch = {
    code: partial(_count, _STEPS[name]) if name in _STEPS else partial(_refuse, name) for name, code in _CODES.items()
}
