"""Whether a checkpoint fits a model, by names and shapes alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from math import prod
from os.path import commonprefix
from typing import TYPE_CHECKING

from imlp_audit.checkpoint.layouts import LAYOUTS, RELEASED_BLOCK, NameLayout
from imlp_audit.checkpoint.misfits import Shapes, group_misshaped, group_one_sided
from imlp_audit.checkpoint.refusal import escape_name
from imlp_audit.checkpoint.states import strip_prefixes
from imlp_audit.numbers.words import count_of
from imlp_audit.records.checkpoint import Misfit

if TYPE_CHECKING:
    from torch import Tensor, nn

UNUSED = "num_batches_tracked"
"""The last name of the tensors that no evaluation reads."""


_MARK = "act1.move1.scale"
"""A name that every block of the authors' released code has, and nothing else."""


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


_LONGEST_PREFIX = 8  # parts, such as backbone.


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
    problems = (*group_misshaped(wrong, mine, places), *group_one_sided(missing, extra, mine, wanted))
    return Fit(problems, dialect, ours, optional)


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


def _vector(shape: tuple[int, ...], wanted: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return (h,) for a (1, 1, h) or (h, 1, 1) if the model has (h,): published code saves what it broadcasts."""
    if wanted is None or len(wanted) != 1:
        return shape
    ones = (1,) * (len(shape) - 1)
    return wanted if shape in (ones + wanted, wanted + ones) and shape else shape
