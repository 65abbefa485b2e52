"""Whether a checkpoint fits a model, by names and shapes alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING

from imlp_audit.checkpoint.joining import Joins, join_attention
from imlp_audit.checkpoint.layouts.dialects import Dialect, dialects
from imlp_audit.checkpoint.layouts.layout import NameLayout
from imlp_audit.checkpoint.misfits import MisfitGroup, Shapes, group_misshaped, group_one_sided
from imlp_audit.checkpoint.refusal import escape_name
from imlp_audit.checkpoint.states import strip_prefixes

if TYPE_CHECKING:
    from torch import Tensor, nn

UNUSED = "num_batches_tracked"
"""The last name of the tensors that no evaluation reads."""


@dataclass(frozen=True)
class Fit:
    """How well a checkpoint fits a model.

    `names` maps the file's names to the model's, once `prefix` is removed from all of them; of tensors that are put
    together it has the name of the whole, which `joins` maps to those in the file. `computed` are tensors of the file
    that the model computes itself, `optional` are tensors of the model that the file lacks and may lack. `layout` is
    the publisher's code that the names are from, if it is known, and `training` what only training needs there.
    """

    problems: tuple[MisfitGroup, ...]
    names: Mapping[str, str]
    computed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    prefix: str = ""
    layout: NameLayout | None = None
    joins: Joins = field(default_factory=dict)
    training: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether every tensor has a place, and every place a tensor."""
        return not self.problems

    @property
    def misfits(self) -> int:
        """How many tensors do not fit."""
        return sum(len(problem.names) for problem in self.problems)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is renamed, left out or kept: one sentence each."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        if self.prefix:
            yield f"prefix removed from all names, because they fit without it: {escape_name(self.prefix)}"
        whole = [pieces for pieces in self.joins.values() if len(pieces) > 1]
        if whole:
            parts = sum(map(len, whole))
            yield f"query, key and value put together: {parts} tensors are read as {len(whole)}"
        cut = dict.fromkeys(piece.name for pieces in self.joins.values() for piece in pieces if piece.third is not None)
        if cut:
            yield f"the key's bias is left out, as by the code of the file: {_list_first(tuple(cut))}"
        if self.training:
            yield f"left out, because only training needs it: {_list_first(self.training)}"
        renamed = sum(old.removeprefix(self.prefix) != new for old, new in self.names.items())
        if renamed:
            names = "1 name" if renamed == 1 else f"{renamed} names"
            layout = "published code" if self.layout is None else f"the layout {self.layout.name}"
            yield f"{names} of {layout} mapped to ours"
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
    return compare(held, wanted, computed, tied_names(model))


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


def compare(held: Shapes, wanted: Shapes, computed: Shapes, tied: Sequence[Sequence[str]] = ()) -> Fit:
    """Compare a checkpoint's shapes with those that a model saves, and with those that it computes itself.

    `tied` are the names of each tensor that has several.
    """
    places = {**computed, **wanted}
    joined, joins = join_attention(held)
    apart: Joins = {}
    read = [(*one, apart) for one in _read_all(held, places)]
    read += [(*one, joins) for one in _read_all(joined, places)] if joins else []
    dialect, mine, joins = min(read, key=lambda one: distance(one[1], wanted))
    ours = tuple(name for name in mine if name in computed and prod(mine[name]) == prod(computed[name]))
    wrong = [name for name in mine if name in places and name not in ours and mine[name] != places[name]]
    extra = [name for name in mine if name not in places]
    known = {name for group in tied if any(one in mine for one in group) for name in group}
    spare = (name for name in wanted if name in known or name.rpartition(".")[2] == UNUSED)
    optional = tuple(name for name in spare if name not in mine)
    missing = [name for name in wanted if name not in mine and name not in optional]
    problems = (*group_misshaped(wrong, mine, places), *group_one_sided(missing, extra, mine, wanted))
    training = tuple(name for name in (joined if joins else held) if name not in dialect.names)
    return Fit(problems, dialect.names, ours, optional, dialect.prefix, dialect.layout, joins, training)


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
    if layout is not None:
        same = (name for name in mine if layout.is_reshaped(name) and prod(mine[name]) == prod(places.get(name, (0,))))
        mine |= {name: places[name] for name in same}
    return mine


def _vector(shape: tuple[int, ...], wanted: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return (h,) for a (1, 1, h) or (h, 1, 1) if the model has (h,): published code saves what it broadcasts."""
    if wanted is None or len(wanted) != 1:
        return shape
    ones = (1,) * (len(shape) - 1)
    return wanted if shape in (ones + wanted, wanted + ones) and shape else shape


def distance(mine: Shapes, wanted: Shapes) -> int:
    """Return how many tensors only one side has, or has in another shape: the cheapest measure of difference."""
    return len(mine.items() ^ wanted.items())
