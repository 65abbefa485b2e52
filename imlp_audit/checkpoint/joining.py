"""Hugging Face's ViTs and Swins keep query, key and value apart; timm has them one below the other in one layer."""

from __future__ import annotations

import re
from collections.abc import Mapping

from imlp_audit.checkpoint.misfits import Shapes

_QUERY = re.compile(r"(.*\.attention\.(?:attention|self)\.)query\.(weight|bias)")

Joins = Mapping[str, tuple[str, ...]]
"""The names of the tensors of a file that make up one of ours, along its first axis."""


def join_attention(shapes: Shapes) -> tuple[dict[str, tuple[int, ...]], Joins]:
    """Return the shapes with `qkv` in place of each query, key and value of one shape, and what each is made of."""
    joined, joins = dict(shapes), dict[str, tuple[str, ...]]()
    for name in shapes:
        found = _QUERY.fullmatch(name)
        if found is None:
            continue
        parts = tuple(f"{found[1]}{part}.{found[2]}" for part in ("query", "key", "value"))
        whole, held = f"{found[1]}qkv.{found[2]}", {shapes.get(part) for part in parts}
        if whole not in shapes and held == {shapes[name]} and shapes[name]:
            for part in parts:
                del joined[part]
            first, *rest = shapes[name]
            joined[whole], joins[whole] = (len(parts) * first, *rest), parts
    return joined, joins
