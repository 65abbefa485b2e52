"""Opens every file that a user, a folder or a cache names: only a regular file, of limited size, decoded in one way."""

from __future__ import annotations

import ast
import errno
import os
import re
import stat
from contextlib import suppress
from functools import lru_cache
from io import BufferedReader
from pathlib import Path

from imlp_audit.errors import Problem, UsageError

MAX_SPEC_BYTES = 2**20  # of a spec, a lock or a file of Python
MAX_DOCUMENT_BYTES = 64 * 2**20  # of a report or a PDF
MAX_RESULT_BYTES = 16 * 2**20  # the papers of this package have 1 700 checks and 2 MB
BOM = "\ufeff"

_MAX_TOKENS = 60_000  # of Python: timm's vision_transformer.py has 56 000; as many take 0.3 s and 120 MB at worst
_LONGEST_TOKEN = 10_000  # characters
_TOKEN = re.compile(r"\w+|[^\w\s]|[\r\n]")
_NAME = r"[^\s!-/:-@\[-^`{-~]+"
_LONG_IMPORT = re.compile(
    rf"(?<!{_NAME[:-1]}){_NAME}(?:[\s\\]*\.[\s\\]*{_NAME}){{100}}"
)  # Python reads one in quadratic time
_MISSING = (errno.ENOENT, errno.ENOTDIR)
_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class FileError(UsageError):
    """A file cannot be read: `reason` says why after its name, `place` is the line and column if it is about one."""

    def __init__(
        self, shown_as: object, reason: str, place: tuple[int, int] | None = None, *, missing: bool = False
    ) -> None:
        self.reason, self.place, self.missing = reason, place or (1, 1), missing
        at = f":{place[0]}:{place[1]}:" if place is not None else ""
        super().__init__(f"{shown_as}{at} {reason}")

    def problem(self, shown_as: str) -> Problem:
        """Return it as a problem of a paper's file."""
        return Problem(shown_as, *self.place, self.reason)


def open_regular(path: str | os.PathLike[str], shown_as: object = None, *, links: bool = True) -> BufferedReader:
    """Open a regular file to read its bytes; without `links`, no link to one. Raises FileError for anything else.

    Nothing is waited for: opening a pipe would wait for its writer.
    """
    shown_as = path if shown_as is None else shown_as
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags | (0 if links else getattr(os, "O_NOFOLLOW", 0)))
    except (OSError, ValueError) as error:  # ValueError: a null character in its name
        raise FileError(shown_as, _explain(path, error), missing=getattr(error, "errno", None) in _MISSING) from error
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise FileError(shown_as, _not_regular(mode))
    return os.fdopen(descriptor, "rb")


def read_bytes(path: str | os.PathLike[str], most: int, shown_as: object = None, *, links: bool = True) -> bytes:
    """Return the content of a regular file of at most `most` bytes. Raises FileError."""
    shown_as = path if shown_as is None else shown_as
    with open_regular(path, shown_as, links=links) as file:
        try:
            large = os.fstat(file.fileno()).st_size > most
            data = b"" if large else file.read(most + 1)
        except OSError as error:
            raise FileError(shown_as, f"cannot be read ({error.strerror or error})") from error
    if large or len(data) > most:
        raise FileError(shown_as, f"is larger than {_size(most)}")
    return data


def read_text(path: str | os.PathLike[str], most: int, shown_as: object = None) -> str:
    """Return the text of a regular UTF-8 file of at most `most` bytes, as it stands there. Raises FileError."""
    data = read_bytes(path, most, shown_as)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        place = before.count("\n") + 1, len(before) - before.rfind("\n")
        reason = f"byte 0x{data[error.start]:02x} is not UTF-8: save the file as UTF-8"
        raise FileError(path if shown_as is None else shown_as, reason, place) from error


def parse_python(path: Path, shown_as: str) -> ast.Module:
    """Return the syntax tree of a file of Python, which is not run. Raises FileError, also for what is too much."""
    parsed = _parse(read_text(path, MAX_SPEC_BYTES, shown_as).removeprefix(BOM))
    if isinstance(parsed, ast.Module):
        return parsed
    raise FileError(shown_as, *parsed)


@lru_cache(maxsize=1)  # a file is asked for its names, its arguments and its axes in turn
def _parse(text: str) -> ast.Module | tuple[str, tuple[int, int] | None]:
    """Return the syntax tree, or why there is none, and where."""
    for count, token in enumerate(_TOKEN.finditer(text)):
        if count == _MAX_TOKENS:
            return f"has more than {_MAX_TOKENS} words and signs: split it", None
        if token.end() - token.start() > _LONGEST_TOKEN:
            place = text.count("\n", 0, token.start()) + 1, 1
            return f"has a word or number of more than {_LONGEST_TOKEN} characters", place
    if (found := _LONG_IMPORT.search(text)) is not None:
        return "is not read: a name of more than 100 parts begins here", (text.count("\n", 0, found.start()) + 1, 1)
    try:
        return ast.parse(text)
    except SyntaxError as error:
        return f"is not Python: {error.msg}", (error.lineno or 1, error.offset or 1)
    except ValueError as error:  # null characters, before Python 3.11.4
        return f"is not Python: {error}", None
    except (RecursionError, MemoryError):
        return "is nested too deeply to be parsed: split its longest expression", None


def _explain(path: str | os.PathLike[str], error: OSError | ValueError) -> str:
    """Say why a file could not be opened; what is no regular file may have made it fail."""
    if isinstance(error, ValueError):
        return "is not a file's name"
    if error.errno in _MISSING:
        return "does not exist"
    with suppress(OSError):
        mode = (os.lstat if error.errno == errno.ELOOP else os.stat)(path).st_mode
        if not stat.S_ISREG(mode):
            return _not_regular(mode)
    return f"cannot be read ({error.strerror or error}): check its permissions"


def _not_regular(mode: int) -> str:
    return f"is {_KINDS.get(stat.S_IFMT(mode), 'not a file')}, not a regular file"


def _size(most: int) -> str:
    return f"{most // 2**20} MiB" if most >= 2**20 else f"{most} bytes"
