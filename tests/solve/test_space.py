"""The readings of a family, and tables of counts under them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from imlp_audit.count.ledger import CallCache
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.readings import (
    AnyReading,
    ClassToken,
    OutputLayer,
    Presence,
    Reading,
    SpatialMatrix,
    TextReading,
    Value,
)
from imlp_audit.solve.counting import BLOCK, count_block
from imlp_audit.solve.space import Counts, Readings, readings_of, tabulate
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


@pytest.mark.parametrize(("family", "size"), [("imlp", 2304), ("resmlp", 4), ("text", 640)])
def test_each_reading_has_an_index_of_its_own_in_c_order(family: str, size: int) -> None:
    readings = readings_of(family)
    found = [readings.at(places) for places in np.ndindex(*readings.shape)]
    assert len(readings) == len(set(found)) == size
    assert [readings.index(reading) for reading in found] == list(range(size))


def test_the_last_axis_is_the_fastest() -> None:
    readings = readings_of("imlp")
    assert readings.at((0,) * 10) == readings.first
    assert readings.index(readings.at((*(0,) * 9, 1))) == 1
    assert readings.index(readings.at((1, *(0,) * 9))) == 1152
    assert readings.index(RELEASED) != readings.index(AS_WRITTEN)


def test_a_number_that_a_named_reading_says_is_tried_too() -> None:
    readings = readings_of("text", [TEXT, replace(TEXT, vocabulary=50257)])
    assert readings.axes["vocabulary"] == (30000, 30522, 32000, 32128, 50257)
    assert len(readings) == 800


def only(readings: Readings, axis: str, value: Value) -> Readings:
    """Return the readings that have a value on an axis."""
    return replace(readings, axes={**readings.axes, axis: (value,)})


@pytest.mark.slow
def test_the_parts_of_an_imlp_block_add_up() -> None:
    kept = only(readings_of("imlp"), "class_token", ClassToken.KEPT)
    memory: CallCache = {}

    def count(reading: AnyReading) -> Counts:
        assert isinstance(reading, Reading)
        with torch.device("meta"):
            block = Imlp(8, 12, reading=reading, prefix_tokens=1)
            return count_block(block.eval(), [torch.zeros(1, 17, 8)], "blocks.0.mlp", memory)

    places = list(np.ndindex(*kept.shape))
    assert len(places) == 1152
    chosen = slice(None, None, 5)  # no multiple of the number of values of an axis
    some = np.array([count(kept.at(place)) for place in places[chosen]])
    np.testing.assert_array_equal(tabulate(kept, count, BLOCK)[chosen], some)
