"""The names that a Python file binds, found without running it."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from imlp_audit.errors import did_you_mean
from imlp_audit.files import MAX_SPEC_BYTES, FileError, parse_python, read_text

_BY_CODE = re.compile(
    r"\b(?:globals|vars|exec|setattr|__getattr__|modules)\b"
)  # what may bind names that no line shows


def names_in(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a file binds outside its functions and classes, and "*" if it imports all of another."""
    inside: deque[ast.AST] = deque(tree.body)
    while inside:
        node = inside.popleft()
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name
                continue
            case ast.alias():
                yield (node.asname or node.name).partition(".")[0]
            case ast.Name(ctx=ast.Store()):
                yield node.id
        inside.extend(ast.iter_child_nodes(node))


def find_missing_name(folder: Path, file: str, name: str) -> str | None:
    """Say that a file is not there, is not Python, or lacks a class or function of this name; None where it is well.

    None too for a file that may bind names by code.
    """
    path = (folder / file).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        return f"{file}: there is no such file beside the spec"
    try:
        stat = path.stat()
        found = _bound(path, (stat.st_mtime_ns, stat.st_size))
    except FileError as error:
        return f"{file}:{error.place[0]}: it {error.reason}"
    except OSError:
        return None  # which is said when the file is run
    if found is None or name in found[0]:
        return None
    return f"{file} defines no {name!r}; {did_you_mean(name, found[1] or found[0], 'it has')}"


@cache
def _bound(path: Path, _: tuple[int, int]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the names that a file binds, and its own classes and functions; None where no one can tell.

    The last argument is the file's time and size, for the cache.
    """
    tree = parse_python(path, path.name)
    names = tuple(names_in(tree))
    if "*" in names or _BY_CODE.search(read_text(path, MAX_SPEC_BYTES)):
        return None
    own = (node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef))
    return names, tuple(own)
