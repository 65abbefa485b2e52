"""The names that publishers' code gives to a model's tensors, and ours for them (facts of that code): one table."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from imlp_audit.checkpoint.names import PUBLISHED_RESMLP, RESMLP, rename_released


@dataclass(frozen=True)
class NameLayout:
    """The names of one code base: `mark` is found in one of its names and in no other's.

    `rules` are regular expressions with what to put in their place, one after the other.
    """

    name: str
    mark: str
    rules: tuple[tuple[str, str], ...]

    def rename(self, name: str) -> str:
        """Return our name of a tensor."""
        for pattern, ours in self.rules:
            name = re.sub(pattern, ours, name)
        return name


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
SWIN_LAYOUT = NameLayout(  # it downsamples at the end of a stage, timm at the beginning of the next
    "Swin's (microsoft/Swin-Transformer)",
    r"^layers\.0\.downsample\.reduction\.weight$",
    (
        *((rf"^layers\.{stage}\.downsample\.", f"layers.{stage + 1}.downsample.") for stage in (2, 1, 0)),
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
VIT_LAYOUT = NameLayout(
    "Hugging Face's ViT and DeiT",
    r"^(vit|deit)\.embeddings\.cls_token$",
    (
        (r"^(vit|deit)\.", ""),
        (r"^embeddings\.cls_token$", "cls_token"),
        (r"^embeddings\.distillation_token$", "dist_token"),
        (r"^embeddings\.position_embeddings$", "pos_embed"),
        (r"^embeddings\.patch_embeddings\.projection\.", "patch_embed.proj."),
        (r"^encoder\.layer\.(\d+)\.", r"blocks.\1."),
        (r"\.attention\.attention\.qkv\.", ".attn.qkv."),
        (r"\.attention\.output\.dense\.", ".attn.proj."),
        (r"\.layernorm_before\.", ".norm1."),
        (r"\.layernorm_after\.", ".norm2."),
        (r"\.intermediate\.dense\.", ".mlp.fc1."),
        (r"\.output\.dense\.", ".mlp.fc2."),
        (r"^layernorm\.", "norm."),
        (r"^(cls_)?classifier\.", "head."),
        (r"^distillation_classifier\.", "head_dist."),
    ),
)
LAYOUTS = (RESMLP_LAYOUT, SWIN_LAYOUT, POOLFORMER_LAYOUT, *MIXER_LAYOUTS, VIT_LAYOUT)

_MMPRETRAIN = NameLayout("mmpretrain's", r"^(backbone\.|head\.fc\.)", ((r"^backbone\.", ""),))
_CLASSIFIERS = ("head.", "fc.", "head.fc.", "classifier.")
_LONGEST_PREFIX = 8  # parts, such as backbone.


@dataclass(frozen=True)
class Dialect:
    """One way to map a checkpoint's names to ours; before that, `prefix` is removed from all of them."""

    names: Mapping[str, str]
    prefix: str = ""
    layout: NameLayout | None = None


def dialects(names: Collection[str]) -> Iterator[Dialect]:
    """Yield each way to map a checkpoint's names to ours: as they are, then without each prefix that all have."""
    for prefix in ("", *_common_prefixes(names)):
        short = {name: name.removeprefix(prefix) for name in names}
        for renamed, layout in _dialects(list(short.values())):
            yield Dialect({old: renamed[new] for old, new in short.items()}, prefix, layout)
    if all(re.search(_MMPRETRAIN.mark, name) for name in names):
        for classifier in _CLASSIFIERS:
            ours = {name: re.sub(r"^head\.fc\.", classifier, name) for name in names}
            yield Dialect({name: _MMPRETRAIN.rename(new) for name, new in ours.items()}, layout=_MMPRETRAIN)


def _common_prefixes(names: Collection[str]) -> Iterator[str]:
    first = next(iter(names), "")
    for at, sign in enumerate(first):
        if sign == ".":
            if first.count(".", 0, at) >= _LONGEST_PREFIX or not all(
                name.startswith(first[: at + 1]) for name in names
            ):
                return
            yield first[: at + 1]


def _dialects(names: Collection[str]) -> Iterator[tuple[Mapping[str, str], NameLayout | None]]:
    """Yield the names as they are, then by each layout that they show; released IMLP blocks get our names too."""
    yield {name: name for name in names}, None
    yield rename_released(names), None
    for layout in LAYOUTS:
        if any(re.search(layout.mark, name) for name in names):
            ours = {name: layout.rename(name) for name in names}
            released = rename_released(ours.values())
            yield {name: released[new] for name, new in ours.items()}, layout
