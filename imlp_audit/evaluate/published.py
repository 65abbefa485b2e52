"""Where timm's restatement of a model computes something else than the publisher's code: the published function."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn

from imlp_audit.checkpoint.layouts import MIXER_LAYOUTS, POOLFORMER_LAYOUT, NameLayout

_POOLFORMER = (
    "computed as PoolFormer's authors do, whose layout the file has: the last norm before the pooling; timm pools first"
)
_MIXER = "computed as Mixer's authors do, whose layout the file has: GELU by its tanh approximation, Flax's default"


@contextmanager
def as_published(model: nn.Module, layout: NameLayout | None) -> Iterator[tuple[str, ...]]:
    """Let a model with its weights compute what the code does whose layout they have, and yield notes on it.

    The model is changed back in the end.
    """
    if layout is POOLFORMER_LAYOUT:
        with _norm_before_pooling(model):
            yield (_POOLFORMER,)
    elif layout in MIXER_LAYOUTS:
        with _approximate_gelu(model) as changed:
            yield (_MIXER,) if changed else ()
    else:
        yield ()


@contextmanager
def _approximate_gelu(model: nn.Module) -> Iterator[bool]:
    exact = [module for module in model.modules() if isinstance(module, nn.GELU) and module.approximate == "none"]
    for module in exact:
        module.approximate = "tanh"
    try:
        yield bool(exact)
    finally:
        for module in exact:
            module.approximate = "none"


@contextmanager
def _norm_before_pooling(model: nn.Module) -> Iterator[None]:
    head, norm, pool = (model.get_submodule(name) for name in ("head", "head.norm", "head.global_pool"))
    weight = norm.get_parameter("weight")
    first = nn.GroupNorm(1, len(weight)).to(weight).requires_grad_(False)
    first.load_state_dict(norm.state_dict())
    head.global_pool, head.norm = nn.Sequential(OrderedDict(norm=first, pool=pool)), nn.Identity()
    try:
        yield
    finally:
        head.global_pool, head.norm = pool, norm
