"""Files that are not checkpoints, or that claim or do what none should: how each is made, and why it is refused."""

from __future__ import annotations

import gzip
import os
import pickle
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from struct import pack

import torch
from torch import nn

from . import pickles as by_hand
from .pickles import archive, entry, number, safetensors, table, tensor, text, whole

SENTINEL = "executed"
Make = Callable[[Path], None]


class Code:
    """Makes a folder when it is unpickled."""

    def __init__(self, sentinel: Path) -> None:
        self.sentinel = sentinel

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.sentinel),)


class Whole(nn.Module):
    """A model of a class that only this file knows."""


def code(path: Path) -> None:
    torch.save({"model": Code(path.parent / SENTINEL)}, path)


def code_beside_weights(path: Path) -> None:
    torch.save({"model": {"w": torch.ones(2)}, "hook": Code(path.parent / SENTINEL)}, path)


def legacy_code(path: Path) -> None:
    torch.save({"model": Code(path.parent / SENTINEL)}, path, _use_new_zipfile_serialization=False)


def bare_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps(Code(path.parent / SENTINEL)))


def system_call(path: Path) -> None:
    archive(path, b"cposix\nsystem\n(" + text(f"touch {path.parent / SENTINEL}") + b"tR")


def build_of_a_class(path: Path) -> None:
    archive(path, table({"w": b"cargparse\nNamespace\n)\x81" + number(3) + b"b"}))


def whole_module(path: Path) -> None:
    torch.save(Whole(), path)


def saved(value: Callable[[], object]) -> Make:
    def make(path: Path) -> None:
        with warnings.catch_warnings(action="ignore"):  # of quantized tensors torch says that they will go
            torch.save(value(), path)

    return make


def written(content: bytes) -> Make:
    def make(path: Path) -> None:
        path.write_bytes(content)

    return make


def pickled(made: bytes, numbers: bytes = bytes(4)) -> Make:
    return lambda path: archive(path, made, numbers)


def tensored(header: object, data: bytes = bytes(4), size: int | None = None) -> Make:
    assert isinstance(header, dict | str)
    return lambda path: safetensors(path, header, data, size)


def member(name: str, content: bytes = b"") -> Make:
    return lambda path: archive(path, table({"w": tensor()}), others=[(name, content)])


def changed(change: Callable[[bytearray], bytes | bytearray]) -> Make:
    """A good archive of one float, changed."""

    def make(path: Path) -> None:
        archive(path, table({"w": tensor()}))
        path.write_bytes(change(bytearray(path.read_bytes())))

    return make


def put(content: bytes, at: Callable[[bytes | bytearray], int]) -> Make:
    def change(data: bytearray) -> bytearray:
        place = at(data)
        data[place : place + len(content)] = content
        return data

    return changed(change)


def in_entry(of: bytes, offset: int) -> Callable[[bytes | bytearray], int]:
    """The place in the directory's entry of a member, by the offset that the format gives it."""
    return lambda data: data.rfind(of) - 46 + offset


def from_end(offset: int) -> Callable[[bytes | bytearray], int]:
    return lambda data: len(data) - offset


def zip64(data: bytearray) -> bytes:
    """The record at the end says nothing, and one in 64 bits before it claims more files than there are."""
    end = len(data) - 22
    size, offset = (int.from_bytes(data[end + at : end + at + 4], "little") for at in (12, 16))
    wide = pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 2**40, 2**40, size, offset)
    locator = pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
    return (
        bytes(data[:end]) + wide + locator + pack("<4s4H2LH", b"PK\x05\x06", 0, 0, *(0xFFFF,) * 2, *(2**32 - 1,) * 2, 0)
    )


def zip64_disagrees(data: bytearray) -> bytes:
    """The record at the end and the one in 64 bits before it are of directories of two sizes."""
    wide = bytearray(zip64(data))
    end, old = len(wide) - 22, len(data) - 22
    wide[end : end + 20] = data[old : old + 20]
    wide[end - 20 - 56 + 24 : end - 20 - 56 + 40] = pack("<2Q", 3, 3)
    wide[end + 8 : end + 12] = pack("<2H", 2, 2)
    return bytes(wide)


def compressed(path: Path) -> None:
    archive(path, table({"w": tensor((2**20,), numel=2**20)}), bytes(2**22), compression=zipfile.ZIP_DEFLATED)


def duplicate(path: Path) -> None:
    with warnings.catch_warnings(action="ignore"):
        archive(path, table({"w": tensor()}), others=[("x/data/0", b"\xff" * 4)])


def legacy(numel: int, told: int, after: bytes = b"") -> Make:
    """A file as torch wrote it before 1.6, with one storage of two floats, claimed to have `numel` and then `told`."""
    system = table({"protocol_version": number(1001), "little_endian": b"\x88"})
    start = b"".join(map(whole, (number(0x1950A86A20F9469CFC6C), number(1001), system)))
    made = whole(table({"w": tensor((numel,), numel=numel, legacy=True)}))
    return written(start + made + whole(b"](" + text("0") + b"e") + pack("<Q", told) + bytes(8) + after)


def million_keys(path: Path) -> None:
    one = table({"w": tensor()})[2:-1] + b"q\x01"
    archive(path, b"}(" + one + b"".join(map(b"X\x07\x00\x00\x00%07dh\x01".__mod__, range(10**6))) + b"u")


def tensors(count: int) -> Make:
    keys = map('"%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'.__mod__, range(count))
    return lambda path: safetensors(path, f"{{{','.join(keys)}}}", b"")


def long_pickle(path: Path) -> None:
    archive(path, table({"w": tensor(), "note": text(" " * 2**24)}))


def overlapping(path: Path) -> None:
    """The header of one file, and its bytes, lie among the numbers of another."""
    inner = pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 0, 0, 0, 0, 4, 4, 7, 0) + b"x/inner" + bytes(4)
    count = len(inner) // 4 + 1
    made = table({"w": tensor((count,), numel=count)})
    archive(path, made, inner.ljust(4 * count, b"\0"), others=[("x/inner", bytes(4))])
    data = bytearray(path.read_bytes())
    place = data.rfind(b"x/inner") - 4
    data[place : place + 4] = pack("<L", data.find(inner))
    path.write_bytes(data)


def tar(path: Path) -> None:
    with tarfile.open(path, "w") as file:
        file.addfile(tarfile.TarInfo("pickle"), BytesIO(b""))


def numpy_archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("weight.npy", b"\x93NUMPY")


def keras(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        for name in ("metadata.json", "config.json", "model.weights.h5"):
            file.writestr(name, b"{}")


def many_members(data: bytearray) -> bytes:
    """A directory of 60,000 entries, all alike."""
    end = len(data) - 22
    offset = int.from_bytes(data[end + 16 : end + 20], "little")
    one = bytes(data[offset : data.find(b"PK\x01\x02", offset + 4)])
    count = 60_000
    record = pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(one) * count, offset, 0)
    return bytes(data[:offset]) + one * count + record


LAUGHS = b"K\x01" + b"q\x00h\x00\x86" * 60  # a pair of a pair of ..., each twice the same
DEEP = 100_000

CORPUS: dict[str, tuple[Make, str]] = {
    # what would run
    "code.pth": (code, "it refers to posix.mkdir (not executed)"),
    "code_beside_weights.pth": (code_beside_weights, "(not executed)"),
    "legacy_code.pth": (legacy_code, "(not executed)"),
    "bare_pickle.bin": (bare_pickle, "a pickle that torch.save did not write"),
    "system_call.pt": (system_call, "it refers to posix.system (not executed)"),
    "whole_module.pth": (whole_module, "a whole model, an object of tests.checkpoint.hostile.Whole"),
    "torchscript.pt": (member("x/constants.pkl"), "a TorchScript archive, which is a program"),
    "torchscript_code.pt": (member("x/code/__torch__.py"), "a TorchScript archive"),
    "bytearray.pth": (pickled(b"c__builtin__\nbytearray\n(" + number(10**12) + b"tR"), "__builtin__.bytearray"),
    "storage_made.pth": (pickled(b"ctorch.storage\nUntypedStorage\n(" + number(10**12) + b"tR"), "corrupt"),
    "tensor_made.pth": (pickled(b"ctorch\nFloatTensor\n(" + number(10**12) + b"tR"), "torch.FloatTensor"),
    "build_of_a_class.pth": (build_of_a_class, "does not hold tensors by name"),
    "shadowed_methods.pth": (pickled(by_hand.NO_HOOKS + table({"items": number(1)}) + b"b"), "corrupt"),
    # what claims more than it holds
    "compressed.pth": (compressed, "a compressed or encrypted file (x/data.pkl)"),
    "stride_0.pth": (saved(lambda: {"w": torch.zeros(1).expand(10**6, 10**6)}), "claims 1000000000000 numbers"),
    "expanded.pth": (saved(lambda: {"w": torch.ones(1).expand(5)}), "call .contiguous()"),
    "windows.pth": (
        saved(lambda: {"w": torch.ones(9).as_strided((8, 2), (1, 1))}),
        "claims 16 numbers in a storage of 9",
    ),
    "outside.pth": (pickled(table({"w": tensor((2,), numel=1)})), "claims 2 numbers in a storage of 1"),
    "behind.pth": (pickled(table({"w": tensor(start=1)})), "claims 2 numbers in a storage of 1"),
    "large_storage.pth": (pickled(table({"w": tensor((10**12,), numel=10**12)})), "claims 4000000000000 bytes"),
    "no_storage.pth": (pickled(table({"w": by_hand.REBUILD}) + b"0}."), "operation POP"),
    "negative_shape.pth": (pickled(table({"w": tensor((-1,))})), "an impossible shape"),
    "endless_rank.pth": (pickled(table({"w": tensor((1,) * 1000, (1,) * 1000)})), "an impossible shape"),
    "legacy_claim.pth": (legacy(10**12, 2), "claims 1000000000000 numbers for 0 and has 2"),
    "legacy_long.pth": (legacy(2, 2, b"more"), "should be"),
    "legacy_short.pth": (legacy(3, 3), "truncated"),
    "million_keys.pth": (million_keys, "more tensors than the limit"),
    "million_tensors.safetensors": (tensors(10**6), "the limit is 4194304"),
    "many_tensors.safetensors": (tensors(50_000), "holds 50000 tensors; the limit is 20000"),
    "long_pickle.pth": (long_pickle, "the limit is 16777216"),
    "many_members.pth": (changed(many_members), "x/data.pkl and x/data.pkl overlap"),
    # what is built to exhaust who reads it
    "deep_lists.pth": (pickled(b"]" * DEEP + b"a" * (DEEP - 1)), "does not hold tensors by name"),
    "deep_tables.pth": (pickled((b"}" + text("k")) * DEEP + b"N" + b"s" * DEEP), "more tensors than the limit"),
    "deep_tuples.pth": (pickled(b")" + b"\x85" * DEEP), "does not hold tensors by name"),
    "laughs.pth": (pickled(LAUGHS), "does not hold tensors by name"),
    "laughs_as_a_key.pth": (pickled(LAUGHS.join((b"}", b"Ns"))), "keys are not names"),
    "colliding_keys.pth": (
        pickled(table([(number(i * (2**61 - 1)), b"N") for i in range(1, 99)])),
        "keys are not names",
    ),
    "counters.pth": (
        pickled(
            table({f"k{i}": b"N" for i in range(9999)})
            + b"q\x00ccollections\nCounter\nq\x01"
            + b"h\x01h\x00\x85R" * 999
        ),
        "does not hold tensors by name",
    ),
    "many_lists.safetensors": (tensored('{"a":[' + "[]," * 10**6 + "[]]}"), "expected string or map"),
    "deeper.safetensors": (tensored('{"a":' + "[" * DEEP), "recursion limit exceeded"),
    "many_numbers.safetensors": (tensored('{"a":[' + "0," * 2**20 + "0]}"), "expected string or map"),
    "itself.pth": (pickled(b"}q\x00" + text("model") + b"h\x00s"), "does not hold tensors by name"),
    "deep.safetensors": (tensored('{"a":' + "[" * 9999 + "]" * 9999 + "}"), "recursion limit exceeded"),
    # what is damaged
    "empty.pth": (written(b""), "is empty"),
    "half.pth": (changed(lambda data: data[: len(data) // 2]), "truncated, corrupt or changed"),
    "a_byte_short.pth": (changed(lambda data: data[:-1]), "truncated, corrupt or changed"),
    "garbage_behind.pth": (changed(lambda data: data + b"garbage"), "truncated, corrupt or changed"),
    "garbage_in_front.pth": (changed(lambda data: b"PK\x03\x04" + data), "does not begin with its first file"),
    "entry.pth": (put(b"QQ", in_entry(b"x/version", 0)), "Bad magic number for central directory"),
    "two_sizes.pth": (put(pack("<L", 9), in_entry(b"x/version", 20)), "a compressed or encrypted file (x/version)"),
    "large_member.pth": (put(pack("<2L", *(2**31,) * 2), in_entry(b"x/data/0", 20)), "claims 2147483648 bytes"),
    "far_member.pth": (put(pack("<L", 2**31), in_entry(b"x/data/0", 42)), "x/data/0 begins where no file does"),
    "same_place.pth": (put(pack("<L", 0), in_entry(b"x/data/0", 42)), "disagree"),
    "overlapping.pth": (overlapping, "x/data/0 and x/inner overlap"),
    "count.pth": (put(pack("<2H", 9, 9), from_end(14)), "claims 9 files, and its directory lists 3"),
    "fewer.pth": (put(pack("<2H", 2, 2), from_end(14)), "claims 2 files, and its directory lists 3"),
    "volumes.pth": (put(pack("<H", 7), from_end(18)), "does not end with the record that torch writes"),
    "wide_sizes.pth": (put(b"\xff" * 8, in_entry(b"x/version", 20)), "claims 4294967295 bytes"),
    "zip64.pth": (changed(zip64), "an archive of too many files"),
    "zip64_disagrees.pth": (changed(zip64_disagrees), "claims 2 files, and its directory lists 3"),
    "encrypted.pth": (put(b"\x01", in_entry(b"x/version", 8)), "a compressed or encrypted file (x/version)"),
    "other_local_name.pth": (put(b"x/Version", lambda data: data.find(b"x/version")), "disagree"),
    "numbers.pth": (changed(lambda data: data.replace(bytes(4) + b"PK", b"\x01" + bytes(3) + b"PK", 1)), "is corrupt"),
    "pickle.pth": (
        changed(lambda data: data.replace(b"FloatStorage", b"LongStorages")),
        "is corrupt: x/data.pkl is not as it was written",
    ),
    "cut_pickle.pth": (pickled(b""), "cut off or corrupt"),
    "long_text.pth": (pickled(b"X\xff\xff\xff\xff"), "cut off or corrupt"),
    "unknown_operation.pth": (pickled(b"\x00"), "cut off or corrupt"),
    "escaped_string.pth": (pickled(b"S'\\o'\n"), "the operation STRING"),
    "half_a_name.pth": (pickled(b"ccollections\nOrderedDict"), "cut off or corrupt"),
    "unknown_memo.pth": (pickled(b"h\x07"), "cut off or corrupt"),
    "protocol_4.pth": (lambda path: archive(path, pickle.dumps({"a": 1}, 4)[2:-1]), "does not hold tensors by name"),
    "big_endian.pth": (member("x/byteorder", b"big"), "was written on a big-endian machine"),
    # tricks with names
    "above.pth": (member("../x"), "a file named ../x"),
    "absolute.pth": (member("/etc/passwd"), "a zip archive that torch.save did not write"),
    "inside_above.pth": (member("x/../../y"), "a file named x/../../y"),
    "backslash.pth": (member("x\\..\\y"), "a zip archive that torch.save did not write"),
    "drive.pth": (member("C:x"), "a zip archive that torch.save did not write"),
    "other_root.pth": (member("y/data.pkl"), "a zip archive that torch.save did not write"),
    "twice.pth": (duplicate, "it has a name twice"),
    "twice_but_for_case.pth": (member("X/DATA/0"), "a zip archive that torch.save did not write"),
    "escapes.pth": (
        pickled(table({"\x1b[2J\x1b]0;owned\x07\nblocks.0": tensor()})),
        r"'\\x1b[2J\\x1b]0;owned\\x07\\nblocks.0'",
    ),
    "escapes.safetensors": (tensored({"\x1b[31mred": entry()}), r"'\\x1b[31mred'"),
    "bidirectional.safetensors": (tensored({"\u202eevil": entry()}), r"'\\u202eevil'"),
    "escaped_member.pth": (member("x/\x1b[2J"), r"a file named x/\x1b[2J"),
    "escaped_global.pth": (pickled(b"cos\x1b[2J\nsystem\n"), r"os\x1b[2J.system"),
    "long_name.safetensors": (tensored({"k" * 10**5: entry()}), "kkk...'"),
    "empty_name.safetensors": (tensored({"": entry()}), "cannot be a parameter's name"),
    "prefix_alone.pth": (saved(lambda: {"module.": torch.ones(1)}), "named 'module.', which cannot be"),
    "too_many_states.pth": (
        saved(lambda: {f"state{i}": {"w": torch.ones(1)} for i in range(65)}),
        "holds more than 64 tables of tensors",
    ),
    "one_name.pth": (
        saved(lambda: {"a": {"b": {"w": torch.ones(1)}}, "a.b": {"w": torch.zeros(1)}}),
        "holds two states named a.b",
    ),
    "prefixes.pth": (saved(lambda: {"module.w": torch.ones(1), "w": torch.ones(1)}), "holds w twice"),
    # what a header says
    "endless.safetensors": (tensored("{}", size=2**60), "has a header of 1152921504606846976 bytes"),
    "large_header.safetensors": (tensored("{}", bytes(5 << 20), size=5 << 20), "the limit is 4194304"),
    "no_json.safetensors": (tensored("{no json}"), "invalid JSON in header: key must be a string"),
    "overlap.safetensors": (tensored({"a": entry(), "b": entry()}), "invalid offset for tensor"),
    "gap.safetensors": (tensored({"a": entry(), "b": entry(8, 12)}, bytes(12)), "invalid offset for tensor"),
    "behind.safetensors": (tensored({"a": entry()}, bytes(9)), "file not fully covered"),
    "outside.safetensors": (tensored({"a": entry(0, 400, [100])}), "file not fully covered"),
    "claims.safetensors": (tensored({"a": entry(shape=[10**6, 10**6])}), "invalid shape, data type, or offset"),
    "nan.safetensors": (tensored('{"a":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}}'), "invalid JSON in header"),
    "negative.safetensors": (tensored({"a": entry(shape=[-1])}), "integer `-1`, expected usize"),
    "true.safetensors": (tensored({"a": entry(shape=[True])}), "boolean `true`, expected usize"),
    "digits.safetensors": (
        tensored(f'{{"a":{{"dtype":"F32","shape":[{"9" * 9999}],"data_offsets":[0,4]}}}}'),
        "number out of range",
    ),
    "rank.safetensors": (tensored({"a": entry(shape=[1] * 1000)}), "an impossible shape"),
    "reversed.safetensors": (tensored({"a": entry(4, 0)}), "invalid offset for tensor `a`"),
    "dtype.safetensors": (tensored({"a": entry(dtype="F4")}), "not a complete safetensors file"),
    "twice.safetensors": (tensored('{"a":1,"a":2}'), "expected struct TensorInfo"),
    "nothing.safetensors": (tensored({}, b""), "does not hold tensors by name"),
    # what holds no plain tensors by name
    "list.pth": (saved(lambda: [torch.ones(1)]), "does not hold tensors by name"),
    "number.pth": (saved(lambda: 3), "does not hold tensors by name"),
    "texts.pth": (saved(lambda: {"a": "b"}), "does not hold tensors by name"),
    "numbered.pth": (saved(lambda: {0: torch.ones(1)}), "a tensor named '0', which cannot be"),
    "tuple_keys.pth": (saved(lambda: {("a", 1): torch.ones(1)}), "keys are not names"),
    "sparse.pth": (
        saved(lambda: {"w": torch.ones(2).to_sparse()}),
        "w, which torch._utils._rebuild_sparse_tensor makes",
    ),
    "quantized.pth": (
        saved(lambda: {"w": torch.quantize_per_tensor(torch.ones(2), 1, 0, torch.qint8)}),
        "_rebuild_qtensor makes and is not a plain tensor",
    ),
    "meta.pth": (saved(lambda: {"w": torch.ones(2, device="meta")}), "not a plain tensor"),
    # what is something else
    "text.pth": (written(b"these are no weights\n"), "a text file, not a checkpoint"),
    "page.pth": (written(b"<!DOCTYPE html><title>404</title>"), "a web page"),
    "pointer.safetensors": (written(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), "git lfs pull"),
    "index.json": (written(b'{"weight_map": {"a": "x"}}'), "is an index of shards; join them"),
    "image.pth": (written(b"\x89PNG\r\n\x1a\n" + bytes(50)), "neither a safetensors file nor"),
    "model.onnx": (written(b"\x08\x07\x12\x07pytorch\x1a\x052.0.0" + bytes(50)), "or load it in its own framework"),
    "model.h5": (written(b"\x89HDF\r\n\x1a\n" + bytes(50)), "or load it in its own framework"),
    "model.keras": (keras, "a Keras model or a numpy archive"),
    "model.npz": (numpy_archive, "a numpy archive; load it in its own framework"),
    "weights.pth.tar": (tar, "a tar archive; run `tar -xf FILE`"),
    "weights.pth.gz": (written(gzip.compress(b"weights")), "a compressed file; unpack it"),
    "zeros.bin": (written(bytes(10**6)), "neither a safetensors file nor"),
    "nowhere.pth": (lambda path: None, "does not exist"),
    "folder.pth": (lambda path: path.mkdir(), "is a folder, not a file"),
    "pipe.pth": (lambda path: os.mkfifo(path), "is a pipe, not a regular file"),
    "device.pth": (lambda path: path.symlink_to("/dev/zero"), "is a device, not a regular file"),
    "dangling.pth": (lambda path: path.symlink_to("nowhere"), "does not exist"),
    "loop.pth": (lambda path: path.symlink_to(path.name), "is a link, not a regular file"),
}


def write_all(folder: Path) -> dict[str, Path]:
    """Write the whole corpus."""
    for name, (make, _) in CORPUS.items():
        make(folder / name)
    return {name: folder / name for name in CORPUS}
