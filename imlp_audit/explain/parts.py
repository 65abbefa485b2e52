"""What the parts of a model are called, by the dotted paths of its modules and parameters."""

from __future__ import annotations

import re

from imlp_audit.models.hosts.host import PartNames

# The names that timm's models share with others. The first that is found in a path without its numbers names the part.
_COMMON: PartNames = (
    (r"\b(cls_token|dist_token)\b|^pool\.token\b", "class token"),
    (r"\b(pos_embed|positions)\b", "positions"),
    (r"\bpatch_embed\b|^stem\.proj\b", "patch embedding"),
    (r"^(stem|conv_stem|conv1|bn1)\b", "stem"),
    (r"\bdownsample\b", "downsampling"),
    (r"\b(attn_last|se)\b", "squeeze and excitation"),
    (r"\battn|\battention\b|\baggregate\b", "attention"),
    (r"\b(layer_scale|ls|gamma_)\d?\b", "scales after the sublayers"),
    (r"^(aux_)?head(_dist)?\.norm\b|^(fc_)?norm\b|^pool\b|^\w+_aff\b|^global_pool\b", "last norm and pooling"),
    (r"^(aux_)?head|^classifier\b|^fc\b", "classifier head"),
    (r"\b(norm|pre)\d?\b", "norms of the blocks"),
)

_MLP_NAMES = {
    "token_mixing.mlp": "token MLP",
    "mlp_tokens": "token MLP",
    "channel_mixing.mlp": "channel MLP",
    "mlp_channels": "channel MLP",
    "mlp": "MLP",
}
_MLP = re.compile(rf"(?<!across_patches\.)\b({'|'.join(map(re.escape, _MLP_NAMES))})\b\.?(.*)")

_IN_TIMM_MLP = ((r"^fc1\b", "FC1"), (r"^act\b", "activation"), (r"^fc2\b", "FC2"))
_IN_MLP = (
    (r"^(fc1|b)\b", "FC1"),
    (r"^act\.norm\b", "norm after the concatenation"),
    (r"^act\.(agelu\d|alpha|beta|gamma|theta)\b|^agelus\b", "AGeLU"),
    (r"^act\b", "activation"),
    (r"^spatial\.conv\b|^depconv\b", "depthwise convolution"),
    (r"^spatial\.norm\b", "norm of the convolution"),
    (r"^spatial\.act\b", "activation of the convolution"),
    (r"^spatial\b", "skip around the convolution"),
    (r"^gate\.norm\b", "norm of the gate"),
    (r"^gate\b", "gate"),
    (r"^(fc2|c)\b", "FC2"),
    (r"^norm\b", "output norm"),
)


def part_of(path: str, own: PartNames = (), *, own_blocks: bool = False) -> str:
    """Name the part of a model that a module, or a parameter of one, is in.

    `own` are the names of its host, which go before the common ones. A part without any goes by its first module, and
    so do the parts of MLPs whose place blocks of a user's own took.
    """
    return find_part(path, own, own_blocks=own_blocks) or path.partition(".")[0] or "between the modules"


def find_part(path: str, own: PartNames, *, own_blocks: bool = False) -> str | None:
    """Return the name of the part that a path is in, None where no rule knows it."""
    plain = ".".join(name for name in path.split(".") if not name.isdigit())
    inside = _MLP.search(plain)
    if inside is not None:
        first = inside[2].partition(".")[0]
        within = (_first(_IN_TIMM_MLP, inside[2]) or first) if own_blocks else _first(_IN_MLP, inside[2])
        return f"{_MLP_NAMES[inside[1]]}: {within or 'elsewhere'}"
    return _first((*own, *_COMMON), plain)


def _first(rules: PartNames, path: str) -> str | None:
    return next((name for pattern, name in rules if re.search(pattern, path)), None)
