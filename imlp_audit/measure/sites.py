"""Where in a host a module sits, told from timm's names."""

from __future__ import annotations

from enum import StrEnum


class Site(StrEnum):
    """A part of a classifier that a counting convention may weigh apart."""

    STEM = "stem"
    DOWNSAMPLE = "downsample"
    BLOCK = "block"
    HEAD = "head"


_STEMS = frozenset({"patch_embed", "patch_embeds", "stem", "conv_stem", "conv1", "bn1", "norm_pre"})
_HEADS = frozenset(
    {
        "norm",
        "fc_norm",
        "head",
        "head_dist",
        "head_drop",
        "classifier",
        "fc",
        "global_pool",
        "attn_pool",
        "conv_head",
        "bn2",
    }
)


def site_of(module_path: str) -> Site:
    """The site of a dotted module path such as `layers.1.downsample.norm`; what no rule places is a block."""
    names = module_path.split(".")
    if "downsample" in names:
        return Site.DOWNSAMPLE
    if names[0] in _STEMS:
        return Site.STEM
    return Site.HEAD if names[0] in _HEADS else Site.BLOCK
