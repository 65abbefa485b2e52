"""The names that publishers' code gives to a model's tensors, and ours for them (facts of that code).

A layout is data: rules, one a line, that replace a part of a name one after the other. In a rule `{n}` stands for a
number, `{n+1}` for the next, `(a|b)` for either text, and `[a,b] -> [c,d]` for two rules. A part that begins with "."
may stand anywhere, another only at the beginning; one that ends in "." goes on, another ends the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

Rules: TypeAlias = tuple[tuple[str, Callable[[re.Match[str]], str]], ...]


_BRACKETS = re.compile(r"\[(.*?)\]")


def _read_rules(text: str) -> Rules:
    lines = (line.partition("->") for line in text.splitlines() if "->" in line)
    return tuple(rule for theirs, _, ours in lines for rule in _read_line(theirs, ours))


def _read_line(theirs: str, ours: str) -> Iterator[tuple[str, Callable[[re.Match[str]], str]]]:
    """Yield a rule, or one for each text in brackets."""
    lists = max((one.count(",") for one in _BRACKETS.findall(theirs)), default=0)
    for at in range(lists + 1):
        yield _to_pattern(_choose(theirs, at)), _to_replacement(_choose(ours, at))


def _choose(text: str, at: int) -> str:
    return _BRACKETS.sub(lambda found: found[1].split(",")[at], text).strip()


def _to_pattern(text: str) -> str:
    """Return the regular expression of a part of a name."""
    start, end = "" if text.startswith(".") else "^", "" if text.endswith(".") else "$"
    return start + re.sub(r"\{(\w)\}", r"(?P<\1>\\d+)", text.replace(".", r"\.")) + end


def _to_replacement(text: str) -> Callable[[re.Match[str]], str]:
    def replace(found: re.Match[str]) -> str:
        return re.sub(r"\{(\w)([+-]\d)?\}", lambda one: str(int(found[one[1]]) + int(one[2] or 0)), text)

    return replace


@dataclass(frozen=True)
class NameLayout:
    """The names of one code base: `mark` is found in one of its names and in no other's.

    `unfolded` is found in our names of the tensors whose last axis lists the patches of 2 x 2 as `nn.Unfold` does
    (channel, row, column); ours list them by column, row, channel. `reshaped` is found in those that have another shape
    there with the same numbers in the same order. `eps` are the path of norms in our model and what the publisher's
    add to the variance.
    """

    name: str
    mark: str
    rules: Rules
    unfolded: str | None = None
    reshaped: str | None = None
    eps: tuple[str, float] | None = None

    def rename(self, name: str) -> str:
        """Return our name of a tensor."""
        for pattern, ours in self.rules:
            name = re.sub(pattern, ours, name)
        return name

    def is_unfolded(self, name: str) -> bool:
        """Say whether the tensor that has this name here lists patches as `nn.Unfold` does."""
        return self.unfolded is not None and re.search(self.unfolded, name) is not None

    def is_reshaped(self, name: str) -> bool:
        """Say whether the tensor that has this name here may have another shape in the publisher's code."""
        return self.reshaped is not None and re.search(self.reshaped, name) is not None


def _layout(
    name: str, mark: str, rules: str, *, unfolded: str | None = None, reshaped: str | None = None,
    eps: tuple[str, float] | None = None,
) -> NameLayout:  # fmt: skip
    return NameLayout(name, _to_pattern(mark), _read_rules(rules), unfolded, reshaped, eps)


_DOWNSAMPLED_AT_THE_END = "layers.[2,1,0].downsample. -> layers.[3,2,1].downsample.\n"
"""Most code downsamples at the end of a stage, timm at the beginning of the next."""

# The authors of models.
_TIMMS_RESMLP = _layout("ResMLP's", "blocks.0.attn.weight", """
    patch_embed. -> stem.
    .attn. -> .linear_tokens.
    .mlp.fc{n}. -> .mlp_channels.fc{n}.
    .gamma_{n} -> .ls{n}
""", reshaped=r"(^|\.)norm[12]?\.(alpha|beta)$")  # fmt: skip
_RESMLP = _layout("ResMLP's", ".norm1.alpha", """
    patch_embed. -> stem.
    .norm{n}. -> .pre{n}.
    .(linear_tokens|attn).[weight,bias] -> .across_patches.a.[weight,bias]
    .(mlp_channels|mlp).fc[1,2]. -> .across_channels.[b,c].
    .(ls|gamma_){n} -> .post{n}.alpha
    norm. -> pool.0.
""")  # fmt: skip
SWIN = _layout("Swin's (microsoft/Swin-Transformer)", "layers.0.downsample.reduction.weight", f"""
    {_DOWNSAMPLED_AT_THE_END}
    head. -> head.fc.
""")  # fmt: skip
_POOLFORMER_RULES = """
    patch_embed.proj. -> stem.conv.
    network.[1,3,5].proj. -> stages.[1,2,3].downsample.conv.
    network.[0,2,4,6].{b}. -> stages.[0,1,2,3].blocks.{b}.
    .layer_scale_{n} -> .layer_scale{n}.scale
    head. -> head.fc.
    norm. -> head.norm.
"""
POOLFORMER = _layout("PoolFormer's (sail-sg/poolformer)", "network.0.0.norm1.weight", _POOLFORMER_RULES)
_CONVNEXT_RULES = """
    downsample_layers.0. -> stem.
    downsample_layers.{s}. -> stages.{s}.downsample.
    stages.{s}.{b}. -> stages.{s}.blocks.{b}.
    .dwconv. -> .conv_dw.
    .pwconv{n}. -> .mlp.fc{n}.
    head. -> head.fc.
    norm. -> head.norm.
"""
_CONVNEXT = _layout("ConvNeXt's (facebookresearch/ConvNeXt)", "stages.0.0.dwconv.weight", _CONVNEXT_RULES)

# An AGeLU there is two `move`s, each a scale and a bias; the convolution is called after its kernel.
RELEASED_BLOCK = _layout("IMLP's block", ".act1.move1.scale", """
    conv{n}. -> fc{n}.
    ln1. -> act.norm.
    ln2. -> norm.
    conv(3x3|5x5)_dw. -> spatial.conv.
    ln. -> spatial.norm.
    act{n}.move1.[scale,bias] -> act.agelu{n}.[alpha,gamma]
    act{n}.move2.[scale,bias] -> act.agelu{n}.[beta,theta]
""")  # fmt: skip

# Hugging Face's transformers: a block as saved by `save_pretrained`, and as transformers 5 has it in `state_dict()`.
_BLOCK = """
    .attention.(attention.|self.|)qkv. -> .attn.qkv.
    .attention.(output.dense|o_proj). -> .attn.proj.
    .layernorm_[before,after]. -> .norm[1,2].
    .intermediate.dense. -> .mlp.fc1.
    .output.dense. -> .mlp.fc2.
"""
_HUGGING_FACE_SWIN_RULES = f"""
    swin.embeddings.patch_embeddings.projection. -> patch_embed.proj.
    swin.embeddings.norm. -> patch_embed.norm.
    swin.encoder.layers. -> layers.
    {_DOWNSAMPLED_AT_THE_END + _BLOCK}
    .attention.(self.|relative_position_bias.)relative_position_bias_table -> .attn.relative_position_bias_table
    swin.layernorm. -> norm.
    classifier. -> head.fc.
"""
HUGGING_FACE_POOLFORMER = _layout(
    "Hugging Face's PoolFormer", "poolformer.encoder.patch_embeddings.0.projection.weight", """
    poolformer.encoder.patch_embeddings.0.projection. -> stem.conv.
    poolformer.encoder.patch_embeddings.{s}.projection. -> stages.{s}.downsample.conv.
    poolformer.encoder.block.{s}.{b}. -> stages.{s}.blocks.{b}.
    .[before,after]_norm. -> .norm[1,2].
    .output.conv{n}. -> .mlp.fc{n}.
    .layer_scale_{n} -> .layer_scale{n}.scale
    norm. -> head.norm.
    classifier. -> head.fc.
""")  # fmt: skip
HUGGING_FACE_SWIN_V2 = _layout(
    "Hugging Face's Swin V2", "swinv2.embeddings.patch_embeddings.projection.weight", f"""
    swinv2. -> swin.
    .attention.self.[query,value].bias -> .attn.[q,v]_bias
    .attention.self.logit_scale -> .attn.logit_scale
    .attention.self.continuous_position_bias_mlp. -> .attn.cpb_mlp.
    {_HUGGING_FACE_SWIN_RULES}
""")  # fmt: skip
_HUGGING_FACE = (
    _layout("Hugging Face's ViT and DeiT", "(vit|deit).embeddings.cls_token", f"""
        (vit|deit). ->
        embeddings.cls_token -> cls_token
        embeddings.distillation_token -> dist_token
        embeddings.position_embeddings -> pos_embed
        embeddings.patch_embeddings.projection. -> patch_embed.proj.
        (encoder.layer|layers).{{b}}. -> blocks.{{b}}.
        {_BLOCK}
        layernorm. -> norm.
        (cls_|)classifier. -> head.
        distillation_classifier. -> head_dist.
    """, eps=("", 1e-12)),
    _layout("Hugging Face's Swin", "swin.embeddings.patch_embeddings.projection.weight", _HUGGING_FACE_SWIN_RULES),
    HUGGING_FACE_SWIN_V2,
    HUGGING_FACE_POOLFORMER,
    _layout("Hugging Face's ConvNeXt and ConvNeXt V2", "(convnext|convnextv2).embeddings.patch_embeddings.weight", """
        convnextv2. -> convnext.
        convnext.embeddings.patch_embeddings. -> stem.0.
        convnext.embeddings.layernorm. -> stem.1.
        convnext.layernorm. -> head.norm.
        convnext.encoder.stages.{s}.downsampling_layer. -> stages.{s}.downsample.
        convnext.encoder.stages.{s}.layers.{b}. -> stages.{s}.blocks.{b}.
        .dwconv. -> .conv_dw.
        .layernorm. -> .norm.
        .pwconv{n}. -> .mlp.fc{n}.
        .grn. -> .mlp.grn.
        .layer_scale_parameter -> .gamma
        classifier. -> head.fc.
    """, eps=("head.norm", 1e-12)),
    _layout("Hugging Face's ResNet", "resnet.embedder.embedder.convolution.weight", """
        resnet.embedder.embedder.convolution. -> conv1.
        resnet.embedder.embedder.normalization. -> bn1.
        resnet.encoder.stages.{s}.layers. -> layer{s+1}.
        .layer.{n}.convolution. -> .conv{n+1}.
        .layer.{n}.normalization. -> .bn{n+1}.
        .shortcut.convolution. -> .downsample.0.
        .shortcut.normalization. -> .downsample.1.
        classifier.1. -> fc.
    """),
)  # fmt: skip

# torchvision, where timm has the same function under other names.
_TORCHVISION_SWIN = """
    features.0.0. -> patch_embed.proj.
    features.0.2. -> patch_embed.norm.
    features.[1,3,5,7]. -> layers.[0,1,2,3].blocks.
    features.[2,4,6]. -> layers.[1,2,3].downsample.
    .mlp.[0,3]. -> .mlp.fc[1,2].
    head. -> head.fc.
"""
TORCHVISION = (
    _layout("torchvision's ViT", "encoder.layers.encoder_layer_0.ln_1.weight", """
        class_token -> cls_token
        conv_proj. -> patch_embed.proj.
        encoder.pos_embedding -> pos_embed
        encoder.ln. -> norm.
        encoder.layers.encoder_layer_{b}. -> blocks.{b}.
        .ln_{n}. -> .norm{n}.
        .self_attention.in_proj_[weight,bias] -> .attn.qkv.[weight,bias]
        .self_attention.out_proj. -> .attn.proj.
        .mlp.(0|linear_1). -> .mlp.fc1.
        .mlp.(3|linear_2). -> .mlp.fc2.
        heads.head. -> head.
    """),
    _layout("torchvision's Swin", "features.1.0.attn.relative_position_bias_table", _TORCHVISION_SWIN),
    _layout("torchvision's Swin V2", "features.1.0.attn.logit_scale", _TORCHVISION_SWIN),
    _layout("torchvision's ConvNeXt", "features.1.0.layer_scale", """
        features.0. -> stem.
        features.[1,3,5,7]. -> stages.[0,1,2,3].blocks.
        features.[2,4,6]. -> stages.[1,2,3].downsample.
        .block.[0,2,3,5]. -> .[conv_dw,norm,mlp.fc1,mlp.fc2].
        .layer_scale -> .gamma
        classifier.0. -> head.norm.
        classifier.2. -> head.fc.
    """),
)  # fmt: skip

# mmpretrain (once mmcls): a backbone and a head, put together.
_FEED_FORWARD = """
    .ffn.layers.0.0. -> .mlp.fc1.
    .ffn.layers.1. -> .mlp.fc2.
"""
MMPRETRAIN_POOLFORMER = _layout("mmpretrain's PoolFormer", "backbone.network.0.0.norm1.weight", f"""
    backbone. ->
    norm6. -> norm.
    head.fc. -> head.
    {_POOLFORMER_RULES}
""")  # fmt: skip
_MMPRETRAIN = (
    _layout("mmpretrain's ViT and DeiT", "backbone.layers.0.ffn.layers.0.0.weight", f"""
        backbone. ->
        {_FEED_FORWARD}
        patch_embed.projection. -> patch_embed.proj.
        layers.{{b}}.(ln|norm){{n}}. -> blocks.{{b}}.norm{{n}}.
        layers. -> blocks.
        (ln|norm)1. -> norm.
        head.layers.[head,head_dist]. -> [head,head_dist].
    """),
    _layout("mmpretrain's Swin", "backbone.stages.0.blocks.0.attn.w_msa.qkv.weight", f"""
        backbone. ->
        {_FEED_FORWARD}
        patch_embed.projection. -> patch_embed.proj.
        stages. -> layers.
        {_DOWNSAMPLED_AT_THE_END}
        .attn.w_msa. -> .attn.
        norm3. -> norm.
    """, unfolded=r"\.downsample\.(norm|reduction)\."),
    MMPRETRAIN_POOLFORMER,
    _layout("mmpretrain's ConvNeXt", "backbone.stages.0.0.depthwise_conv.weight", f"""
        backbone. ->
        .depthwise_conv. -> .dwconv.
        .pointwise_conv{{n}}. -> .pwconv{{n}}.
        norm3. -> norm.
        head.fc. -> head.
        {_CONVNEXT_RULES}
    """),
    _layout("mmpretrain's Mixer", "backbone.layers.0.token_mix.layers.0.0.weight", """
        backbone. ->
        patch_embed.projection. -> stem.proj.
        layers.{b}.ln{n}. -> blocks.{b}.norm{n}.
        layers.{b}.[token,channel]_mix.layers.0.0. -> blocks.{b}.[mlp_tokens,mlp_channels].fc1.
        layers.{b}.[token,channel]_mix.layers.1. -> blocks.{b}.[mlp_tokens,mlp_channels].fc2.
        ln1. -> norm.
        head.fc. -> head.
    """),
)  # fmt: skip
MMPRETRAINS_PARTS = _layout("mmpretrain's", "(backbone|head.fc).", "backbone. ->")
_AUTHORS = (_TIMMS_RESMLP, _RESMLP, SWIN, POOLFORMER, _CONVNEXT)
LAYOUTS = (*_AUTHORS, *_HUGGING_FACE, *TORCHVISION, *_MMPRETRAIN)
POOLFORMERS = (POOLFORMER, HUGGING_FACE_POOLFORMER, MMPRETRAIN_POOLFORMER)
