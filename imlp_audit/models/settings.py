"""The hyper-parameters that tables print, read off a built model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch
from torch import nn

from imlp_audit.models.example import example_inputs
from imlp_audit.models.setting import Setting


def settings_of(model: nn.Module) -> Mapping[Setting, int]:
    """Return the side of the images, and of a model of equal blocks its depth, its patches and its widths.

    The stem is the model's first convolution; the widths of the MLPs are those of the first block's linear layers,
    told apart by what they read: tokens or channels.
    """
    return dict(_settings(model))


def _settings(model: nn.Module) -> Iterator[tuple[Setting, int]]:
    with torch.device("meta"):
        images = example_inputs(model)[0]
    height, width = images.shape[-2:] if images.ndim == 4 else (0, 0)
    if height:
        yield Setting.IMAGE, height
    blocks = getattr(model, "blocks", None)
    if not isinstance(blocks, nn.Sequential | nn.ModuleList) or not len(blocks):
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
    # An MLP's first layer reads tokens or channels; what gives tokens back is the second layer of another.
    first = [m for m in blocks[0].modules() if isinstance(m, nn.Linear) and m.out_features != tokens]
    for setting, read in ((Setting.TOKENS_HIDDEN, tokens), (Setting.CHANNELS_HIDDEN, stem.out_channels)):
        hidden = next((m.out_features for m in first if m.in_features == read), None)
        if hidden is not None:
            yield setting, hidden
