"""Attention that other code keeps in other pieces: query, key and value apart, or a bias of all three in one.

Hugging Face's layers lie one below the other in timm's one. torchvision's Swin V2 has one bias where timm has the
query's and the value's; the key's part is left out, because torchvision's code computes with 0 in its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from imlp_audit.checkpoint.misfits import Shapes

_QUERY = re.compile(r"(.*\.attention\.(?:attention\.|self\.|))(query|q_proj)\.(weight|bias)")
_BIAS = re.compile(r"(.*\.attn\.)qkv\.bias")
_APART = {"query": ("query", "key", "value"), "q_proj": ("q_proj", "k_proj", "v_proj")}


class Piece(NamedTuple):
    """A tensor of a file, or one `third` of it along its first axis."""

    name: str
    third: int | None = None


Joins = Mapping[str, tuple[Piece, ...]]
"""The pieces of a file that make up one tensor of ours, along its first axis."""


def join_attention(shapes: Shapes) -> tuple[dict[str, tuple[int, ...]], Joins]:
    """Return the shapes with attention in timm's pieces, and what each of these is made of."""
    joined, joins = dict(shapes), dict[str, tuple[Piece, ...]]()
    for name, shape in shapes.items():
        if found := _QUERY.fullmatch(name):
            parts = tuple(f"{found[1]}{part}.{found[3]}" for part in _APART[found[2]])
            whole, held = f"{found[1]}qkv.{found[3]}", {shapes.get(part) for part in parts}
            if whole not in shapes and held == {shape} and shape:
                for part in parts:
                    del joined[part]
                first, *rest = shape
                joined[whole], joins[whole] = (len(parts) * first, *rest), tuple(map(Piece, parts))
        elif (found := _BIAS.fullmatch(name)) and f"{found[1]}cpb_mlp.0.weight" in shapes and shape[0] % 3 == 0:
            del joined[name]
            for third, part in ((0, f"{found[1]}q_bias"), (2, f"{found[1]}v_bias")):
                joined[part], joins[part] = (shape[0] // 3,), (Piece(name, third),)
    return joined, joins
