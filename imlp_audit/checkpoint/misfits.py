"""What keeps a checkpoint from fitting a model: groups of tensors, each with its cause in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt

from imlp_audit.checkpoint.refusal import escape_name
from imlp_audit.numbers.words import count_of
from imlp_audit.records.checkpoint import Misfit, MisfitKind

Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]

_MOST_SHOWN = 3  # names of each group in a message
_FEW = 2  # names that may end like the model's by chance
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


def describe(misfit: Misfit) -> str:
    """Return a misfit as a line for people."""
    count = count_of(len(misfit.tensors), "tensor")
    details = f": {_join_first(misfit.details)}" if misfit.details else ""
    return f"{misfit.kind}: {misfit.reason}{details} ({count}: {_join_first([*map(escape_name, misfit.tensors)])})"


def _join_first(texts: Sequence[str]) -> str:
    return ", ".join([*texts[:_MOST_SHOWN], *(["..."] if len(texts) > _MOST_SHOWN else [])])


def group_misshaped(names: Iterable[str], mine: Shapes, wanted: Shapes) -> Iterator[Misfit]:
    """Yield the tensors that have another shape in the file than in the model, by cause."""
    yield from _group(MisfitKind.MISSHAPED, names, lambda name: explain_shape(name, mine[name], wanted[name]))


def _group(kind: MisfitKind, names: Iterable[str], cause: Callable[[str], Cause]) -> Iterator[Misfit]:
    groups: dict[str, dict[str, Cause]] = {}
    for name in names:
        found = cause(name)
        groups.setdefault(found.reason, {})[name] = found
    for reason, group in groups.items():
        details = dict.fromkeys(detail for found in group.values() for detail in found.details)
        yield Misfit(kind=kind, reason=reason, details=tuple(details), tensors=tuple(group))


def group_one_sided(missing: list[str], extra: list[str], mine: Shapes, wanted: Shapes) -> Iterator[Misfit]:
    """Yield the tensors that only one side has: first those that differ in name only, then by part of the model."""
    for prefix, prefixed in _find_prefixes(missing, extra).items():
        reason = (
            f"the prefix {escape_name(prefix)!r} before the model's names; --prefix {escape_name(prefix)} reads what "
            "begins with it alone"
        )
        yield Misfit(kind=MisfitKind.UNEXPECTED, reason=reason, details=(), tensors=tuple(prefixed))
        matched = set(prefixed.values())
        extra = [name for name in extra if name not in prefixed]
        missing = [name for name in missing if name not in matched]
    if missing and Counter(wanted[name] for name in missing) == Counter(mine[name] for name in extra):
        yield from _group(
            MisfitKind.UNEXPECTED, extra, lambda _: Cause("tensors of the missing shapes under other names")
        )
        yield from _group(MisfitKind.MISSING, missing, lambda _: Cause("tensors of the same shapes under these names"))
        return
    held, built = _number_lists(mine), _number_lists(wanted)

    def cause(name: str) -> Cause:
        parts = (description for pattern, description in _PARTS if re.search(pattern, name))
        return _find_depth(name, held, built) or Cause(next(parts, "tensors of other names"))

    yield from _group(MisfitKind.MISSING, missing, cause)
    yield from _group(MisfitKind.UNEXPECTED, extra, cause)


def _find_prefixes(missing: list[str], extra: list[str]) -> dict[str, dict[str, str]]:
    """Return the most common prefixes of the model's missing names in the file, with these names and the model's."""
    gone = set(missing)
    found: dict[str, dict[str, str]] = {}
    for name in extra:
        for at, sign in enumerate(name, 1):
            if sign == "." and name[at:] in gone:
                found.setdefault(name[:at], {})[name] = name[at:]
    most = max(map(len, found.values()), default=0)
    if not (most > _FEW or 0 < most == len(extra)):
        return {}
    return {prefix: names for prefix, names in found.items() if len(names) == most}


def _number_lists(names: Iterable[str]) -> dict[str, set[int]]:
    """Return the numbers in each list of modules: {"blocks": {0, 1, ...}}."""
    found: dict[str, set[int]] = {}
    for name in names:
        parts = name.split(".")
        for at, part in enumerate(parts):
            if part.isdecimal():
                found.setdefault(".".join(parts[:at]), set()).add(int(part))
    return found


def _find_depth(name: str, held: Mapping[str, set[int]], wanted: Mapping[str, set[int]]) -> Cause | None:
    """Return the cause of a tensor in a block that one side's list of blocks lacks; None if both have the block."""
    parts = name.split(".")
    for at, part in enumerate(parts):
        stem = ".".join(parts[:at])
        if part.isdecimal() and stem in held and stem in wanted and int(part) not in held[stem] & wanted[stem]:
            held_in = f"{len(held[stem])} in the file's {escape_name(stem) or 'list'}"
            return Cause("another depth", (f"{held_in}, {len(wanted[stem])} in the model's",))
    return None


@dataclass(frozen=True)
class Cause:
    """Why a tensor does not fit: a reason that others may share, and the details of this one."""

    reason: str
    details: tuple[str, ...] = ()


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
