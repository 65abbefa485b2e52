"""The names in the code of the models' authors (facts of that code)."""

from __future__ import annotations

import re

from imlp_audit.checkpoint.layouts.layout import NameLayout, Rules
from imlp_audit.checkpoint.names import PUBLISHED_RESMLP, RESMLP

TIMMS_RESMLP = NameLayout(
    "ResMLP's",
    r"^blocks\.0\.attn\.weight$",
    (
        (r"^patch_embed\.", "stem."),
        *(
            (rf"\.{re.escape(theirs)}\.", f".{timms}.")
            for timms, theirs in zip(*(names.layers for names in PUBLISHED_RESMLP), strict=True)
        ),
        (r"\.gamma_([12])$", r".ls\1"),
    ),
    reshaped=r"(^|\.)norm[12]?\.(alpha|beta)$",
)
RESMLP_LAYOUT = NameLayout(
    "ResMLP's",
    r"\.norm1\.alpha$",
    (
        (r"^patch_embed\.", "stem."),
        (r"\.norm([12])\.", r".pre\1."),
        *(
            (rf"\.{re.escape(theirs)}\.(weight|bias)$", rf".{ours}.\1")
            for published in PUBLISHED_RESMLP
            for theirs, ours in zip(published.layers, RESMLP.layers, strict=True)
        ),
        (r"\.(ls|gamma_)([12])$", r".post\2.alpha"),
        (r"^norm\.", "pool.0."),
    ),
)
DOWNSAMPLED_AT_THE_END: Rules = tuple(
    (rf"^layers\.{stage}\.downsample\.", f"layers.{stage + 1}.downsample.") for stage in (2, 1, 0)
)
"""Most code downsamples at the end of a stage, timm at the beginning of the next."""

SWIN_LAYOUT = NameLayout(
    "Swin's (microsoft/Swin-Transformer)",
    r"^layers\.0\.downsample\.reduction\.weight$",
    (
        *DOWNSAMPLED_AT_THE_END,
        (r"^head\.", "head.fc."),
    ),
)
POOLFORMER_LAYOUT = NameLayout(
    "PoolFormer's (sail-sg/poolformer)",
    r"^network\.0\.0\.norm1\.weight$",
    (
        (r"^patch_embed\.proj\.", "stem.conv."),
        *((rf"^network\.{2 * stage - 1}\.proj\.", f"stages.{stage}.downsample.conv.") for stage in (1, 2, 3)),
        *((rf"^network\.{2 * stage}\.(\d+)\.", rf"stages.{stage}.blocks.\1.") for stage in (0, 1, 2, 3)),
        (r"\.layer_scale_([12])$", r".layer_scale\1.scale"),
        (r"^head\.", "head.fc."),
        (r"^norm\.", "head.norm."),
    ),
)
CONVNEXT_LAYOUT = NameLayout(
    "ConvNeXt's (facebookresearch/ConvNeXt)",
    r"^stages\.0\.0\.dwconv\.weight$",
    (
        (r"^downsample_layers\.0\.", "stem."),
        (r"^downsample_layers\.(\d)\.", r"stages.\1.downsample."),
        (r"^stages\.(\d)\.(\d+)\.", r"stages.\1.blocks.\2."),
        (r"\.dwconv\.", ".conv_dw."),
        (r"\.pwconv([12])\.", r".mlp.fc\1."),
        (r"^head\.", "head.fc."),
        (r"^norm\.", "head.norm."),
    ),
)


def _flax_mixer(tokens: tuple[str, str], channels: tuple[str, str]) -> NameLayout:
    """Return Mixer's layout for a code base that calls the norm and the MLP across tokens, and channels, so."""
    parts = ((0, "token_mixing", tokens), (1, "channel_mixing", channels))
    return NameLayout(
        "Mixer's (google-research/vision_transformer)",
        r"^MixerBlock_0/token_mixing/Dense_0/kernel$",
        (
            *((rf"^MixerBlock_(\d+)/LayerNorm_{at}/", rf"blocks.\1.{norm}.") for at, _, (norm, _) in parts),
            *(
                (rf"^MixerBlock_(\d+)/{part}/Dense_{layer}/", rf"blocks.\1.{mlp}.fc{layer + 1}.")
                for _, part, (_, mlp) in parts
                for layer in (0, 1)
            ),
            (r"^stem/", "stem.proj."),
            (r"^pre_head_layer_norm/", "norm."),
            (r"^head/", "head."),
            (r"\.(kernel|scale)$", ".weight"),
        ),
    )


MIXER_LAYOUTS = (
    _flax_mixer(("norm1", "mlp_tokens"), ("norm2", "mlp_channels")),  # timm
    _flax_mixer(("token_mixing.norm", "token_mixing.mlp"), ("channel_mixing.norm", "channel_mixing.mlp")),  # ours
)
AUTHORS = (TIMMS_RESMLP, RESMLP_LAYOUT, SWIN_LAYOUT, POOLFORMER_LAYOUT, CONVNEXT_LAYOUT, *MIXER_LAYOUTS)
