"""What a checkpoint's weights show, as records: to and from JSON."""

from __future__ import annotations

from pydantic import Field

from imlp_audit.records.base import Record
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
