"""Changes of a recipe: what they are in words, and the recipe that they make of another."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from pydantic import BaseModel, JsonValue

Change: TypeAlias = dict[str, JsonValue]
"""Fields of a recipe as a spec writes them, by their keys: what differs in another recipe."""


def describe_fields(change: Change) -> dict[tuple[str, ...], str]:
    """Return each field that a change changes, by the keys on the way to it, in words: "kernel 5"."""
    return {path: f"{path[-1]} {write_value(value)}" for path, value in find_leaves(change).items()}


def describe(change: Change) -> str:
    """Write a change in words: "kernel 5"."""
    return " and ".join(describe_fields(change).values())


def find_leaves(change: Mapping[str, Any], above: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return the values of a change, or of what is written, by the keys on the way to them."""
    leaves: dict[tuple[str, ...], Any] = {}
    for key, value in change.items():
        leaves |= find_leaves(value, (*above, key)) if isinstance(value, dict) else {(*above, key): value}
    return leaves


def value_at(value: object, path: tuple[str, ...]) -> object:
    """Return the value at a path of fields, None where there is none."""
    for name in path:
        value = getattr(value, name, None)
    return value


def takes(written: Mapping[str, object], change: Mapping[str, object]) -> bool:
    """Say whether each mapping in a change has one in what is written to change."""
    for key, value in change.items():
        if isinstance(value, Mapping):
            inside = written.get(key)
            if not isinstance(inside, Mapping) or not takes(inside, value):
                return False
    return True


def merge(written: Mapping[str, object], change: Mapping[str, object]) -> dict[str, object]:
    """Return what is written with the values of a change."""
    merged = dict(written)
    for key, value in change.items():
        inside = merged.get(key)
        if isinstance(value, Mapping) and isinstance(inside, Mapping):
            value = merge(inside, value)
        merged[key] = value
    return merged


def write_value(value: object) -> str:
    """Write a value as YAML would have it."""
    match value:
        case BaseModel():
            shown = (name for name, field in type(value).model_fields.items() if field.repr)
            given = (name for name in shown if name in value.model_fields_set)
            return "{" + ", ".join(f"{name}: {write_value(getattr(value, name))}" for name in given) + "}"
        case Mapping():
            return "{" + ", ".join(f"{name}: {write_value(one)}" for name, one in value.items()) + "}"
        case (int(height), int(width)) if height == width and isinstance(value, tuple):
            return str(height)
        case tuple() | list():
            return "[" + ", ".join(map(write_value, value)) + "]"
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value).removesuffix(".0")
        case str() if not re.fullmatch(r"[A-Za-z0-9_.]+", value):
            return json.dumps(value)  # a glob has signs that YAML takes for its own
        case _:
            return str(value)
