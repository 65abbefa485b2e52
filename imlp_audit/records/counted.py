"""What `count` found: a model's parameters and work, its parts, and what would give the printed numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar

from pydantic import Field

from imlp_audit.numbers.interval import readable
from imlp_audit.records.base import Count, JsonDocument, Number, Record

_CERTAIN = 0.01
_LEAST = 0.0001  # percent that is written
_LISTED = 4  # numbers that one cause gives


class ModelPart(Record):
    """A module of a model, or several equal ones in a row, each with these numbers.

    `trained` are parameters that need a gradient; `calls` counts runs of its forward pass, `work` multiply-accumulates,
    `layers` those with weights, None where the model was not run. A path such as `blocks.0-11` stands for `copies`
    modules.
    """

    path: str
    depth: Count
    kind: str
    copies: Count = 1
    parameters: Count
    trained: Count = 0
    calls: Count | None = None
    work: Count | None = None
    layers: Count | None = None


class NumberCause(Record):
    """What gives a printed number, and how likely one of the values that were tried gives it by chance.

    `explains` are the printed numbers that it gives, `rows` the other rows of its column that it gives some of. It is
    `alone` if no other value that is as unlikely gives them.
    """

    family: str
    text: str
    value: Number
    chance: Annotated[float, Field(ge=0, le=1)]
    explains: tuple[str, ...]
    rows: tuple[str, ...] = ()
    alone: bool = True

    @property
    def certain(self) -> bool:
        """Whether it is hardly chance, and no misprint, as which any number can be read."""
        return self.chance <= _CERTAIN and self.alone and self.family != "misprint"

    def __str__(self) -> str:
        more = [f"{len(self.explains) - _LISTED} more"] if len(self.explains) > _LISTED else []
        both = f", and gives {' and '.join((*self.explains[:_LISTED], *more))}" if len(self.explains) > 1 else ""
        percent = max(100 * self.chance, _LEAST)
        chance = f"{percent:.1g} %" if percent < 1 else f"{percent:.0f} %"
        chance += "" if self.certain else ", so not certain" if self.alone else ", but others give it too"
        return f"{self.text}: {readable(round(Fraction(self.value)))}{both} (by chance: {chance})"


class PrintedNumber(Record):
    """A printed number, the total that it was held against, and the causes, the least likely by chance first.

    `possible` are values that print so too, of `tried` ones, where chance alone would have `expected` print so.
    `nearest` is the most usual of those that miss by little, where none does. Of FLOPs that follow, `otherwise` are
    counts by well-known counters that would be printed otherwise.
    """

    printed: str
    measure: str
    measured: Number | None
    follows: bool
    causes: tuple[NumberCause, ...] = ()
    possible: tuple[NumberCause, ...] = ()
    tried: Count = 0
    expected: Annotated[float, Field(ge=0)] = 0
    nearest: str | None = None
    otherwise: dict[str, Count] = Field(default_factory=dict)


class CountReport(JsonDocument):
    """A model that was counted.

    `parameters` has totals by name (`all`, `trainable`, `no_head`, ...), `flops` the work of one forward pass by
    counter, None where it was not run, and `no_flops` says why. `uncounted` are operations that no formula counts,
    `left_out` missing classes of which the model has instances, or bases. `beyond` is what a counter counts beside
    multiply-accumulates, or less than them where negative, by class of module.
    """

    FORMAT: ClassVar = "imlp-audit/count/1"
    WRITTEN_BY: ClassVar = "imlp-audit count"

    model: str
    arguments: dict[str, object]
    inputs: tuple[str, ...]
    parameters: dict[str, Count]
    buffers: Count
    bytes: Count
    flops: dict[str, Count] | None
    beyond: dict[str, dict[str, int]] = Field(default_factory=dict)
    no_flops: str | None = None
    uncounted: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    parts: tuple[ModelPart, ...]
    notes: tuple[str, ...] = ()
    printed: tuple[PrintedNumber, ...] = ()


COUNTERS = {
    "macs": "multiply-accumulates alone",
    "all": "all parameters",
    "no_head": "without the classifier",
    "torch": "two for each multiply-accumulate, as torch's FlopCounterMode counts",
    "thop": "counted by thop: only layers of torch.nn that it knows",
    "no_products": "without the products in attention, as counters of modules count",
    "thop_old": "counted by thop 0.0.31, with biases of convolutions",
    "layers": "only parameters in layers of torch, as thop and torchsummary count",
    "no_embeddings": "without embeddings",
    "with_buffers": "with the buffers of the state dict",
    "trainable": "only what is trained",
    "used": "without what the forward pass never uses",
    "called": "only parameters of modules that the forward pass calls",
    "leaves": "only parameters of modules that hold no others",
    "each_time": "with shared parameters counted in each place",
    "real": "two for each complex number",
    "fvcore": "counted by fvcore",
    "ptflops": 'counted by ptflops with backend="aten"',
    "ptflops_hooks": "counted by ptflops without functional calls",
    "ptflops_old": "counted by ptflops 0.7.1 or older, with transposed convolutions on their output",
    "mmcv": "counted by mmcv",
    "fvcore_fused": "counted by fvcore, which misses the products of fused attention",
    "modules": "only layers of torch.nn, as hooks on modules count",
}
"""The counts of a report in words, the most usual first."""
PROGRAMS = {"torch": "torch's FlopCounterMode", "thop": "thop", "fvcore": "fvcore", "ptflops_hooks": "ptflops"}
"""What people count FLOPs with, by what a report calls their counts."""
