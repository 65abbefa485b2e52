"""Whether a checkpoint fits a model, from names and shapes alone; what does not fit is grouped by its cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from imlp_audit.checkpoint.dialects import dialects
from imlp_audit.checkpoint.problems import Problem, Shapes, misshaped, one_sided
from imlp_audit.checkpoint.refusal import shown

if TYPE_CHECKING:
    from torch import nn

_UNUSED = "num_batches_tracked"


@dataclass(frozen=True)
class Fit:
    """How a checkpoint and a model go together.

    `names` are the model's names of the file's tensors. `computed` are tensors of the file that the model computes by
    itself, `untold` tensors of the model that the file may leave out.
    """

    problems: tuple[Problem, ...]
    names: Mapping[str, str]
    computed: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether every tensor has its place, and every place its tensor."""
        return not self.problems

    @property
    def misfits(self) -> int:
        """How many tensors do not fit."""
        return sum(len(problem.names) for problem in self.problems)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is renamed, left out or kept although the file does not say it: one sentence each."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        read = sum(old != new for old, new in self.names.items())
        if read:
            yield f"{read} names of published code are read as ours"
        if self.computed:
            yield f"not loaded, as the model computes them itself: {_some(self.computed)}"
        if self.untold:
            yield f"not in the file, and not used when a model is evaluated: {_some(self.untold)}"


def _some(names: tuple[str, ...]) -> str:
    return f"{len(names)} such as {shown(names[0])}" if len(names) > 1 else shown(names[0])


def fit(held: Shapes, model: nn.Module) -> Fit:
    """Hold a checkpoint's shapes against a model, which may be on the meta device.

    Buffers that a model does not save are none of a checkpoint's: where a file has them, their shapes must agree.
    """
    wanted = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    computed = {name: tuple(b.shape) for name, b in model.named_buffers(remove_duplicate=False) if name not in wanted}
    return compare(held, wanted, computed)


def compare(held: Shapes, wanted: Shapes, computed: Shapes) -> Fit:
    """Hold a checkpoint's shapes against those that a model saves, and those that it computes by itself."""
    places = {**computed, **wanted}
    names, mine = min((_read_as(names, held, places) for names in dialects(held)), key=lambda r: distance(r[1], wanted))
    wrong = [name for name in mine if name in places and mine[name] != places[name]]
    extra = [name for name in mine if name not in places]
    untold = tuple(name for name in wanted if name not in mine and name.rpartition(".")[2] == _UNUSED)
    missing = [name for name in wanted if name not in mine and name not in untold]
    problems = (*misshaped(wrong, mine, places), *one_sided(missing, extra, mine, wanted))
    return Fit(problems, names, tuple(name for name in mine if name in computed and mine[name] == places[name]), untold)


def _read_as(names: Mapping[str, str], held: Shapes, places: Shapes) -> tuple[Mapping[str, str], Shapes]:
    """Return the shapes by the names that one of the dialects has for them, vectors as the model has them."""
    return names, {new: _vector(held[old], places.get(new)) for old, new in names.items()}


def _vector(shape: tuple[int, ...], wanted: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return (h,) for a (1, 1, h) where the model has that: published code saves vectors as it broadcasts them."""
    return wanted if wanted is not None and len(wanted) == 1 and shape == (1,) * (len(shape) - 1) + wanted else shape


def distance(mine: Shapes, wanted: Shapes) -> int:
    """Return how many tensors only one side has in a shape; what costs least to tell models apart by."""
    return len(mine.items() ^ wanted.items())
