"""Where differences between a checkpoint and a model come from, in words: the first rule that fits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isqrt

Shape = tuple[int, ...]

_HEAD = re.compile(r"(^|\.)(head(\.fc)?|fc|classifier)\.(weight|bias)$")
_POSITIONS = re.compile(r"pos_embed|position|relative_position_bias_table")
_OF_TOKENS = re.compile(r"(tokens|token_mixing|patches|gate|sgu)\.(?!norm)")
_PARTS = (
    (r"(^|\.)(head_dist\.|dist_token$)", "a distillation token and its head"),
    (r"(^|\.)cls_token$", "a class token"),
    (_HEAD.pattern, "the classifier's head"),
    (r"(^|\.)aux_head\.", "an auxiliary head"),
    (r"\.act\.norm\.", "the norm after the concatenation"),
    (r"\.act\.agelu\d\.", "the coefficients of AGeLU"),
    (r"\.spatial\.norm\.", "the batch norm of the depthwise block"),
    (r"\.spatial\.act\.", "the AGeLU of the depthwise block"),
    (r"\.spatial\.conv\.bias$", "the bias of the depthwise convolution"),
    (r"\.spatial\.", "the depthwise convolution"),
    (r"\.mlp\.norm\.", "the norm after the second FC layer"),
    (r"\.fc1\.bias$", "the bias of the first FC layer"),
    (r"\.fc2\.bias$", "the bias of the second FC layer"),
    (r"(gamma_?\d|ls\d|layer_scale\d)(\.|$)", "the scales of the residual branches"),
    (r"(^|\.)norm\.(weight|bias)$", "a norm"),
    (r"(^|\.)n_averaged$", "the count of an average of weights (torch.optim.swa_utils)"),
    (_POSITIONS.pattern, "a table of positions"),
)


@dataclass(frozen=True)
class Cause:
    """Why a tensor does not fit: a reason that others may share, and the details of this one."""

    reason: str
    details: tuple[str, ...] = ()


def explain_name(name: str) -> Cause:
    """Name the part of a model that a tensor of only one side belongs to."""
    return Cause(
        next((description for pattern, description in _PARTS if re.search(pattern, name)), "tensors of other names")
    )


def explain_depth(stem: str, held: int, wanted: int) -> Cause:
    """Say that a list of blocks is longer on one side."""
    return Cause("another depth", (f"{held} in the file's {stem or 'list'}, {wanted} in the model's",))


def explain_shape(name: str, held: Shape, wanted: Shape) -> Cause:
    """Say why a tensor has another shape in the file than in the model."""
    if _HEAD.search(name) and held[1:] == wanted[1:]:
        return Cause("another number of classes", (_sides(held[0], wanted[0]),))
    if _POSITIONS.search(name) and len(held) == len(wanted) >= 2 and held[-2] != wanted[-2]:
        return Cause("a table of positions of another length", (_positions(held[-2], wanted[-2]),))
    if ".agelu" in name and (1,) in (held, wanted):
        return Cause("AGeLU's coefficients, one for each channel or one for all", (_sides(held[0], wanted[0]),))
    if len(held) == len(wanted) == 4 and held[:2] == wanted[:2]:
        what = "patches" if re.search(r"patch_embed|stem", name) else "a kernel"
        return Cause(f"{what} of another size", (_sides(_times(held[2:]), _times(wanted[2:])),))
    if [size for size in held if size > 1] == [size for size in wanted if size > 1]:
        return Cause("the same numbers in another layout, such as a linear layer and a 1 x 1 convolution")
    details = tuple(f"{a} for {b}" for a, b in zip(held, wanted, strict=False) if a != b)
    if len(held) != len(wanted):
        details = (f"{_times(held)} for {_times(wanted)}",)
    if _OF_TOKENS.search(name):
        return Cause("another number of tokens (so of patches), or other layers across them", details)
    return Cause("other widths (the file's for the model's)", details)


def _times(sizes: Shape) -> str:
    return " x ".join(map(str, sizes)) or "one number"


def _sides(held: object, wanted: object) -> str:
    return f"{held} in the file, {wanted} in the model"


def _positions(held: int, wanted: int) -> str:
    """Explain why a table of positions is longer: tokens that are not patches, or more patches."""
    sides = _sides(held, wanted)
    if abs(held - wanted) <= 2:
        tokens = "a class token" if abs(held - wanted) == 1 else "a class and a distillation token"
        return f"{sides}: {tokens} more in the {'file' if held > wanted else 'model'}"
    grids = [_grid(held), _grid(wanted)]
    size = f" ({grids[0]} for {grids[1]})" if all(grids) else ""
    return f"{sides}: images or patches of another size{size}"


def _grid(positions: int) -> str:
    """Return the square grid of the positions, without up to two tokens that are not patches."""
    sides = (isqrt(positions - tokens) for tokens in range(3) if isqrt(positions - tokens) ** 2 == positions - tokens)
    return next((f"{side} x {side}" for side in sides), "")
