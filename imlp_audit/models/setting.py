"""The hyper-parameters that tables print."""

from __future__ import annotations

from enum import StrEnum


class Setting(StrEnum):
    """A hyper-parameter of a model of equal blocks. Torch-free."""

    LAYERS = "layers"
    IMAGE = "image"
    PATCH = "patch"
    WIDTH = "width"
    TOKENS = "tokens"
    TOKENS_HIDDEN = "tokens_hidden"
    CHANNELS_HIDDEN = "channels_hidden"
