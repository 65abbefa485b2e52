"""The names of mmpretrain (once mmcls): a backbone and a head, put together (facts of that code)."""

from __future__ import annotations

from imlp_audit.checkpoint.layouts.authors import CONVNEXT_LAYOUT, DOWNSAMPLED_AT_THE_END, POOLFORMER_LAYOUT
from imlp_audit.checkpoint.layouts.layout import NameLayout, Rules

_BACKBONE = (r"^backbone\.", "")
_FEED_FORWARD: Rules = ((r"\.ffn\.layers\.0\.0\.", ".mlp.fc1."), (r"\.ffn\.layers\.1\.", ".mlp.fc2."))

_VIT = NameLayout(
    "mmpretrain's ViT and DeiT",
    r"^backbone\.layers\.0\.ffn\.layers\.0\.0\.weight$",
    (
        _BACKBONE,
        *_FEED_FORWARD,
        (r"^patch_embed\.projection\.", "patch_embed.proj."),
        (r"^layers\.(\d+)\.(?:ln|norm)([12])\.", r"blocks.\1.norm\2."),
        (r"^layers\.", "blocks."),
        (r"^(?:ln|norm)1\.", "norm."),
        (r"^head\.layers\.(head|head_dist)\.", r"\1."),
    ),
)
_SWIN = NameLayout(
    "mmpretrain's Swin",
    r"^backbone\.stages\.0\.blocks\.0\.attn\.w_msa\.qkv\.weight$",
    (
        _BACKBONE,
        *_FEED_FORWARD,
        (r"^patch_embed\.projection\.", "patch_embed.proj."),
        (r"^stages\.", "layers."),
        *DOWNSAMPLED_AT_THE_END,
        (r"\.attn\.w_msa\.", ".attn."),
        (r"^norm3\.", "norm."),
    ),
    unfolded=r"\.downsample\.(norm|reduction)\.",
)
MMPRETRAIN_POOLFORMER = NameLayout(
    "mmpretrain's PoolFormer",
    r"^backbone\.network\.0\.0\.norm1\.weight$",
    (_BACKBONE, (r"^norm6\.", "norm."), (r"^head\.fc\.", "head."), *POOLFORMER_LAYOUT.rules),
)
_CONVNEXT = NameLayout(
    "mmpretrain's ConvNeXt",
    r"^backbone\.stages\.0\.0\.depthwise_conv\.weight$",
    (
        _BACKBONE,
        (r"\.depthwise_conv\.", ".dwconv."),
        (r"\.pointwise_conv([12])\.", r".pwconv\1."),
        (r"^norm3\.", "norm."),
        (r"^head\.fc\.", "head."),
        *CONVNEXT_LAYOUT.rules,
    ),
)
_MIXER = NameLayout(
    "mmpretrain's Mixer",
    r"^backbone\.layers\.0\.token_mix\.layers\.0\.0\.weight$",
    (
        _BACKBONE,
        (r"^patch_embed\.projection\.", "stem.proj."),
        (r"^layers\.(\d+)\.ln([12])\.", r"blocks.\1.norm\2."),
        (r"^layers\.(\d+)\.(token|channel)_mix\.layers\.0\.0\.", r"blocks.\1.mlp_\2s.fc1."),
        (r"^layers\.(\d+)\.(token|channel)_mix\.layers\.1\.", r"blocks.\1.mlp_\2s.fc2."),
        (r"^ln1\.", "norm."),
        (r"^head\.fc\.", "head."),
    ),
)
MMPRETRAIN = (_VIT, _SWIN, MMPRETRAIN_POOLFORMER, _CONVNEXT, _MIXER)
