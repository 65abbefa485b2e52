"""Statements about learned weights: how a sentence's verdict comes from numbers, layer by layer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from imlp_audit.records.check import Verdict
from imlp_audit.records.inspection import Statement, Value

HALF = "One half is where what is named has more than all the rest together"


@dataclass(frozen=True)
class Sentence:
    """A sentence and its place; what is measured in each layer; from when on the sentence counts as true, and why."""

    id: str
    paper: str
    place: str
    text: str
    measured: str
    judged: str

    def found(self, holds: bool, reason: str, names: Iterable[str], values: Iterable[float | None]) -> Statement:
        """Return whether it is true of these weights; `names` are those of the layers that the values are of."""
        by_layer = tuple(Value(layer=name, value=value) for name, value in zip(names, values, strict=True))
        return self._told(Verdict.REPRODUCED if holds else Verdict.DIFFERS, reason, by_layer)

    def unverifiable(self, reason: str) -> Statement:
        """Return that it could not be judged, and why."""
        return self._told(Verdict.UNVERIFIABLE, reason, ())

    def _told(self, verdict: Verdict, reason: str, values: tuple[Value, ...]) -> Statement:
        return Statement(
            id=self.id, paper=self.paper, place=self.place, sentence=self.text, measured=self.measured,
            judged=self.judged, verdict=verdict, reason=reason, values=values,
        )  # fmt: skip


def most(holds: Sequence[bool]) -> bool:
    """Say whether more than half do."""
    return 2 * sum(holds) > len(holds)


def above_half(share: float | None) -> bool:
    """Say whether there is a share, and it is more than one half."""
    return share is not None and share > 0.5


def number(value: float | None) -> str:
    """Write a measured number for people."""
    return "none" if value is None else f"{value:.3g}"
