"""A figure of a report: curves over the same places."""

from __future__ import annotations

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
