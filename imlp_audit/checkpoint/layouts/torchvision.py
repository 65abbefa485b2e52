"""The names of torchvision's models, where timm has the same function under others (facts of that code)."""

from __future__ import annotations

from imlp_audit.checkpoint.layouts.layout import NameLayout

_VIT = NameLayout(
    "torchvision's ViT",
    r"^encoder\.layers\.encoder_layer_0\.ln_1\.weight$",
    (
        (r"^class_token$", "cls_token"),
        (r"^conv_proj\.", "patch_embed.proj."),
        (r"^encoder\.pos_embedding$", "pos_embed"),
        (r"^encoder\.ln\.", "norm."),
        (r"^encoder\.layers\.encoder_layer_(\d+)\.", r"blocks.\1."),
        (r"\.ln_([12])\.", r".norm\1."),
        (r"\.self_attention\.in_proj_(weight|bias)$", r".attn.qkv.\1"),
        (r"\.self_attention\.out_proj\.", ".attn.proj."),
        (r"\.mlp\.(0|linear_1)\.", ".mlp.fc1."),
        (r"\.mlp\.(3|linear_2)\.", ".mlp.fc2."),
        (r"^heads\.head\.", "head."),
    ),
)
_SWIN = NameLayout(
    "torchvision's Swin",
    r"^features\.1\.0\.attn\.relative_position_bias_table$",
    (
        (r"^features\.0\.0\.", "patch_embed.proj."),
        (r"^features\.0\.2\.", "patch_embed.norm."),
        *((rf"^features\.{2 * stage + 1}\.", f"layers.{stage}.blocks.") for stage in range(4)),
        *((rf"^features\.{2 * stage}\.", f"layers.{stage}.downsample.") for stage in range(1, 4)),
        (r"\.mlp\.0\.", ".mlp.fc1."),
        (r"\.mlp\.3\.", ".mlp.fc2."),
        (r"^head\.", "head.fc."),
    ),
)
_CONVNEXT = NameLayout(
    "torchvision's ConvNeXt",
    r"^features\.1\.0\.layer_scale$",
    (
        (r"^features\.0\.", "stem."),
        *((rf"^features\.{2 * stage + 1}\.", f"stages.{stage}.blocks.") for stage in range(4)),
        *((rf"^features\.{2 * stage}\.", f"stages.{stage}.downsample.") for stage in range(1, 4)),
        (r"\.block\.0\.", ".conv_dw."),
        (r"\.block\.2\.", ".norm."),
        (r"\.block\.3\.", ".mlp.fc1."),
        (r"\.block\.5\.", ".mlp.fc2."),
        (r"\.layer_scale$", ".gamma"),
        (r"^classifier\.0\.", "head.norm."),
        (r"^classifier\.2\.", "head.fc."),
    ),
)
TORCHVISION = (_VIT, _SWIN, _CONVNEXT)
