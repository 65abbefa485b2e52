from __future__ import annotations

from dataclasses import fields

from imlp_audit.models.reading import TextReading
from imlp_audit.spec.schema import NamedReading
from tests.models.readings import AXES


def test_specs_name_every_axis_of_a_reading() -> None:
    other = ("resmlp_form", *(field.name for field in fields(TextReading)))
    assert tuple(NamedReading.model_fields) == (*AXES, *other)
