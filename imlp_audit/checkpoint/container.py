"""What kind of file a checkpoint is, by its first bytes, and why it is rejected; opening it if it can hold weights."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from io import BufferedReader
from pathlib import Path

from imlp_audit.errors import CheckpointError
from imlp_audit.files import FileError, open_regular
from imlp_audit.numbers.words import list_some

_MOST_NAMES = 8
_LONGEST_NAME = 120  # characters of a name from a file that a message repeats
WEIGHTS = (".safetensors", ".pth", ".pt", ".pth.tar", ".ckpt", ".bin", ".t7")
LEGACY_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_CONVERT = "load it in its own framework and save the weights with safetensors"
_AGAIN = "download it again"
_GIVE = "give a .safetensors file or a torch file of weights"
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"(\xb5/\xfd", b"7z\xbc\xaf")
_OTHERS = {
    **dict.fromkeys(_COMPRESSED, "a compressed file; unpack it and give the file of weights inside"),
    b"version https://git-lfs": "a Git LFS pointer to the weights; run `git lfs pull` in the repository it is from",
    b"\x80": "a pickle that torch.save did not write; it is not opened, because that could run code; if you trust it, "
    'run `torch.save(pickle.load(open("FILE", "rb")), "weights.pth")` and give weights.pth',
}


class RefusedError(Exception):
    """What is wrong with a file, and what to do; the message continues after the file's name: "is empty; ..."."""


@contextmanager
def name_in_errors(path: Path) -> Iterator[None]:
    """Turn refusals and read errors into CheckpointErrors that begin with the file's name."""
    try:
        yield
    except RefusedError as error:
        raise CheckpointError(f"{path} {error}") from error
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from error


def escape_name(name: object) -> str:
    """Return a name from a file so that a terminal can show it: special characters escaped, long names cut."""
    text = str(name)[: 2 * _LONGEST_NAME].encode("unicode_escape").decode("ascii")
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}..."


def list_names(names: Iterable[object]) -> str:
    """Return the first few of several names from a file, escaped, and how many more there are."""
    return list_some([escape_name(name) for name in names], _MOST_NAMES)


def refuse_foreign(names: Sequence[str]) -> None:
    """Raise RefusedError for a zip archive whose files are not those that torch.save writes."""
    if any(name.endswith("/constants.pkl") or "/code/" in name for name in names):
        raise RefusedError(
            "is a TorchScript archive, which is a program; if you trust it, run "
            '`torch.save(torch.jit.load("FILE").state_dict(), "weights.pth")` and give weights.pth'
        )
    if any(name.endswith("/data.pkl") for name in names):
        return
    if "model.weights.h5" in names or (names and all(name.endswith(".npy") for name in names)):
        raise RefusedError(f"is a Keras model or a numpy archive; {_CONVERT}")
    raise RefusedError(
        "is a zip archive that torch.save did not write; run `unzip FILE` and give the file of weights inside"
        f"{_list_weights(names)}"
    )


def _list_weights(names: Sequence[str]) -> str:
    weights = [name for name in names if name.endswith(WEIGHTS)]
    return f" ({list_names(weights)})" if weights else ""


class Container(StrEnum):
    """The supported kinds of file."""

    SAFETENSORS = "safetensors"
    TORCH = "torch"
    LEGACY_TORCH = "legacy torch"


@dataclass(frozen=True)
class Identity:
    """A file as it was when it was opened: another file, or a changed one, has another identity."""

    device: int
    inode: int
    size: int
    changed_at: int


@dataclass(frozen=True)
class OpenFile:
    """An open regular file, and its bytes: mapped, not read."""

    file: BufferedReader
    data: mmap.mmap
    identity: Identity


@contextmanager
def open_file(path: Path) -> Iterator[OpenFile]:
    """Open a regular file for reading. Raises RefusedError, or OSError."""
    if path.is_dir():
        names = sorted(one.name for one in path.iterdir())
        raise RefusedError(f"is a folder, not a file; give the file of weights in it{_list_weights(names)}")
    try:
        opened = open_regular(path)
    except FileError as error:
        raise RefusedError(f"{error.reason}; {_GIVE}") from error
    with opened as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:
            raise RefusedError(f"is empty; {_AGAIN}") from error
        with data:
            now = os.fstat(file.fileno())
            yield OpenFile(file, data, Identity(now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns))


def find_kind(data: mmap.mmap) -> Container:
    """Return what kind of file it is, whatever its name. Raises RefusedError for an unsupported kind."""
    head = data[:512]
    if head.startswith(LEGACY_MAGIC):
        return Container.LEGACY_TORCH
    if head.startswith(b"PK\x03\x04"):
        return Container.TORCH
    if head[8:9] == b"{" and not _is_text(head[:8]):  # a length, then a header in JSON
        return Container.SAFETENSORS
    if head.lstrip()[:1] == b"{" and data.find(b'"weight_map"') >= 0:
        raise RefusedError(
            "is an index of shards; join them with `safetensors.torch.load_file` and `save_file`, and give that file"
        )
    raise RefusedError(f"is {_describe_other(head)}")


def _describe_other(head: bytes) -> str:
    for magic, description in _OTHERS.items():
        if head.startswith(magic):
            return description
    if head[257:262] == b"ustar":
        return "a tar archive; run `tar -xf FILE` and give the file of weights inside"
    if head.lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml")):
        return f"a web page, as a failed download leaves it; {_AGAIN}, signed in if need be"
    if _is_text(head):
        return f"a text file, not a checkpoint; {_AGAIN}, or give another file"
    return f"neither a safetensors file nor a file that torch.save wrote; {_AGAIN}, or {_CONVERT}"


def _is_text(data: bytes) -> bool:
    return all(byte in b"\t\n\r" or 32 <= byte < 127 for byte in data)
