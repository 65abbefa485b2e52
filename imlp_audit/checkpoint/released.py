"""The names and shapes that the authors' released IFFN code gives its blocks, read as ours (facts of that code).

There a block's FC layers are `conv1` and `conv2`, an AGeLU is two `move`s, each a scale and a bias of (1, 1, h), and
the convolution is called after its kernel. The rest of a model has timm's names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

NAMES: Mapping[str, str] = {
    "conv1": "fc1",
    "conv2": "fc2",
    "ln1": "act.norm",
    "ln2": "norm",
    "conv3x3_dw": "spatial.conv",
    "conv5x5_dw": "spatial.conv",
    "ln": "spatial.norm",
    **{
        f"act{i}.move{j}.{theirs}": f"act.agelu{i}.{ours}"
        for i in (1, 2)
        for j, theirs, ours in ((1, "scale", "alpha"), (1, "bias", "gamma"), (2, "scale", "beta"), (2, "bias", "theta"))
    },
}
"""The released names of a block's parts, and ours."""

MARK = "act1.move1.scale"
"""A name that every released block has, and nothing else."""


def ours(name: str) -> str:
    """Return our name of a block's tensor that may have its released one."""
    for theirs, part in NAMES.items():
        if name == theirs or name.startswith(f"{theirs}."):
            return part + name.removeprefix(theirs)
    return name


def rename_tensors(names: Iterable[str]) -> dict[str, str]:
    """Return each name of a checkpoint with ours for it: another one in released blocks, the same elsewhere.

    Where two would be one by our names, the second keeps its own.
    """
    names = list(names)
    blocks = {name.removesuffix(MARK) for name in names if name == MARK or name.endswith(f".{MARK}")}
    taken = set(names) if blocks else set()
    result = {}
    for name in names:
        new = _in_a_block(name, blocks)
        result[name] = name if new in taken else new
        taken.add(new)
    return result


def _in_a_block(name: str, blocks: Collection[str]) -> str:
    dots = [at + 1 for at, sign in enumerate(name) if sign == "."]
    block = next((name[:at] for at in (0, *dots) if name[:at] in blocks), None)
    return name if block is None else block + ours(name.removeprefix(block))
