"""The one table of tensor names: what each code base calls the parts of the blocks that are known here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class MixingNames:
    """What one code base calls the layers of a block that mixes patches; the block's path stands before them.

    `across` is ResMLP's A, or the two layers of an MLP across patches. `channels` are the two layers across channels.
    """

    across: tuple[str, ...]
    channels: tuple[str, str]

    @property
    def layers(self) -> tuple[str, ...]:
        """All layers, those across patches first."""
        return (*self.across, *self.channels)


RESMLP = MixingNames(("across_patches.a",), ("across_channels.b", "across_channels.c"))
"""Our names, those of ResMLP's Algorithm 1."""

PUBLISHED_RESMLP = (
    MixingNames(("linear_tokens",), ("mlp_channels.fc1", "mlp_channels.fc2")),  # timm
    MixingNames(("attn",), ("mlp.fc1", "mlp.fc2")),  # its authors (facebookresearch/deit)
)
MIXING = (
    *PUBLISHED_RESMLP,
    RESMLP,
    MixingNames(("mlp_tokens.fc1", "mlp_tokens.fc2"), ("mlp_channels.fc1", "mlp_channels.fc2")),  # timm's Mixer
    MixingNames(  # our Mixer
        ("token_mixing.mlp.fc1", "token_mixing.mlp.fc2"), ("channel_mixing.mlp.fc1", "channel_mixing.mlp.fc2")
    ),
    MixingNames(("across_patches.mlp.b", "across_patches.mlp.c"), RESMLP.channels),  # ResMLP with an MLP in A's place
)
"""The blocks of ResMLP and MLP-Mixer in every code base."""

GATES = ("mlp_channels.gate.proj", "sgu.proj")
"""The layer of a spatial gating unit: timm's name, and ours."""

AGELU = (("alpha", "beta", "gamma", "theta"), ("move1.scale", "move2.scale", "move1.bias", "move2.bias"))
"""An AGeLU's alpha, beta, gamma and theta: our names, and those of the authors' released code."""

AGELUS_OF_BLOCK = (("act.agelu1", "act.agelu2"), ("act1", "act2"))
"""The two AGeLUs of an IMLP block: our names, and those of the released code."""

RELEASED: Mapping[str, str] = {
    "conv1": "fc1",
    "conv2": "fc2",
    "ln1": "act.norm",
    "ln2": "norm",
    "conv3x3_dw": "spatial.conv",
    "conv5x5_dw": "spatial.conv",
    "ln": "spatial.norm",
    **{
        f"{theirs}.{their_coefficient}": f"{ours}.{our_coefficient}"
        for ours, theirs in zip(*AGELUS_OF_BLOCK, strict=True)
        for our_coefficient, their_coefficient in zip(*AGELU, strict=True)
    },
}
"""The names that the authors' released code has for a block's parts, and ours (facts of that code).

An AGeLU there is two `move`s, each a scale and a bias; the convolution is called after its kernel.
"""

_MARK = "act1.move1.scale"
"""A name that every released block has, and nothing else."""


def rename_part(name: str) -> str:
    """Return our name of a block's tensor that may have its released one."""
    for theirs, part in RELEASED.items():
        if name == theirs or name.startswith(f"{theirs}."):
            return part + name.removeprefix(theirs)
    return name


def rename_released(names: Iterable[str]) -> dict[str, str]:
    """Return each name of a checkpoint with ours for it: another one in released blocks, the same elsewhere.

    Where two would be one by our names, the second keeps its own.
    """
    names = list(names)
    blocks = {name.removesuffix(_MARK) for name in names if name == _MARK or name.endswith(f".{_MARK}")}
    taken = set(names) if blocks else set()
    result = {}
    for name in names:
        new = _rename_in_block(name, blocks)
        result[name] = name if new in taken else new
        taken.add(new)
    return result


def _rename_in_block(name: str, blocks: Collection[str]) -> str:
    dots = [at + 1 for at, sign in enumerate(name) if sign == "."]
    block = next((name[:at] for at in (0, *dots) if name[:at] in blocks), None)
    return name if block is None else block + rename_part(name.removeprefix(block))
