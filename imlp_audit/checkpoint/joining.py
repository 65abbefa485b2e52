"""Hugging Face's ViTs keep query, key and value apart, where timm has them one below the other in one layer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from imlp_audit.checkpoint.tensors import TensorInfo

_QUERY = re.compile(r"(.*\.attention\.attention\.)query\.(weight|bias)")


def join_attention(tensors: Mapping[str, TensorInfo]) -> dict[str, TensorInfo]:
    """Return the tensors with `qkv` in place of each query, key and value of the same shape."""
    joined = dict(tensors)
    for name in tensors:
        found = _QUERY.fullmatch(name)
        if found is None:
            continue
        names = [f"{found[1]}{part}.{found[2]}" for part in ("query", "key", "value")]
        parts = tuple(tensors[one] for one in names if one in tensors)
        if len(parts) == 3 and len({(part.shape, part.dtype) for part in parts}) == 1 and parts[0].shape:
            first = parts[0]
            for one in names:
                del joined[one]
            shape = (3 * first.shape[0], *first.shape[1:])
            joined[f"{found[1]}qkv.{found[2]}"] = replace(first, shape=shape, parts=parts)
    return joined
