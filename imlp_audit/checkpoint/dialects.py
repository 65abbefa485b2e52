"""The names that published checkpoints have for the tensors of models that are built here under other names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from imlp_audit.checkpoint.released import renamed

# ResMLP as timm has it, and as its authors' code has it (facebookresearch/deit); our names are those of Algorithm 1.
_RESMLP = (
    (r"^patch_embed\.", "stem."),
    (r"\.norm([12])\.", r".pre\1."),
    (r"\.(linear_tokens|attn)\.(weight|bias)$", r".across_patches.a.\2"),
    (r"\.(mlp_channels|mlp)\.fc1\.", ".across_channels.b."),
    (r"\.(mlp_channels|mlp)\.fc2\.", ".across_channels.c."),
    (r"\.(ls|gamma_)([12])$", r".post\2.alpha"),
    (r"^norm\.", "pool.0."),
)
_OF_RESMLP = re.compile(r"\.norm1\.alpha$")


def dialects(names: Collection[str]) -> Iterator[Mapping[str, str]]:
    """Yield each way to read the names of a checkpoint: what each stands for, that of released IFFN blocks first."""
    yield renamed(names)
    if any(_OF_RESMLP.search(name) for name in names):
        resmlp = {name: _resmlp(name) for name in names}
        if len(set(resmlp.values())) == len(resmlp):
            yield resmlp


def _resmlp(name: str) -> str:
    for pattern, ours in _RESMLP:
        name = re.sub(pattern, ours, name)
    return name
