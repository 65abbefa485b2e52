"""What a built model says of itself: what it is run on, and the hyper-parameters that tables print."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

import torch
from torch import Tensor, nn

from imlp_audit.models.host import Setting


def settings_of(model: nn.Module) -> Mapping[Setting, int]:
    """Return the side of the images, and of a model of equal blocks its depth, its patches and its widths.

    The stem is the model's first convolution; the widths of the MLPs are those of the first block's, told apart by what
    they read and give: tokens or channels. A model of transformers gives its depth alone.
    """
    return dict(_settings(model))


def _settings(model: nn.Module) -> Iterator[tuple[Setting, int]]:
    with torch.device("meta"):
        images = example_inputs(model)[0]
    height, width = images.shape[-2:] if images.ndim == 4 else (0, 0)
    if height and height == width:
        yield Setting.IMAGE, height
    depth = getattr(getattr(model, "config", None), "num_hidden_layers", None)
    if depth is not None and [len(blocks) for blocks in _equal_blocks(model)].count(depth) == 1:
        yield Setting.LAYERS, depth
        return
    blocks = getattr(model, "blocks", None)
    if not isinstance(blocks, nn.Sequential | nn.ModuleList) or not len(blocks):
        return
    if len({type(block) for block in blocks} - {nn.Sequential}) != 1:  # stages of blocks have no one depth
        return
    yield Setting.LAYERS, len(blocks)
    stem = next((m for m in model.modules() if isinstance(m, nn.Conv2d)), None)
    if stem is None or not height:
        return
    patch = int(stem.stride[0])
    tokens = (height // patch) * (width // patch)
    yield Setting.PATCH, patch
    yield Setting.WIDTH, stem.out_channels
    yield Setting.TOKENS, tokens
    if tokens == stem.out_channels:
        return
    for first, second in _mlps(blocks[0]):
        if first.in_features == second.out_features == tokens:
            yield Setting.TOKENS_HIDDEN, first.out_features
        if first.in_features == second.out_features == stem.out_channels:
            yield Setting.CHANNELS_HIDDEN, first.out_features


def _equal_blocks(model: nn.Module) -> Iterator[nn.ModuleList]:
    """Yield lists of blocks of one kind and of equal shapes, none inside a block; ALBERT's has one block."""
    for child in model.children():
        if not isinstance(child, nn.ModuleList):
            yield from _equal_blocks(child)
            continue
        kinds = {(type(one), *((n, t.shape) for n, t in one.state_dict().items())) for one in child}
        if len(kinds) == 1:
            yield child


def _mlps(block: nn.Module) -> Iterator[tuple[nn.Linear, nn.Linear]]:
    """Yield the two layers of each MLP: siblings; the second reads the output of the first, or half of it (a gate)."""
    for parent in block.modules():
        linear = [child for child in parent.children() if isinstance(child, nn.Linear)]
        for first, second in pairwise(linear):
            if first.out_features in (second.in_features, 2 * second.in_features):
                yield first, second


def example_inputs(model: nn.Module, batch: int = 1) -> tuple[Tensor, ...]:
    """Return inputs for a forward pass, on the current default device.

    A model may say itself what it is run on, by a method `example_inputs`. A classifier of timm gets images of the size
    it is configured for, (batch, channels, height, width).
    """
    own: Callable[[int], tuple[Tensor, ...]] | None = getattr(model, "example_inputs", None)
    if own is not None:
        return own(batch)
    size = getattr(model, "pretrained_cfg", {}).get("input_size", (3, 224, 224))
    return (torch.zeros(batch, *size),)
