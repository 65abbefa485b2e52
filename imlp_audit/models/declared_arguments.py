"""Arguments for a class or function of one's own, held against its signature without running it."""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import TypeAlias

from imlp_audit.errors import did_you_mean
from imlp_audit.files import FileError, parse_python

_Maker: TypeAlias = ast.ClassDef | ast.FunctionDef


def find_wrong_argument(folder: Path, file: str, name: str, given: Collection[str], may: Collection[str]) -> str | None:
    """Say which argument `name` in a file does not take, or lacks, None if there is none.

    It is `given` these by the spec, and by us those of `may` that it takes. None too if its signature is not plain: it
    is not of this file, it is decorated, its `__init__` is inherited, or it takes any arguments.
    """
    path = (folder / file).resolve()
    try:
        if not path.is_relative_to(folder.resolve()):
            return None
        stat = path.stat()
        taken = _signature(path, name, (stat.st_mtime_ns, stat.st_size))
    except (OSError, FileError):
        return None  # which is said when the file is read for its axes, or run
    if taken is None:
        return None
    known, needed = taken
    unknown = next((one for one in given if one not in known), None)
    if unknown is not None:
        return f"{name} in {file} takes no {unknown!r}; {did_you_mean(unknown, known, 'it takes')}"
    lacking = next((one for one in needed if one not in given and one not in may), None)
    return None if lacking is None else f"{name} in {file} needs {lacking!r}"


@cache
def _signature(path: Path, name: str, _: tuple[int, int]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the arguments that a class or function takes and those it needs, None if its signature is not plain.

    The last argument is the file's time and size, for the cache.
    """
    tree = parse_python(path, path.name)
    makers = [node for node in ast.walk(tree) if name in _names_bound(node)]
    if len(makers) != 1 or makers[0] not in tree.body or not isinstance(makers[0], _Maker):
        return None
    maker = makers[0]
    if isinstance(maker, ast.FunctionDef):
        return _arguments_of(maker, skip=0)
    own = {node.name: node for node in maker.body if isinstance(node, ast.FunctionDef)}
    if maker.decorator_list or maker.keywords or "__new__" in own or "__init__" not in own:
        return None
    return _arguments_of(own["__init__"], skip=1)


def _names_bound(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return (name,)
        case ast.Name(id=name, ctx=ast.Store()):
            return (name,)
        case ast.alias(name=name, asname=other):
            return (other or name,)
        case _:
            return ()


def _arguments_of(function: ast.FunctionDef, skip: int) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the arguments after the first `skip`."""
    found = function.args
    if function.decorator_list or found.vararg or found.kwarg or found.posonlyargs or len(found.args) < skip:
        return None
    places = [one.arg for one in found.args]
    needed = places[skip : len(places) - len(found.defaults)]
    needed += [one.arg for one, default in zip(found.kwonlyargs, found.kw_defaults, strict=True) if default is None]
    return (*places[skip:], *(one.arg for one in found.kwonlyargs)), tuple(needed)
