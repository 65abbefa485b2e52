"""The record of a reading: what a paper's text decides about its models, as the YAML writes it.

Its keys are the axes that `models/reading.py` declares.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Generic, Self, TypeVar

from pydantic import Field, create_model, model_validator

from imlp_audit.models.host import Count
from imlp_audit.models.reading import (
    Axis,
    Family,
    OwnFamily,
    PaperReading,
    Reading,
    ResMlpReading,
    TextReading,
    axes_of,
    axis_of,
)
from imlp_audit.models.values import Name
from imlp_audit.records.base import Record
from imlp_audit.spec.fields import Sentence

Answer = TypeVar("Answer")
Part = TypeVar("Part", Reading, ResMlpReading, TextReading)
NOT_STATED = "not stated: the default"


class Choice(Record, Generic[Answer]):
    """The value of one axis of a reading, and the place in the text that decides it."""

    value: Answer
    because: Sentence


class Choices(Record):
    """A reading with a reason for each axis that the text decides; the other axes of its families have defaults.

    A reading answers a family of axes if it states one of them. `blocks` are the axes of blocks of the paper's own, by
    the names of their classes.
    """

    blocks: dict[Name, Annotated[dict[Name, Choice[str]], Field(min_length=1)]] = Field(default_factory=dict)

    @property
    def stated(self) -> Mapping[str, Choice[Any]]:
        """The axes of bundled families that are given, in the order in which they are declared."""
        axes = (name for family in Family for name in axes_of(family))
        return {name: choice for name in axes if (choice := getattr(self, name)) is not None}

    @property
    def of_blocks(self) -> Mapping[str, Choice[Any]]:
        """The axes of the paper's own blocks that are given."""
        return {axis_of(block, name): one for block, axes in self.blocks.items() for name, one in axes.items()}

    def choices_with(self, own: Iterable[OwnFamily]) -> Mapping[str, Choice[Any]]:
        """Return the choices, and those about the blocks of a paper's own, which have defaults under any reading."""
        stated = self.of_blocks
        blocks = {
            axis: stated.get(axis, Choice(value=values[0], because=NOT_STATED))
            for family in own
            for axis, values in family.axes
        }
        return {**self.choices, **blocks}

    @property
    def choices(self) -> Mapping[str, Choice[Any]]:
        """Every axis of the families that are answered, in order; those that are not stated have their defaults."""
        stated = self.stated
        answered = [axes for axes in map(axes_of, Family) if axes.keys() & stated.keys()]
        return {
            name: stated.get(name, Choice(value=axis.default, because=NOT_STATED))
            for axes in answered
            for name, axis in axes.items()
        }

    def reading(self) -> PaperReading:
        """Return the reading without its reasons."""
        blocks = tuple((axis, str(choice.value)) for axis, choice in self.of_blocks.items())
        return PaperReading(self._part(Reading), self._part(ResMlpReading), self._part(TextReading), blocks)

    def _part(self, kind: type[Part]) -> Part | None:
        axes = next(axes_of(family) for family in Family if family.kind is kind)
        choices = self.choices
        return kind(**{name: choices[name].value for name in axes}) if axes.keys() <= choices.keys() else None

    @model_validator(mode="after")
    def _states_something(self) -> Self:
        if not self.stated and not self.blocks:
            raise ValueError("a reading must state something: give at least one axis of a family of models")
        return self


def _field(axis: Axis) -> tuple[Any, None]:
    """Return the type and the default of the field for an axis; a number of a reading is counted in digits."""
    kind = Count if isinstance(axis.default, int) else type(axis.default)
    return Choice[kind] | None, None  # type: ignore[valid-type]  # a type made from a declaration


if TYPE_CHECKING:

    class NamedReading(Choices):
        """A reading by the axes that are declared."""

else:
    NamedReading = create_model(
        "NamedReading",
        __base__=Choices,
        __doc__=Choices.__doc__,
        __module__=__name__,
        **{name: _field(axis) for family in Family for name, axis in axes_of(family).items()},
    )
