"""Reads what a pickle of weights describes without executing it: no name in it is ever looked up.

The machine knows the operations that pickle's own writer uses, and the few functions that make tensors. It returns
plain values, with a `TensorInfo` in place of each tensor and an `Inert` in place of each object of another class. No
other unpickler reads the file: the tensors are read where the machine found them to lie.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import TypeAlias

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
        case "torch._utils _rebuild_tensor_v2", (Storage() as storage, *place, bool(), dict() as hooks) if not hooks:
            return _describe_view(storage, storage.dtype, place, tensor)
        case "torch._utils _rebuild_tensor_v3", (Storage() as storage, *place, bool(), dict() as hooks, Name(dtype)):
            if not hooks:
                return _describe_view(storage, dtype.removeprefix("torch "), place, tensor)
    raise TypeError


def _describe_view(storage: Storage, dtype: str, place: Sequence[object], tensor: str) -> TensorInfo:
    """Return the tensor that is a view of a storage: from a start, with a stride for each axis."""
    start, *sides = place
    shape, strides = map(read_shape, sides)
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


MOST_STEPS = 250_000  # 1.5 times what 2,000 tensors with their averages and an optimizer's state take
LARGEST_PICKLE = 16 << 20
_HIGHEST_STACK = 20_000

Value: TypeAlias = object
"""None, a number, a text, bytes, a list, tuple or dict of values, a TensorInfo, a Storage, a Name or an Inert."""

OTHER_KEYS = Inert("keys that are not names")
"""The key of a list of what has other keys than names; these could be made to collide, which would take hours."""


@dataclass
class Machine:
    """Reads the pickles of one file. `storages` are those that its tensors use."""

    legacy: bool = False
    storages: set[Storage] = field(default_factory=set)
    _steps: int = 0
    _stack: list[Value] = field(default_factory=list)
    _marks: list[int] = field(default_factory=list)
    _memo: dict[int, Value] = field(default_factory=dict)

    def read(self, file: BytesIO) -> Value:
        """Return what the next pickle in a file describes. Raises RefusedError."""
        self._stack, self._marks, self._memo = [], [], {}
        try:
            while self._step(file) != "STOP":
                self._spend(1)
            if self._marks or len(self._stack) != 1:
                raise IndexError
            return self._stack.pop()
        except (ValueError, IndexError, KeyError, TypeError, OverflowError) as error:
            raise RefusedError("has a pickle that is cut off or corrupt; download it or save it again") from error

    def _spend(self, steps: int) -> None:
        self._steps += steps
        if self._steps > MOST_STEPS or len(self._stack) > _HIGHEST_STACK:
            raise RefusedError(
                "holds more tensors, or deeper nesting, than the limit; save model.state_dict() alone, with safetensors"
            )

    def _step(self, file: BytesIO) -> str:
        """Do one operation, and return its name. The argument of an unknown operation is not read."""
        opcode = _OPERATIONS[file.read(1).decode("latin-1")]
        step = _STEPS.get(opcode.name)
        if step is None:
            raise RefusedError(
                f"has a pickle with the operation {opcode.name}, which torch.save does not write; save it "
                "again with torch.save and its default options, or with safetensors"
            )
        read = _read_global if opcode.name == "GLOBAL" else opcode.arg.reader if opcode.arg is not None else None
        step(self, None if read is None else read(file))
        return opcode.name

    def _push(self, value: Value) -> None:
        self._stack.append(value)

    def _take(self) -> list[Value]:
        """Remove and return what was put on the stack since the last mark."""
        at = self._marks.pop()
        items = self._stack[at:]
        del self._stack[at:]
        return items

    def _tuple_of(self, count: int) -> None:
        if len(self._stack) < count:
            raise IndexError
        self._stack[-count:] = [tuple(self._stack[-count:])]

    def _put(self, index: object) -> None:
        assert isinstance(index, int)
        self._memo[index] = self._stack[-1]

    def _get(self, index: object) -> None:
        assert isinstance(index, int)
        self._stack.append(self._memo[index])

    def _extend(self, items: list[Value]) -> None:
        target = self._stack[-1]
        parts = target.parts if isinstance(target, Inert) else target
        if not isinstance(parts, list):
            raise TypeError
        parts.extend(items)

    def _set(self, items: list[Value]) -> None:
        target = self._stack[-1]
        if isinstance(target, Inert):
            target.parts.extend(items)
            return
        if not isinstance(target, dict):
            raise TypeError
        for key, value in zip(items[::2], items[1::2], strict=True):
            if isinstance(key, str) or (type(key) is int and -(2**31) <= key < 2**31):
                target[key] = value
            else:
                target.setdefault(OTHER_KEYS, []).extend((key, value))

    def _stack_global(self, _: object) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise TypeError
        self._stack.append(check_name(f"{module} {name}"))

    def _last_text(self) -> str:
        """Return the last text on the stack: the name of the tensor that is being described."""
        return next((value for value in reversed(self._stack[-8:]) if isinstance(value, str)), "a tensor")

    def _reduce(self, _: object) -> None:
        arguments, function = self._stack.pop(), self._stack.pop()
        if not isinstance(function, Name | Inert) or not isinstance(arguments, tuple):
            raise TypeError
        self._spend(sum(len(a) for a in arguments if isinstance(a, str | tuple | dict)))  # what a call copies
        self._stack.append(describe_call(function, arguments, self._last_text()))

    def _new(self, *named: Value) -> None:
        arguments, kind = self._stack.pop(), self._stack.pop()
        if not isinstance(kind, Name) or not (named or isinstance(arguments, tuple)):
            raise TypeError
        self._stack.append(Inert(kind.text, [arguments, *named]))

    def _build(self, _: object) -> None:
        """Accept an object's attributes: those of one that is not made, or the versions that a state_dict carries."""
        state, target = self._stack.pop(), self._stack[-1]
        if isinstance(target, Inert):
            target.parts.append(state)
        elif not isinstance(target, dict) or not isinstance(state, dict) or not set(state) <= {"_metadata"}:
            raise TypeError

    def _persistent(self, _: object) -> None:
        found = read_storage(self._stack.pop(), legacy=self.legacy)
        if isinstance(found, Storage):
            self.storages.add(found)
        self._stack.append(found)


def _read_global(file: BytesIO) -> str:
    """Read the module and the name of something, as torch does: pickletools would read escapes in it."""
    module, name = file.readline(), file.readline()
    if not (module.endswith(b"\n") and name.endswith(b"\n")):
        raise ValueError
    return f"{module[:-1].decode('utf-8')} {name[:-1].decode('utf-8')}"


_OPERATIONS = {opcode.code: opcode for opcode in pickletools.opcodes}
_STEPS: dict[str, Callable[[Machine, object], None]] = {
    **dict.fromkeys(
        (
            *("BININT", "BININT1", "BININT2", "BINFLOAT", "LONG1", "BINUNICODE", "SHORT_BINUNICODE"),
            *("BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BYTEARRAY8"),
        ),
        Machine._push,
    ),
    "NONE": lambda machine, _: machine._push(None),
    "NEWTRUE": lambda machine, _: machine._push(True),
    "NEWFALSE": lambda machine, _: machine._push(False),
    "EMPTY_TUPLE": lambda machine, _: machine._push(()),
    "EMPTY_LIST": lambda machine, _: machine._push([]),
    "EMPTY_DICT": lambda machine, _: machine._push({}),
    "EMPTY_SET": lambda machine, _: machine._push(Inert("builtins set")),
    "FROZENSET": lambda machine, _: machine._push(Inert("builtins frozenset", machine._take())),
    "ADDITEMS": lambda machine, _: machine._extend(machine._take()),
    "PROTO": lambda machine, _: None,
    "FRAME": lambda machine, _: None,
    "STOP": lambda machine, _: None,
    "MARK": lambda machine, _: machine._marks.append(len(machine._stack)),
    "TUPLE": lambda machine, _: machine._push(tuple(machine._take())),
    "TUPLE1": lambda machine, _: machine._tuple_of(1),
    "TUPLE2": lambda machine, _: machine._tuple_of(2),
    "TUPLE3": lambda machine, _: machine._tuple_of(3),
    "APPEND": lambda machine, _: machine._extend([machine._stack.pop()]),
    "APPENDS": lambda machine, _: machine._extend(machine._take()),
    "SETITEM": lambda machine, _: machine._set([machine._stack.pop(-2), machine._stack.pop()]),
    "SETITEMS": lambda machine, _: machine._set(machine._take()),
    "BINPUT": Machine._put,
    "LONG_BINPUT": Machine._put,
    "BINGET": Machine._get,
    "LONG_BINGET": Machine._get,
    "MEMOIZE": lambda machine, _: machine._put(len(machine._memo)),
    "GLOBAL": lambda machine, argument: machine._push(check_name(str(argument))),
    "STACK_GLOBAL": Machine._stack_global,
    "REDUCE": Machine._reduce,
    "NEWOBJ": lambda machine, _: machine._new(),
    "NEWOBJ_EX": lambda machine, _: machine._new(machine._stack.pop()),
    "BUILD": Machine._build,
    "BINPERSID": Machine._persistent,
}
