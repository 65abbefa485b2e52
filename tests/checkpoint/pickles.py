"""Pickles and archives written by hand, byte by byte: what torch.save writes, and what it never would."""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from struct import pack

FLOAT = b"ctorch\nFloatStorage\n"
REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n"
NO_HOOKS = b"ccollections\nOrderedDict\n)R"


def text(value: str) -> bytes:
    raw = value.encode("utf-8", "surrogatepass")
    return b"X" + pack("<I", len(raw)) + raw


def number(value: int) -> bytes:
    return pickle.dumps(value, 2)[2:-1]


def numbers(values: Sequence[int]) -> bytes:
    return b"(" + b"".join(map(number, values)) + b"t"


def storage(numel: int, key: str = "0", *, legacy: bool = False) -> bytes:
    end = b"N" if legacy else b""
    return b"(" + text("storage") + FLOAT + text(key) + text("cpu") + number(numel) + end + b"tQ"


def tensor(
    shape: Sequence[int] = (1,), strides: Sequence[int] = (1,), *, numel: int = 1, start: int = 0, legacy: bool = False
) -> bytes:
    """A float tensor in the storage "0"."""
    place = storage(numel, legacy=legacy) + number(start) + numbers(shape) + numbers(strides)
    return REBUILD + b"(" + place + b"\x89" + NO_HOOKS + b"tR"


def table(items: Mapping[str, bytes] | Sequence[tuple[bytes, bytes]]) -> bytes:
    pairs = [(text(key), value) for key, value in items.items()] if isinstance(items, Mapping) else items
    return b"}(" + b"".join(key + value for key, value in pairs) + b"u"


def whole(value: bytes) -> bytes:
    """One pickle."""
    return b"\x80\x02" + value + b"."


def archive(
    path: Path,
    made: bytes,
    numbers: bytes = bytes(4),
    *,
    others: Sequence[tuple[str, bytes]] = (),
    compression: int = zipfile.ZIP_STORED,
) -> None:
    """Write a zip archive as torch.save does, with one storage of numbers."""
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in (("x/data.pkl", whole(made)), ("x/version", b"3\n"), ("x/data/0", numbers), *others):
            file.writestr(zipfile.ZipInfo(name), content, compression)


def safetensors(
    path: Path, header: Mapping[str, object] | str, data: bytes = bytes(4), size: int | None = None
) -> None:
    """Write a header, which claims to be of some size, and what follows it."""
    raw = (header if isinstance(header, str) else json.dumps(header)).encode()
    path.write_bytes(pack("<Q", len(raw) if size is None else size) + raw + data)


def entry(begin: int = 0, end: int = 4, shape: object = (1,), dtype: object = "F32") -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
