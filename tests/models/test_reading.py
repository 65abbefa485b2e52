from __future__ import annotations

from imlp_audit.spec.schema import NamedReading
from tests.models.readings import AXES


def test_specs_name_every_axis_of_a_reading() -> None:
    assert tuple(NamedReading.model_fields) == AXES
