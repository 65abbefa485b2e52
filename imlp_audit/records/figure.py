"""A figure of a report: curves over the same places. Its texts are shown as they are; no part is a formula."""

from __future__ import annotations

from typing import Annotated, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from imlp_audit.records.base import Record
from imlp_audit.records.values import Finite

_MOST_PLACES, _MOST_CURVES, _LONGEST = 10_000, 20, 200  # what one drawing can show


def _refuse_formulas(text: str) -> str:
    if text.count("$") > 1:
        raise ValueError("a figure shows its texts as they are; write the symbols themselves, not a formula in $...$")
    return text


Label: TypeAlias = Annotated[str, Field(max_length=_LONGEST), AfterValidator(_refuse_formulas)]
"""A text in a figure."""


class Curve(Record):
    """A line of a figure: its label, and its heights over the figure's places."""

    label: Label
    y: tuple[Finite, ...]


class Figure(Record):
    """Curves over the same places, and heights that are marked across the whole width."""

    title: Label
    x_label: Label
    y_label: Label
    x: Annotated[tuple[Finite, ...], Field(max_length=_MOST_PLACES)]
    curves: Annotated[tuple[Curve, ...], Field(max_length=_MOST_CURVES)]
    levels: Annotated[tuple[tuple[Label, Finite], ...], Field(max_length=_MOST_CURVES)] = ()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for curve in self.curves:
            if len(curve.y) != len(self.x):
                raise ValueError(
                    f"the curve {curve.label!r} does not have a height for each place: {len(curve.y)} for {len(self.x)}"
                )
        return self
