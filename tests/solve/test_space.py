"""The readings of a family, and tables of counts under them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from imlp_audit.count.ledger import CallCache
from imlp_audit.errors import SolverError
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.reading import (
    AnyReading,
    ClassToken,
    Family,
    OutputLayer,
    Presence,
    Reach,
    Reading,
    SpatialMatrix,
    TextReading,
    Value,
    axes_of,
)
from imlp_audit.solve.counting import BLOCK, count_block
from imlp_audit.solve.space import Counts, Readings, Structure, readings_of, structure_of, tabulate
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


READINGS = readings_of("text")
IDLE = ("spatial_matrix", "gate_norm", "output_layer")  # axes that change nothing in what is made here


class Made:
    """Counts with an interaction of vocabulary and length, one of width and length, and a pooler; counts its calls."""

    def __init__(self) -> None:
        self.calls: Counter[AnyReading] = Counter()

    def __call__(self, reading: AnyReading) -> Counts:
        assert isinstance(reading, TextReading)
        self.calls[reading] += 1
        tokens, pooler = reading.sequence_length, reading.pooler is Presence.YES
        return np.array([tokens * reading.vocabulary + 7 * pooler, tokens * reading.ffn_width + 10**15], dtype=np.int64)


def everywhere(made: Made) -> Counts:
    return np.array([made(READINGS.at(places)) for places in np.ndindex(*READINGS.shape)])


def test_axes_that_do_not_interact_add_up_exactly() -> None:
    made = Made()
    structure = Structure((("vocabulary",), ("ffn_width",), ("pooler",)), ("sequence_length",), IDLE)
    table = tabulate(READINGS, made, structure)
    assert table.dtype == np.int64
    assert max(made.calls.values()) == 1
    assert len(made.calls) == 2 * (1 + 3 + 1 + 1)
    np.testing.assert_array_equal(table, everywhere(Made()))


@pytest.mark.parametrize(
    "structure",
    [
        Structure((("vocabulary",), ("ffn_width",), ("pooler",), ("sequence_length",)), (), IDLE),
        Structure((("vocabulary",), ("ffn_width",)), ("sequence_length",), (*IDLE, "pooler")),
    ],
    ids=["an interaction left out", "an axis called idle that is not"],
)
def test_a_wrong_structure_gives_another_table(structure: Structure) -> None:
    assert (tabulate(READINGS, Made(), structure) != everywhere(Made())).any()


def test_an_axis_without_a_place_is_refused() -> None:
    structure = Structure((("vocabulary",), ("ffn_width",)), ("sequence_length",), IDLE)
    with pytest.raises(SolverError, match="what pooler changes in this part of a model is not declared"):
        tabulate(READINGS, Made(), structure)
    one_value = only(READINGS, "pooler", Presence.YES)  # an axis that cannot differ needs no place
    assert len(tabulate(one_value, Made(), structure)) == len(one_value)


def test_the_structure_follows_from_what_the_axes_declare() -> None:
    axes = axes_of(Family.TEXT)
    layer = structure_of(axes, moved=(Reach.UNIT,), fixed=(Reach.AROUND,))
    assert layer.apart == (("ffn_width", "gate_norm"), ("spatial_matrix",))
    assert layer.together == ("sequence_length",)
    assert layer.fixed == ("vocabulary", "output_layer", "pooler")
    assert layer.axes == set(axes)
    assert structure_of(axes, moved=(Reach.UNIT,)).axes == set(axes) - set(layer.fixed)


def test_one_group_of_all_axes_measures_everything() -> None:
    made = Made()
    table = tabulate(READINGS, made, Structure(apart=(tuple(READINGS.axes),)))
    np.testing.assert_array_equal(table, everywhere(Made()))
    assert len(made.calls) == len(READINGS)


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
