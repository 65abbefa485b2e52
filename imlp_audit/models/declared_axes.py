"""The axes that a block's class declares in its Python file, read without running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from math import prod
from pathlib import Path
from typing import TypeAlias

from imlp_audit.errors import did_you_mean
from imlp_audit.files import FileError, parse_python
from imlp_audit.models.declared_names import names_in
from imlp_audit.models.own_axes import MOST_COMBINATIONS

AxisValue: TypeAlias = bool | int | str
"""A value of an axis as the class is given it."""
DeclaredAxes: TypeAlias = dict[str, tuple[AxisValue, ...]]

ATTRIBUTE = "axes"
DECIDED = ("in_features", "out_features", "use_conv")
"""What the MLP that a block replaces decides, so that neither an axis nor an argument can."""
_LARGEST = 1_000_000
_EXAMPLE = 'axes = {"gate_norm": ("none", "layer"), "bias": (True, False)}'


def read_axes(path: Path, shown_as: str, name: str) -> DeclaredAxes:
    """Return the axes of the class `name`, none for a class or function that declares none.

    Raises ValueError, with file and line, for a file that is not Python, lacks the name, or declares axes in another
    form.
    """
    try:
        stat = path.stat()
        return dict(_read(path, shown_as, name, (stat.st_mtime_ns, stat.st_size)))
    except FileError as error:
        raise ValueError(f"{shown_as}:{error.place[0]}: it {error.reason}") from error
    except (OSError, RecursionError) as error:
        raise ValueError(f"{shown_as}: it cannot be read: {error}") from error


@cache
def _read(path: Path, shown_as: str, name: str, _: tuple[int, int]) -> DeclaredAxes:
    """Return the axes; the last argument is the file's time and size, for the cache."""
    tree = parse_python(path, shown_as)
    known = list(names_in(tree))
    if name not in known and "*" not in known:
        raise ValueError(f"{shown_as} defines no {name!r}; {did_you_mean(name, known, 'it has')}")
    found = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    declared = [value for node in found[-1:] for value in _values_of_attribute(node)]
    if not declared:
        return {}
    where = f"{shown_as}:{declared[-1].lineno}: axes of {name}"
    axes = _axes_in(declared[-1], where)
    if prod(map(len, axes.values())) > MOST_COMBINATIONS:
        raise ValueError(
            f"{where} have more than {MOST_COMBINATIONS} combinations of values; solve counts each, so declare fewer"
        )
    return axes


def _values_of_attribute(node: ast.ClassDef) -> Iterator[ast.expr]:
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == ATTRIBUTE:
                yield value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if name == ATTRIBUTE:
                yield value


def _axes_in(node: ast.expr, where: str) -> DeclaredAxes:
    """Return the axes that a literal declares. Raises ValueError for any other form."""
    try:
        written = ast.literal_eval(node)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where} must be written out, because the file is not run: {_EXAMPLE}") from error
    if not isinstance(written, dict) or not isinstance(node, ast.Dict) or not written:
        raise ValueError(f"{where} must map names to their values: {_EXAMPLE}")
    if len(written) < len(node.keys):
        raise ValueError(f"{where} name one axis twice")
    for name, values in written.items():
        complaint = _complaint(name, values)
        if complaint is not None:
            raise ValueError(f"{where}: {complaint}")
    return {name: tuple(values) for name, values in written.items()}


def _complaint(name: object, values: object) -> str | None:
    """Say what is wrong with an axis, if anything."""
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        return f"{name!r} is not the name of an argument"
    if name in DECIDED:
        return f"{name} is what the MLP that is replaced decides, so it cannot be an axis"
    if not isinstance(values, tuple | list) or len(values) < 2:
        return f"{name} needs at least two values, such as (True, False); the first is the default"
    if len({type(value) for value in values}) > 1 or not isinstance(values[0], bool | int | str):
        return f"{name}: give words only, whole numbers only, or True and False"
    if len(set(values)) < len(values):
        return f"{name} has a value twice"
    for value in values:
        if isinstance(value, str) and not re.fullmatch(r"[A-Za-z0-9_.-]{1,40}", value):
            return f"{name}: {value[:50]!r} is not a word of at most 40 letters, digits, _, . and -"
        if isinstance(value, int) and abs(value) > _LARGEST:
            return f"{name}: {value} is larger than {_LARGEST}"
    return None
