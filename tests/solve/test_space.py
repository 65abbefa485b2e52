"""The readings of a family, and tables of counts under them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from imlp_audit.models.readings import Family, OutputLayer, PaperReading, Presence, SpatialMatrix, TextReading
from imlp_audit.solve.compose import readings_of
from tests.models.readings import AS_WRITTEN, RELEASED

TEXT = TextReading(
    vocabulary=32000,
    sequence_length=128,
    ffn_width=3072,
    spatial_matrix=SpatialMatrix.TOEPLITZ,
    gate_norm=Presence.YES,
    output_layer=OutputLayer.TIED,
    pooler=Presence.NO,
)


@pytest.mark.parametrize(("family", "size"), [(Family.IMLP, 2304), (Family.RESMLP, 4), (Family.TEXT, 640)])
def test_each_reading_has_an_index_of_its_own_in_c_order(family: Family, size: int) -> None:
    readings = readings_of(family)
    found = [readings.at(places) for places in np.ndindex(*readings.shape)]
    assert len(readings) == len(set(found)) == size
    assert [readings.index(reading) for reading in found] == list(range(size))


def test_the_last_axis_is_the_fastest() -> None:
    readings = readings_of(Family.IMLP)
    assert readings.index(readings.at((*(0,) * 9, 1))) == 1
    assert readings.index(readings.at((1, *(0,) * 9))) == 1152
    assert readings.index(RELEASED) != readings.index(AS_WRITTEN)


def test_a_number_that_a_named_reading_says_is_tried_too() -> None:
    readings = readings_of(Family.TEXT, [PaperReading(text=one) for one in (TEXT, replace(TEXT, vocabulary=50257))])
    assert readings.axes["vocabulary"] == (30000, 30522, 32000, 32128, 50257)
    assert len(readings) == 800
