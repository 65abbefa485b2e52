"""Where timm's restatement of a model computes something else than the publisher's code: the published function."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn

from imlp_audit.checkpoint.layouts import POOLFORMER_LAYOUT, Layout

_POOLFORMER = (
    "computed as PoolFormer's authors do, whose layout the file has: the last norm before the pooling; timm pools first"
)


@contextmanager
def as_published(model: nn.Module, layout: Layout | None) -> Iterator[tuple[str, ...]]:
    """Let a model with its weights compute what the code does whose layout they have, and yield notes on it.

    The model is changed back in the end.
    """
    head = getattr(model, "head", None)
    if layout is not POOLFORMER_LAYOUT or head is None:
        yield ()
        return
    norm, pool = head.norm, head.global_pool
    first = nn.GroupNorm(1, len(norm.weight)).to(norm.weight).requires_grad_(False)
    first.load_state_dict(norm.state_dict())
    head.global_pool, head.norm = nn.Sequential(OrderedDict(norm=first, pool=pool)), nn.Identity()
    try:
        yield (_POOLFORMER,)
    finally:
        head.global_pool, head.norm = pool, norm
