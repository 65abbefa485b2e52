"""Counting conventions: integer weights that turn a ledger into the kind of number that a paper prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

from imlp_audit.count.call import MULTIPLY_ACCUMULATES, Operation, Work
from imlp_audit.count.record import Ledger, Site
from imlp_audit.errors import did_you_mean

_Name = TypeVar("_Name", bound=StrEnum)


class ParameterConvention(StrEnum):
    """Which parameters a paper's column counts."""

    ALL = "all"
    NO_HEAD = "no_head"
    WITH_BUFFERS = "with_buffers"  # what a sum over the state dict counts
    TRAINABLE = "trainable"  # what ptflops, mmcv and calflops count
    LAYERS = "layers"  # what thop counts: no bare nn.Parameter, and no layer of a class of its own


class MemoryConvention(StrEnum):
    """What a paper's MB stands for."""

    MIB = "mib"  # 2^20 bytes, as torch.cuda's tools and nvidia-smi print them
    MB = "mb"  # 10^6 bytes

    @property
    def size(self) -> int:
        """Bytes of one unit."""
        return 2**20 if self is MemoryConvention.MIB else 10**6

    @property
    def symbol(self) -> str:
        """The unit's symbol."""
        return "MiB" if self is MemoryConvention.MIB else "MB"


@dataclass(frozen=True)
class WeightKey:
    """What a weight applies to: a class of work, everywhere or at one site (`layer_norm@downsample`)."""

    operation: Operation
    site: Site | None = None

    def __str__(self) -> str:
        return self.operation if self.site is None else f"{self.operation}@{self.site}"


@dataclass(frozen=True)
class Convention:
    """Integer weights of classes of work; a class without a weight is not counted."""

    name: str
    weights: Mapping[WeightKey, int]

    def weight(self, operation: Operation, site: Site) -> int:
        """The weight of a class at a site: the site's own if there is one, else the general one."""
        general = self._by_place.get((operation, None), 0)
        return self._by_place.get((operation, site), general)

    @cached_property
    def needs_classifier(self) -> bool:
        """Whether only models that say what their classifier is have a total."""
        return any(weight and key.operation is Operation.IN_CLASSIFIER for key, weight in self.weights.items())

    @cached_property
    def _by_place(self) -> Mapping[tuple[Operation, Site | None], int]:
        """The weights again; pairs of names are hashed several times as fast as keys."""
        return {(key.operation, key.site): weight for key, weight in self.weights.items()}


def parse_weight_key(text: str) -> WeightKey:
    """Read `layer_norm` or `layer_norm@downsample`. Raises ValueError, with the nearest name, for anything else."""
    operation, at, site = text.partition("@")
    return WeightKey(_member(Operation, operation), _member(Site, site) if at else None)


def _member(kind: type[_Name], text: str) -> _Name:
    names = [str(member) for member in kind]
    if text in names:
        return kind(text)
    raise ValueError(f"no {kind.__name__.lower()} is called {text!r}; {did_you_mean(text, names)}")


def total(ledger: Ledger, convention: Convention) -> int:
    """The ledger's total under a convention."""
    return sum(amount * convention.weight(operation, site) for (site, operation), amount in ledger.by_site.items())


def _everywhere(weights: Work) -> Mapping[WeightKey, int]:
    return {WeightKey(operation): weight for operation, weight in weights.items()}


MACS_WEIGHTS: Work = dict.fromkeys(MULTIPLY_ACCUMULATES, 1)

FVCORE_WEIGHTS: Work = {
    **MACS_WEIGHTS,
    Operation.LAYER_NORM: 4,
    Operation.LAYER_NORM_AFFINE: 1,
    Operation.GROUP_NORM: 4,
    Operation.GROUP_NORM_AFFINE: 1,
    Operation.INSTANCE_NORM: 4,
    Operation.INSTANCE_NORM_AFFINE: 1,
    Operation.BATCH_NORM: 1,
    Operation.BATCH_NORM_TRAINING: 4,
    Operation.BATCH_NORM_AFFINE: 1,
    Operation.ADAPTIVE_POOL: 1,
    Operation.UPSAMPLE_NEAREST: 1,
    Operation.UPSAMPLE_BILINEAR: 4,
    Operation.GRID_SAMPLE: 4,
    Operation.FVCORE_EXCESS: 1,
}

_NAMED: Mapping[str, Mapping[WeightKey, int]] = {
    "macs": _everywhere(MACS_WEIGHTS),
    "fvcore": _everywhere(FVCORE_WEIGHTS),
    # torch.utils.flop_counter: a multiplication and an addition count as two
    "torch": _everywhere(dict.fromkeys(MACS_WEIGHTS, 2)),
    "thop": _everywhere({Operation.THOP: 1}),
    # ptflops 0.7 with backend="aten": biases are counted as additions
    "ptflops": _everywhere({**MACS_WEIGHTS, Operation.BIAS: 1, Operation.BIAS_APART: -1}),
    # with backend="pytorch" and no functional calls
    "ptflops_hooks": _everywhere({Operation.PTFLOPS_HOOKS: 1}),
    "mmcv": _everywhere({Operation.MMCV: 1}),
    # what counters leave out: products in fused attention; work outside modules of torch.nn; the classifier
    "fvcore_fused": _everywhere({**FVCORE_WEIGHTS, Operation.IN_FUSED: -1}),
    "no_products": _everywhere({Operation.LINEAR: 1, Operation.CONV: 1}),
    "modules": _everywhere({Operation.IN_LAYERS: 1}),
    "no_head": _everywhere({**MACS_WEIGHTS, Operation.IN_CLASSIFIER: -1}),
}
FLOPS_CONVENTIONS: Mapping[str, Convention] = {name: Convention(name, weights) for name, weights in _NAMED.items()}
