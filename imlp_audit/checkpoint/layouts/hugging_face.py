"""The names in the files of Hugging Face's transformers (facts of that code)."""

from __future__ import annotations

from imlp_audit.checkpoint.layouts.authors import DOWNSAMPLED_AT_THE_END
from imlp_audit.checkpoint.layouts.layout import NameLayout, Rules

_BLOCK: Rules = (
    (r"\.attention\.(?:attention\.|self\.|)qkv\.", ".attn.qkv."),
    (r"\.attention\.(output\.dense|o_proj)\.", ".attn.proj."),
    (r"\.layernorm_before\.", ".norm1."),
    (r"\.layernorm_after\.", ".norm2."),
    (r"\.intermediate\.dense\.", ".mlp.fc1."),
    (r"\.output\.dense\.", ".mlp.fc2."),
)
"""A transformer's block as saved by `save_pretrained`, and as transformers 5 has it in `state_dict()`."""

VIT_LAYOUT = NameLayout(
    "Hugging Face's ViT and DeiT",
    r"^(vit|deit)\.embeddings\.cls_token$",
    (
        (r"^(vit|deit)\.", ""),
        (r"^embeddings\.cls_token$", "cls_token"),
        (r"^embeddings\.distillation_token$", "dist_token"),
        (r"^embeddings\.position_embeddings$", "pos_embed"),
        (r"^embeddings\.patch_embeddings\.projection\.", "patch_embed.proj."),
        (r"^(encoder\.layer|layers)\.(\d+)\.", r"blocks.\2."),
        *_BLOCK,
        (r"^layernorm\.", "norm."),
        (r"^(cls_)?classifier\.", "head."),
        (r"^distillation_classifier\.", "head_dist."),
    ),
    eps=("", 1e-12),
)
HUGGING_FACE_SWIN = NameLayout(
    "Hugging Face's Swin",
    r"^swin\.embeddings\.patch_embeddings\.projection\.weight$",
    (
        (r"^swin\.embeddings\.patch_embeddings\.projection\.", "patch_embed.proj."),
        (r"^swin\.embeddings\.norm\.", "patch_embed.norm."),
        (r"^swin\.encoder\.layers\.", "layers."),
        *DOWNSAMPLED_AT_THE_END,
        *_BLOCK,
        (
            r"\.attention\.(?:self\.|relative_position_bias\.)relative_position_bias_table$",
            ".attn.relative_position_bias_table",
        ),
        (r"^swin\.layernorm\.", "norm."),
        (r"^classifier\.", "head.fc."),
    ),
)
HUGGING_FACE_SWIN_V2 = NameLayout(
    "Hugging Face's Swin V2",
    r"^swinv2\.embeddings\.patch_embeddings\.projection\.weight$",
    (
        (r"^swinv2\.", "swin."),
        (r"\.attention\.self\.(query|value)\.bias$", lambda found: f".attn.{found[1][0]}_bias"),
        (r"\.attention\.self\.logit_scale$", ".attn.logit_scale"),
        (r"\.attention\.self\.continuous_position_bias_mlp\.", ".attn.cpb_mlp."),
        *HUGGING_FACE_SWIN.rules,
    ),
)
HUGGING_FACE_POOLFORMER = NameLayout(
    "Hugging Face's PoolFormer",
    r"^poolformer\.encoder\.patch_embeddings\.0\.projection\.weight$",
    (
        (r"^poolformer\.encoder\.patch_embeddings\.0\.projection\.", "stem.conv."),
        (r"^poolformer\.encoder\.patch_embeddings\.(\d)\.projection\.", r"stages.\1.downsample.conv."),
        (r"^poolformer\.encoder\.block\.(\d)\.(\d+)\.", r"stages.\1.blocks.\2."),
        (r"\.before_norm\.", ".norm1."),
        (r"\.after_norm\.", ".norm2."),
        (r"\.output\.conv([12])\.", r".mlp.fc\1."),
        (r"\.layer_scale_([12])$", r".layer_scale\1.scale"),
        (r"^norm\.", "head.norm."),
        (r"^classifier\.", "head.fc."),
    ),
)
HUGGING_FACE_CONVNEXT = NameLayout(
    "Hugging Face's ConvNeXt and ConvNeXt V2",
    r"^convnext(v2)?\.embeddings\.patch_embeddings\.weight$",
    (
        (r"^convnextv2\.", "convnext."),
        (r"^convnext\.embeddings\.patch_embeddings\.", "stem.0."),
        (r"^convnext\.embeddings\.layernorm\.", "stem.1."),
        (r"^convnext\.layernorm\.", "head.norm."),
        (r"^convnext\.encoder\.stages\.(\d)\.downsampling_layer\.", r"stages.\1.downsample."),
        (r"^convnext\.encoder\.stages\.(\d)\.layers\.(\d+)\.", r"stages.\1.blocks.\2."),
        (r"\.dwconv\.", ".conv_dw."),
        (r"\.layernorm\.", ".norm."),
        (r"\.pwconv([12])\.", r".mlp.fc\1."),
        (r"\.grn\.", ".mlp.grn."),
        (r"\.layer_scale_parameter$", ".gamma"),
        (r"^classifier\.", "head.fc."),
    ),
    eps=("head.norm", 1e-12),
)
_RESNET = NameLayout(
    "Hugging Face's ResNet",
    r"^resnet\.embedder\.embedder\.convolution\.weight$",
    (
        (r"^resnet\.embedder\.embedder\.convolution\.", "conv1."),
        (r"^resnet\.embedder\.embedder\.normalization\.", "bn1."),
        *((rf"^resnet\.encoder\.stages\.{stage}\.layers\.", f"layer{stage + 1}.") for stage in range(4)),
        *((rf"\.layer\.{layer}\.convolution\.", f".conv{layer + 1}.") for layer in range(3)),
        *((rf"\.layer\.{layer}\.normalization\.", f".bn{layer + 1}.") for layer in range(3)),
        (r"\.shortcut\.convolution\.", ".downsample.0."),
        (r"\.shortcut\.normalization\.", ".downsample.1."),
        (r"^classifier\.1\.", "fc."),
    ),
)
HUGGING_FACE = (
    VIT_LAYOUT,
    HUGGING_FACE_SWIN,
    HUGGING_FACE_SWIN_V2,
    HUGGING_FACE_POOLFORMER,
    HUGGING_FACE_CONVNEXT,
    _RESNET,
)
