from __future__ import annotations

from dataclasses import fields

from imlp_audit.models.reading import PaperReading, Presence, Reading, ResMlpReading, TextReading
from imlp_audit.spec.schema import NamedReading
from tests.models.readings import AXES


def test_specs_name_every_axis_of_a_reading() -> None:
    named = tuple(name for name in NamedReading.model_fields if name != "blocks")
    assert named[: len(AXES)] == AXES
    families = (Reading, ResMlpReading, TextReading)
    assert named == tuple(field.name for family in families for field in fields(family))
    assert len(set(named)) == len(named), "an axis is of one family"


def test_a_reading_answers_only_what_it_states() -> None:
    assert PaperReading() == PaperReading(imlp=None, resmlp=None, text=None)


def test_what_is_there_counts_as_true() -> None:
    assert bool(Presence.YES)
    assert not bool(Presence.NO)
