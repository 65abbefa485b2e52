"""A model's arguments from configurations: YAML or JSON, sections, and what they refer to. Torch-free."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import yaml

from imlp_audit.errors import UsageError
from imlp_audit.files import read_text
from imlp_audit.models.recipe_changes import merge

_MOST = 2**20
_REFERENCE = re.compile(r"\$\{([\w.]+)\}")
_DEEPEST = 20
Values = dict[str, object]


def read_configurations(texts: Sequence[str]) -> tuple[Values, tuple[Path, str] | None]:
    """Return the arguments that `FILE[:SECTION]` hold, and `FILE.py:NAME`, which is read by the model's own process.

    Of several files a later one changes an earlier one. `NAME=FILE` holds what `${NAME.key}` of another file refers to.
    Raises UsageError.
    """
    found: Values = {}
    known: Values = {}
    defaults: tuple[Path, str] | None = None
    for text in texts:
        name, equals, where = text.rpartition("=")
        file, colon, section = where.partition(":")
        path = Path(file)
        if path.suffix == ".py":
            if not path.is_file() or not section.isidentifier():
                raise UsageError(
                    f"--config {text}: write FILE.py:NAME, of a configuration or of a function that makes one"
                )
            defaults = path, section
            continue
        values = _section(_read(path), section.split("."), path) if colon else _read(path)
        if equals:
            known[name] = values
        else:
            known = {**known, path.resolve().parent.name: values}
            found = merge(found, values)
    return {key: _resolve(value, {**known, **found}, 0) for key, value in found.items()}, defaults


def _read(path: Path) -> Values:
    text = read_text(path, _MOST, path)
    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise UsageError(f"{path}: aliases such as *name are not read; write the values in their place")
        found = ArgumentLoader(text).get_single_data()
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"{path}: {' '.join(str(error).split())}") from error
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise UsageError(f"{path}: it holds no arguments by name, such as `width: 96`")
    return found


class ArgumentLoader(yaml.SafeLoader):
    """Reads any tag as the text, list or mapping that it marks, and `1e-5` as the number that it is."""


def _untagged(loader: yaml.SafeLoader, _tag: str, node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    return loader.construct_sequence(node, deep=True) if isinstance(node, yaml.SequenceNode) else node.value


ArgumentLoader.add_multi_constructor("!", _untagged)
ArgumentLoader.add_multi_constructor("tag:yaml.org,2002:python/", _untagged)
ArgumentLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+"), list("-+0123456789")
)


def _section(values: Values, names: Sequence[str], path: Path) -> Values:
    for name in names:
        inside = values.get(name)
        if not isinstance(inside, dict):
            raise UsageError(f"{path}: it has no section {name!r}; it has {', '.join(map(str, values))}")
        values = inside
    return values


def _resolve(value: object, known: Values, depth: int) -> object:
    """Return a value with what it refers to, as `${data.image.h}`."""
    if depth > _DEEPEST:
        raise UsageError(f"a configuration refers to itself: {value}")
    if isinstance(value, dict):
        return {key: _resolve(one, known, depth) for key, one in value.items()}
    if isinstance(value, list):
        return [_resolve(one, known, depth) for one in value]
    whole = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if whole is None:
        return value
    found: object = known
    for name in whole[1].split("."):
        if not isinstance(found, dict) or name not in found:
            top = whole[1].partition(".")[0]
            raise UsageError(f"{value} is in no configuration that was given; add the file: --config {top}=FILE")
        found = found[name]
    return _resolve(found, known, depth + 1)
