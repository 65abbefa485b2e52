"""Whether a checkpoint fits a model, by names and shapes alone, and what keeps it from fitting, in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import prod
from os.path import commonprefix
from typing import TYPE_CHECKING

from imlp_audit.checkpoint.container import escape_name
from imlp_audit.checkpoint.states import strip_prefixes
from imlp_audit.numbers.words import count_of
from imlp_audit.records.checkpoint import Misfit, MisfitKind

if TYPE_CHECKING:
    from torch import Tensor, nn

Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]

UNUSED = "num_batches_tracked"
"""The last name of the tensors that no evaluation reads."""
_MARK = "act1.move1.scale"
"""A name that every block of the authors' released code has, and nothing else."""
_BRACKETS = re.compile(r"\[(.*?)\]")
_LONGEST_PREFIX = 8  # parts, such as backbone.
_MOST_SHOWN = 3  # names and shapes in a message
_FEW = 2  # names that may end like the model's by chance


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


def rename_released(names: Iterable[str]) -> dict[str, str]:
    """Return each name of a checkpoint with ours for it: another one in released IMLP blocks, the same elsewhere.

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
    return name if block is None else block + RELEASED_BLOCK.rename(name.removeprefix(block))


@dataclass(frozen=True)
class Dialect:
    """One way to map a checkpoint's names to ours; before that, `prefix` is removed from all of them.

    `layout` is the authors' code that the names are from, if it is known.
    """

    names: Mapping[str, str]
    prefix: str = ""
    layout: NameLayout | None = None


def dialects(names: Collection[str]) -> Iterator[Dialect]:
    """Yield each way to map a checkpoint's names to ours: as they are, then without each prefix that all have."""
    for prefix in ("", *_common_prefixes(names)):
        short = {name: name.removeprefix(prefix) for name in names}
        for renamed, layout in _dialects(list(short.values())):
            yield Dialect({old: renamed[new] for old, new in short.items() if new in renamed}, prefix, layout)


def _common_prefixes(names: Collection[str]) -> Iterator[str]:
    parts = commonprefix(list(names)).split(".")[:-1]  # noqa: RUF071  # what follows the last dot is cut off
    return accumulate(f"{part}." for part in parts[:_LONGEST_PREFIX])


def _dialects(names: Collection[str]) -> Iterator[tuple[Mapping[str, str], NameLayout | None]]:
    """Yield the names as they are, then by each layout that they show; released IMLP blocks get our names too."""
    yield {name: name for name in names}, None
    yield rename_released(names), None
    for layout in LAYOUTS:
        if any(re.search(layout.mark, name) for name in names):
            ours = {name: layout.rename(name) for name in names}
            released = rename_released(ours.values())
            yield {name: released[new] for name, new in ours.items()}, layout


@dataclass(frozen=True)
class Fit:
    """How well a checkpoint fits a model.

    `dialect` maps the file's names to the model's. `computed` are tensors of the file that the model computes itself,
    `optional` are tensors of the model that the file lacks and may lack.
    """

    problems: tuple[Misfit, ...]
    dialect: Dialect
    computed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether every tensor has a place, and every place a tensor."""
        return not self.problems

    @property
    def misfits(self) -> int:
        """How many tensors do not fit."""
        return sum(len(problem.tensors) for problem in self.problems)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is renamed, left out or kept: one sentence each."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        prefix, layout = self.dialect.prefix, self.dialect.layout
        if prefix:
            yield f"prefix removed from all names, because they fit without it: {escape_name(prefix)}"
        renamed = sum(old.removeprefix(prefix) != new for old, new in self.dialect.names.items())
        if renamed:
            source = "published code" if layout is None else f"the layout {layout.name}"
            yield f"{count_of(renamed, 'name')} of {source} mapped to ours"
        if self.computed:
            yield f"computed by the model itself, so not loaded: {_list_first(self.computed)}"
        if self.optional:
            yield f"not in the file, and not needed to evaluate the model: {_list_first(self.optional)}"


def _list_first(names: tuple[str, ...]) -> str:
    first = escape_name(names[0])
    return f"{len(names)} tensors such as {first}" if len(names) > 1 else first


def fit(held: Shapes, model: nn.Module) -> Fit:
    """Compare a checkpoint's shapes with a model, which may be on the meta device.

    A checkpoint need not hold the buffers that a model does not save; if it does, they must have as many numbers. Of
    one tensor with several names it needs one (`save_model` of safetensors writes no more).
    """
    wanted = {name: tuple(tensor.shape) for name, tensor in saved_tensors(model).items()}
    computed = {name: tuple(b.shape) for name, b in model.named_buffers(remove_duplicate=False) if name not in wanted}
    places = {**computed, **wanted}
    # the nearest has the fewest tensors that only one side has, or has in another shape
    dialect, mine = min(_read_all(held, places), key=lambda one: len(one[1].items() ^ wanted.items()))
    ours = tuple(name for name in mine if name in computed and prod(mine[name]) == prod(computed[name]))
    wrong = [name for name in mine if name in places and name not in ours and mine[name] != places[name]]
    extra = [name for name in mine if name not in places]
    known = {name for group in tied_names(model) if any(one in mine for one in group) for name in group}
    spare = (name for name in wanted if name in known or name.rpartition(".")[2] == UNUSED)
    optional = tuple(name for name in spare if name not in mine)
    missing = [name for name in wanted if name not in mine and name not in optional]
    return Fit(tuple(_find_misfits(wrong, missing, extra, mine, places)), dialect, ours, optional)


def saved_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Return the tensors that a model saves, by name. What else its own code saves (extra states) is left out."""
    from torch import Tensor

    return {name: one for name, one in model.state_dict(keep_vars=True).items() if isinstance(one, Tensor)}


def tied_names(model: nn.Module) -> tuple[tuple[str, ...], ...]:
    """Return the names of each tensor that a model saves under several."""
    names: dict[int, list[str]] = {}
    for name, tensor in saved_tensors(model).items():
        names.setdefault(id(tensor), []).append(name)
    return tuple(tuple(group) for group in names.values() if len(group) > 1)


def _read_all(held: Shapes, places: Shapes) -> Iterator[tuple[Dialect, Shapes]]:
    """Yield the shapes in each dialect; one that gives two tensors the same name would lose one of them.

    Prefixes such as `module.` are gone from the file's names, and come back where a part of the model is called that.
    """
    short = {strip_prefixes(name): name for name in places}
    for dialect in dialects(held):
        names = {old: short.get(new, new) for old, new in dialect.names.items()}
        if len(set(names.values())) == len(names):
            yield replace(dialect, names=names), _read_as(names, dialect.layout, held, places)


def _read_as(names: Mapping[str, str], layout: NameLayout | None, held: Shapes, places: Shapes) -> Shapes:
    """Return the shapes under the names of one dialect, in the model's shape where that holds the same numbers."""
    mine = {new: _vector(held[old], places.get(new)) for old, new in names.items()}
    if layout is not None and layout.reshaped is not None:
        there = (name for name in mine if re.search(layout.reshaped, name))
        same = (name for name in there if prod(mine[name]) == prod(places.get(name, (0,))))
        mine |= {name: places[name] for name in same}
    return mine


def _vector(shape: Shape, wanted: Shape | None) -> Shape:
    """Return (h,) for a (1, 1, h) or (h, 1, 1) if the model has (h,): published code saves what it broadcasts."""
    if wanted is None or len(wanted) != 1:
        return shape
    ones = (1,) * (len(shape) - 1)
    return wanted if shape in (ones + wanted, wanted + ones) and shape else shape


def describe(misfit: Misfit) -> str:
    """Return a misfit as a line for people."""
    count = count_of(len(misfit.tensors), "tensor")
    details = f": {_join_first(misfit.details)}" if misfit.details else ""
    return f"{misfit.kind}: {misfit.reason}{details} ({count}: {_join_first([*map(escape_name, misfit.tensors)])})"


def _join_first(texts: Sequence[str]) -> str:
    return ", ".join([*texts[:_MOST_SHOWN], *(["..."] if len(texts) > _MOST_SHOWN else [])])


def _find_misfits(
    wrong: list[str], missing: list[str], extra: list[str], mine: Shapes, places: Shapes
) -> Iterator[Misfit]:
    """Yield the tensors of another shape, those behind a prefix, and those that only one side has."""
    if wrong:
        details = tuple(dict.fromkeys(_compare_shapes(mine[name], places[name]) for name in wrong))
        yield Misfit(kind=MisfitKind.MISSHAPED, reason="other shapes", details=details, tensors=tuple(wrong))
    for prefix, prefixed in _find_prefixes(missing, extra).items():
        shown = escape_name(prefix)
        reason = f"the prefix {shown!r} before the model's names; --prefix {shown} reads what begins with it alone"
        yield Misfit(kind=MisfitKind.UNEXPECTED, reason=reason, details=(), tensors=tuple(prefixed))
        matched = set(prefixed.values())
        extra = [name for name in extra if name not in prefixed]
        missing = [name for name in missing if name not in matched]
    if missing:
        reason = "the file lacks tensors of the model"
        yield Misfit(kind=MisfitKind.MISSING, reason=reason, details=(), tensors=tuple(missing))
    if extra:
        reason = "the model has no tensors of these names"
        yield Misfit(kind=MisfitKind.UNEXPECTED, reason=reason, details=(), tensors=tuple(extra))


def _compare_shapes(held: Shape, wanted: Shape) -> str:
    return " in the file, ".join(" x ".join(map(str, one)) or "one number" for one in (held, wanted)) + " in the model"


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
