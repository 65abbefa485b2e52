"""How a repository itself makes a model: with which arguments its code calls the class, and its configurations hold."""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import yaml

from imlp_audit.files import read_text

_MOST_FILES, _MOST_BYTES, _MOST_READ = 3000, 100_000, 3_000_000
_YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Use = tuple[str, str, dict[str, object]]
"""A file, where in it arguments are given, and their values by name."""


def find_uses(root: Path, name: str, parameters: Collection[str]) -> Iterator[Use]:
    """Yield where a class or function is called, and with which literal arguments; then configurations that name them.

    Files are read and not run.
    """
    texts = [(path.relative_to(root).as_posix(), text) for path, text in _read_all(root)]
    for shown, text in texts:
        if shown.endswith(".py") and name in text:
            yield from _calls(shown, text, name, list(parameters))
    for shown, text in texts:
        if sum(one.lower() in text.lower() for one in parameters) < 2:
            continue
        if not shown.endswith(".py"):
            yield from ((shown, shown, found) for found in _mappings(_parse(text), parameters))
        elif "add_argument" in text and (defaults := _flags(text, parameters)):
            yield shown, f"the flags of {shown}", defaults


def find_others(file: Path, root: Path, name: str) -> Iterator[Path]:
    """Yield other files of a repository that define the name."""
    for path, text in _read_all(root):
        if path.suffix == ".py" and path != file and (f"class {name}(" in text or f"def {name}(" in text):
            yield path


def siblings(file: Path) -> Iterator[Path]:
    """Yield the other files of its kind in a file's folder."""
    yield from sorted(one for one in file.parent.glob(f"*{file.suffix}") if one != file and one.is_file())


def _read_all(root: Path) -> Iterator[tuple[Path, str]]:
    read = 0
    paths = (path for path in sorted(root.rglob("*")) if path.suffix in (".py", ".yaml", ".yml", ".json"))
    for path, _ in zip(paths, range(_MOST_FILES), strict=False):
        try:
            text = read_text(path, _MOST_BYTES)
        except Exception:  # a link, no text, too large: not read
            continue
        read += len(text)
        if read > _MOST_READ:
            return
        yield path, text


def _parse(text: str) -> object:
    try:
        if text.lstrip()[:1] == "{":
            return json.loads(text)
        return None if "&" in text and "*" in text else _YAML(text).get_single_data()
    except (ValueError, yaml.YAMLError, RecursionError):
        return None


def _mappings(value: object, parameters: Collection[str]) -> Iterator[dict[str, object]]:
    if isinstance(value, list):
        for one in value:
            yield from _mappings(one, parameters)
    if isinstance(value, dict):
        known = {one.lower(): one for one in parameters}
        found = {known[str(key).lower()]: one for key, one in value.items() if str(key).lower() in known}
        if len(found) > 1 and not any(isinstance(one, dict) for one in found.values()):
            yield found
        for one in value.values():
            yield from _mappings(one, parameters)


def _calls(shown: str, text: str, name: str, parameters: list[str]) -> Iterator[Use]:
    for call in _nodes(text):
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
        given = {one.arg: _literal(one.value) for one in call.keywords if one.arg is not None}
        if called == "dict" and given.get("type") == (name,):  # mmcv's way to write configurations
            given.pop("type")
        elif called != name:
            continue
        else:
            given = {**dict(zip(parameters, map(_literal, call.args), strict=False)), **given}
        if found := {key: value[0] for key, value in given.items() if value}:
            yield shown, f"{shown}:{call.lineno}", found


def _flags(text: str, parameters: Collection[str]) -> dict[str, object]:
    """Return the defaults of flags that are called as the parameters are."""
    found: dict[str, object] = {}
    for call in _nodes(text):
        if getattr(call.func, "attr", None) == "add_argument" and call.args:
            names = [str(one[0]).lstrip("-").replace("-", "_") for one in map(_literal, call.args) if one]
            value = next((_literal(one.value) for one in call.keywords if one.arg == "default"), ())
            found |= {name: value[0] for name in names if name in parameters and value and value[0] is not None}
    return found


def _nodes(text: str) -> Iterator[ast.Call]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _literal(node: ast.expr) -> tuple[object, ...]:
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return ()


def describe(values: Mapping[str, object]) -> str:
    """Write arguments as a call has them; of many the first."""
    shown = [f"{name}={value}" for name, value in values.items()]
    return ", ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")
