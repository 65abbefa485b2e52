from __future__ import annotations

from dataclasses import fields
from typing import get_type_hints

import pytest

from imlp_audit.models.readings import (
    Axis,
    Family,
    OutputLayer,
    PaperReading,
    Presence,
    Reading,
    ResMlpReading,
    SpatialMatrix,
    TextReading,
    axes_of,
    make_reading,
)
from imlp_audit.spec.schema import NamedReading
from tests.models.readings import AXES


def test_specs_name_every_axis_of_a_reading() -> None:
    named = tuple(name for name in NamedReading.model_fields if name != "blocks")
    assert named[: len(AXES)] == AXES
    families = (Reading, ResMlpReading, TextReading)
    assert named == tuple(field.name for family in families for field in fields(family))
    assert len(set(named)) == len(named), "an axis is of one family"


@pytest.mark.parametrize("family", Family)
def test_every_field_of_a_reading_is_a_whole_axis(family: Family) -> None:
    hints = get_type_hints(family.kind)
    for name, axis in axes_of(family).items():
        assert isinstance(axis, Axis)
        assert type(axis.default) is hints[name]
        assert axis.default in axis.values
        assert axis.meets is None or axis.meets in hints


def test_a_reading_answers_only_what_it_states() -> None:
    assert PaperReading() == PaperReading(imlp=None, resmlp=None, text=None)


def test_what_is_there_counts_as_true() -> None:
    assert bool(Presence.YES)
    assert not bool(Presence.NO)


def test_texts_are_those_of_bert_where_nothing_is_said() -> None:
    """The sizes of its paper (arXiv 1810.04805, Sec. 3 and 4) and of its released code."""
    defaults = {name: axis.default for name, axis in axes_of(Family.TEXT).items()}
    assert make_reading(Family.TEXT, defaults) == TextReading(
        30522, 512, 3072, SpatialMatrix.FULL, Presence.YES, OutputLayer.MASKED_LM, Presence.YES
    )
