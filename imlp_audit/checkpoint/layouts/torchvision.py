"""The names of torchvision's models, where timm has the same function under others (facts of that code)."""

from __future__ import annotations

from imlp_audit.checkpoint.layouts.layout import NameLayout, Rules

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
_SWIN_V2 = NameLayout("torchvision's Swin V2", r"^features\.1\.0\.attn\.logit_scale$", _SWIN.rules)
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
VGG_LAYOUT = NameLayout(
    "torchvision's VGG",
    r"^classifier\.6\.weight$",
    (
        (r"^classifier\.0\.", "pre_logits.fc1."),
        (r"^classifier\.3\.", "pre_logits.fc2."),
        (r"^classifier\.6\.", "head.fc."),
    ),
    reshaped=r"^pre_logits\.fc[12]\.weight$",
)
_INVERTED: Rules = (
    (r"^features\.0\.0\.", "conv_stem."),
    (r"^features\.0\.1\.", "bn1."),
    (r"\.block\.\d\.fc1\.", ".se.conv_reduce."),
    (r"\.block\.\d\.fc2\.", ".se.conv_expand."),
    (r"^(blocks\.0\.\d+)\.block\.0\.0\.", r"\1.conv_dw."),
    (r"^(blocks\.0\.\d+)\.block\.0\.1\.", r"\1.bn1."),
    (r"^(blocks\.0\.\d+)\.block\.[12]\.0\.", r"\1.conv_pw."),
    (r"^(blocks\.0\.\d+)\.block\.[12]\.1\.", r"\1.bn2."),
    (r"\.block\.0\.0\.", ".conv_pw."),
    (r"\.block\.0\.1\.", ".bn1."),
    (r"\.block\.1\.0\.", ".conv_dw."),
    (r"\.block\.1\.1\.", ".bn2."),
    (r"\.block\.[23]\.0\.", ".conv_pwl."),
    (r"\.block\.[23]\.1\.", ".bn3."),
)
"""Inverted residual blocks: in the first stage nothing is expanded, so the depthwise convolution comes first."""


def _stages(*depths: int) -> Rules:
    """Return the rules for blocks that torchvision numbers through all stages, and timm anew in each."""
    places = ((stage, block) for stage, depth in enumerate(depths) for block in range(depth))
    return tuple((rf"^features\.{at}\.", f"blocks.{stage}.{block}.") for at, (stage, block) in enumerate(places, 1))


_MOBILENET_V2 = NameLayout(
    "torchvision's MobileNetV2",
    r"^features\.1\.conv\.0\.0\.weight$",
    (
        (r"^features\.18\.0\.", "conv_head."),
        (r"^features\.18\.1\.", "bn2."),
        *_stages(1, 2, 3, 4, 3, 3, 1),
        (r"^blocks\.0\.0\.conv\.([12])\.(?!\d)", lambda found: f"blocks.0.0.block.1.{int(found[1]) - 1}."),
        (r"\.conv\.([23])\.(?!\d)", lambda found: f".block.2.{int(found[1]) - 2}."),
        (r"\.conv\.", ".block."),
        *_INVERTED,
        (r"^classifier\.1\.", "classifier."),
    ),
    eps=("", 1e-5),
)
_MOBILENETS_V3 = tuple(
    NameLayout(
        f"torchvision's MobileNetV3-{size}",
        rf"^features\.{1 + sum(depths)}\.0\.weight$",
        (
            (rf"^features\.{1 + sum(depths)}\.0\.", f"blocks.{len(depths)}.0.conv."),
            (rf"^features\.{1 + sum(depths)}\.1\.", f"blocks.{len(depths)}.0.bn1."),
            *_stages(*depths),
            *_INVERTED,
            (r"^classifier\.0\.", "conv_head."),
            (r"^classifier\.3\.", "classifier."),
        ),
        reshaped=r"^conv_head\.weight$",
        eps=("", 1e-3),
    )
    for size, depths in (("Large", (1, 2, 3, 4, 2, 3)), ("Small", (1, 2, 3, 2, 3)))
)
_EFFICIENTNETS = tuple(
    NameLayout(
        f"torchvision's EfficientNet-{sizes}",
        mark,
        (
            (r"^features\.8\.0\.", "conv_head."),
            (r"^features\.8\.1\.", "bn2."),
            *((rf"^features\.{stage + 1}\.", f"blocks.{stage}.") for stage in range(7)),
            *_INVERTED,
            (r"^classifier\.1\.", "classifier."),
        ),
        eps=("", eps),
    )
    for sizes, mark, eps in (  # the deeper are the first to be tried
        ("B5 to B7", r"^features\.7\.2\.block\.0\.0\.weight$", 1e-3),
        ("B0 to B4", r"^features\.7\.0\.block\.0\.0\.weight$", 1e-5),
    )
)
_REGNET = NameLayout(
    "torchvision's RegNet",
    r"^trunk_output\.block1\.block1-0\.f\.a\.0\.weight$",
    (
        (r"^stem\.0\.", "stem.conv."),
        (r"^stem\.1\.", "stem.bn."),
        (
            r"^trunk_output\.block(\d)\.block\d-(\d+)\.",
            lambda found: f"s{found[1]}.b{int(found[2]) + 1}.",
        ),
        (r"\.proj\.0\.", ".downsample.conv."),
        (r"\.proj\.1\.", ".downsample.bn."),
        *(
            (rf"\.f\.{theirs}\.{at}\.", f".conv{ours}.{part}.")
            for ours, theirs in enumerate("abc", 1)
            for at, part in enumerate(("conv", "bn"))
        ),
        (r"\.f\.se\.", ".se."),
        (r"^fc\.", "head.fc."),
    ),
    eps=("", 1e-5),
)
_INCEPTION = NameLayout(
    "torchvision's Inception-v3", r"^AuxLogits\.conv0\.conv\.weight$", (), training=r"^AuxLogits\.", eps=("", 1e-3)
)
TORCHVISION = (
    _VIT,
    _SWIN,
    _SWIN_V2,
    _CONVNEXT,
    VGG_LAYOUT,
    _MOBILENET_V2,
    *_MOBILENETS_V3,
    *_EFFICIENTNETS,
    _REGNET,
    _INCEPTION,
)
