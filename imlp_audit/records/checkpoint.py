"""What `inspect` found in a checkpoint: the models that it fits, and what its weights say of a paper's sentences."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from imlp_audit.records.base import Count, Digest, JsonDocument, Record
from imlp_audit.records.check import Verdict


class Statement(Record):
    """A sentence of a paper about learned weights, and whether it is true of these.

    `measured` says what was measured in each of the `layers`; `values` has it by name, None where a layer has none.
    `judged` says when the sentence counts as true, and why.
    """

    id: str
    paper: str
    place: str
    sentence: str
    measured: str
    judged: str
    verdict: Verdict
    reason: str
    layers: tuple[str, ...] = ()
    values: dict[str, tuple[float | None, ...]] = Field(default_factory=dict)


class Inspection(Record):
    """The sentences that were judged by a checkpoint's weights, and why these look untrained, if they do."""

    statements: tuple[Statement, ...] = ()
    untrained: str | None = None


class CheckpointFile(Record):
    """The file: its container, size and SHA-256, and of the state read from it the name and the tensors."""

    container: str
    bytes: Count
    sha256: Digest
    state: str
    notes: tuple[str, ...]
    tensors: Count
    parameters: Count
    buffers: Count = 0
    dtypes: dict[str, Count]


class ModelsCompared(Record):
    """How many models the papers have, how many were built and compared, and how many have code that may not be run."""

    known: Count
    compared: Count
    untrusted: Count = 0


class MisfitKind(StrEnum):
    """How a tensor does not fit."""

    MISSING = "missing"
    UNEXPECTED = "unexpected"
    MISSHAPED = "mis-shaped"


class Misfit(Record):
    """Tensors that do not fit for one reason, with details of some of them, by the model's names or else the file's."""

    kind: MisfitKind
    reason: str
    details: tuple[str, ...]
    tensors: tuple[str, ...]


class FittingModel(Record):
    """A model of the papers, the readings under which it fits, and what does not fit."""

    label: str
    model: str
    places: tuple[str, ...]
    readings: tuple[str, ...]
    notes: tuple[str, ...]
    problems: tuple[Misfit, ...]


class Candidates(Record):
    """The models that a checkpoint fits, or the nearest ones if it fits none, of those that were compared with it.

    Models that were not compared have code that may not be run, or no tensors of such names or widths.
    """

    models: ModelsCompared
    exact: tuple[FittingModel, ...]
    nearest: tuple[FittingModel, ...]


class CheckpointReport(Candidates, JsonDocument):
    """All that `inspect` finds: models that fit exactly, or else the nearest ones, and what the weights show."""

    FORMAT: ClassVar = "imlp-audit/inspect/3"
    WRITTEN_BY: ClassVar = "imlp-audit inspect"

    file: CheckpointFile
    weights: Inspection

    def body(self) -> dict[str, object]:
        """Return the report as plain values; what is not known is null."""
        return self.model_dump(mode="json")
