"""A model taken apart: what each of its modules has and does, as records without torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from imlp_audit.count.conventions import Convention, ParameterConvention
from imlp_audit.count.operations import Operation
from imlp_audit.count.record import Ledger, is_within
from imlp_audit.count.sites import site_of
from imlp_audit.explain.parts import part_of
from imlp_audit.models.hosts.host import PartNames


class ParameterKind(StrEnum):
    """What a parameter is for."""

    WEIGHT = "weights"
    BIAS = "biases"
    COEFFICIENT = "AGeLU coefficients"
    NORM = "norms"
    SCALE = "other scales and shifts"
    TABLE = "class token and positions"
    BUFFER = "buffers"


@dataclass(frozen=True)
class TensorShare:
    """A parameter, or a buffer of the state dict: its dotted path, kind and size; `in_head` if only a head has it."""

    path: str
    kind: ParameterKind
    size: int
    in_head: bool = False

    def counts(self, convention: ParameterConvention) -> bool:
        """Return whether a convention counts it."""
        if self.kind is ParameterKind.BUFFER:
            return convention is ParameterConvention.WITH_BUFFERS
        return not (self.in_head and convention is ParameterConvention.NO_HEAD)


@dataclass(frozen=True)
class ImlpSize:
    """The dimensions of an IMLP block.

    C channels come in and leave, C' reach its second FC layer. It sees `tokens`; `grid` of them are on the grid that
    it convolves. `biases` says whether its first and second FC layer have one.
    """

    channels: int
    hidden: int
    tokens: int
    grid: int
    biases: tuple[bool, bool]


@dataclass(frozen=True)
class Portion:
    """An amount of a kind of parameter or class of work, in a part of the model."""

    part: str
    kind: str
    amount: int


@dataclass(frozen=True)
class Body:
    """A model's parameters and its work, and its IMLP blocks: their dotted paths, and how many of each size it has.

    `part_names` are the host's own names of its parts; with `own_blocks`, blocks of a user's own are in it.
    """

    tensors: tuple[TensorShare, ...]
    ledger: Ledger
    blocks_at: tuple[str, ...]
    blocks: Mapping[ImlpSize, int]
    part_names: PartNames = ()
    own_blocks: bool = False

    def items(self, counting: ParameterConvention | Convention) -> tuple[Portion, ...]:
        """Return what a convention counts; the amounts add up to the model's number."""
        return tuple(item for _, item in self._items(counting))

    def total(self, counting: ParameterConvention | Convention) -> int:
        """Return the model's number by a convention."""
        return sum(item.amount for item in self.items(counting))

    def outside_blocks(self, counting: ParameterConvention | Convention) -> int:
        """Return what a convention counts outside the IMLP blocks."""
        return sum(item.amount for path, item in self._items(counting) if not is_within(path, self.blocks_at))

    def _part_of(self, path: str) -> str:
        return part_of(path, self.part_names, own_blocks=self.own_blocks)

    def _items(self, counting: ParameterConvention | Convention) -> Iterator[tuple[str, Portion]]:
        """Yield what a convention counts, each with its path."""
        if isinstance(counting, ParameterConvention):
            for tensor in self.tensors:
                if tensor.counts(counting):
                    yield tensor.path, Portion(self._part_of(tensor.path), tensor.kind, tensor.size)
            return
        for (path, operation), amount in self.ledger.work.items():
            weight = counting.weight(operation, site_of(path))
            if weight and amount:
                times = f"{TIMES}{weight}" if weight != 1 else ""
                yield (
                    path,
                    Portion(self._part_of(path), f"{_name_class(operation)}{times}", amount * weight),
                )


def _name_class(operation: Operation) -> str:
    """Write a class of work in words."""
    return operation.replace("_", " ")


KINDS = (*map(str, ParameterKind), *map(_name_class, Operation))
"""All kinds of parameter and classes of work, in the order of tables."""
TIMES = " x "
"""Separates a class of work from its weight, if that is not 1."""
