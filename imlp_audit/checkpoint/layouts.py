"""The names that authors' code gives to a model's tensors, and ours for them (facts of that code).

A layout is data: rules, one a line, that replace a part of a name one after the other. In a rule `{n}` stands for a
number, `(a|b)` for either text, and `[a,b] -> [c,d]` for two rules. A part that begins with "."
may stand anywhere, another only at the beginning; one that ends in "." goes on, another ends the name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BRACKETS = re.compile(r"\[(.*?)\]")


def _read_rules(text: str) -> tuple[tuple[str, str], ...]:
    """Return the rules, for a line with brackets one for each text in them: a pattern, and what replaces it."""
    rules = []
    for theirs, _, ours in (line.partition("->") for line in text.splitlines() if "->" in line):
        for at in range(max((one.count(",") for one in _BRACKETS.findall(theirs)), default=0) + 1):
            rules.append((_to_pattern(_choose(theirs, at)), re.sub(r"\{(\w)\}", r"\\g<\1>", _choose(ours, at))))
    return tuple(rules)


def _choose(text: str, at: int) -> str:
    return _BRACKETS.sub(lambda found: found[1].split(",")[at], text).strip()


def _to_pattern(text: str) -> str:
    """Return the regular expression of a part of a name."""
    start, end = "" if text.startswith(".") else "^", "" if text.endswith(".") else "$"
    return start + re.sub(r"\{(\w)\}", r"(?P<\1>\\d+)", text.replace(".", r"\.")) + end


@dataclass(frozen=True)
class NameLayout:
    """The names of one code base: `mark` is found in one of its names and in no other's.

    `reshaped` is found in our names of the tensors that have another shape there, with the same numbers in the same
    order.
    """

    name: str
    mark: str
    rules: tuple[tuple[str, str], ...]
    reshaped: str | None = None

    def rename(self, name: str) -> str:
        """Return our name of a tensor."""
        for pattern, ours in self.rules:
            name = re.sub(pattern, ours, name)
        return name


def _layout(name: str, mark: str, rules: str, *, reshaped: str | None = None) -> NameLayout:
    return NameLayout(name, _to_pattern(mark), _read_rules(rules), reshaped)


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
SWIN = _layout("Swin's (microsoft/Swin-Transformer)", "layers.0.downsample.reduction.weight", """
    layers.[2,1,0].downsample. -> layers.[3,2,1].downsample.
    head. -> head.fc.
""")  # fmt: skip
POOLFORMER = _layout("PoolFormer's (sail-sg/poolformer)", "network.0.0.norm1.weight", """
    patch_embed.proj. -> stem.conv.
    network.[1,3,5].proj. -> stages.[1,2,3].downsample.conv.
    network.[0,2,4,6].{b}. -> stages.[0,1,2,3].blocks.{b}.
    .layer_scale_{n} -> .layer_scale{n}.scale
    head. -> head.fc.
    norm. -> head.norm.
""")  # fmt: skip
_CONVNEXT = _layout("ConvNeXt's (facebookresearch/ConvNeXt)", "stages.0.0.dwconv.weight", """
    downsample_layers.0. -> stem.
    downsample_layers.{s}. -> stages.{s}.downsample.
    stages.{s}.{b}. -> stages.{s}.blocks.{b}.
    .dwconv. -> .conv_dw.
    .pwconv{n}. -> .mlp.fc{n}.
    head. -> head.fc.
    norm. -> head.norm.
""")  # fmt: skip

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

LAYOUTS = (_TIMMS_RESMLP, _RESMLP, SWIN, POOLFORMER, _CONVNEXT)
