"""A figure of a report: curves over the same places."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from imlp_audit.records.base import Record


class Curve(Record):
    """A line of a figure: its label, and its heights over the figure's places."""

    label: str
    y: tuple[float, ...]


class Figure(Record):
    """Curves over the same places, and heights that are marked across the whole width."""

    title: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    curves: tuple[Curve, ...]
    levels: tuple[tuple[str, float], ...] = ()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if any(len(curve.y) != len(self.x) for curve in self.curves):
            raise ValueError("a curve does not have a height for each place")
        return self
