from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from imlp_audit.count.ledger import CallCache
from imlp_audit.errors import SolverError
from imlp_audit.models.imlp import Imlp
from imlp_audit.models.reading import AnyReading, ClassToken, Family, Presence, Reach, Reading, TextReading, axes_of
from imlp_audit.solve.amounts import Amounts
from imlp_audit.solve.compose_blocks import BLOCK
from imlp_audit.solve.counting import count_block
from imlp_audit.solve.space import Structure, readings_of, structure_of, tabulate

READINGS = readings_of("text")
IDLE = ("spatial_matrix", "gate_norm", "output_layer")  # axes that change nothing in what is made here


class Made:
    """Amounts with an interaction of vocabulary and length, one of width and length, and a pooler; counts its calls."""

    def __init__(self) -> None:
        self.calls: Counter[AnyReading] = Counter()

    def __call__(self, reading: AnyReading) -> Amounts:
        assert isinstance(reading, TextReading)
        self.calls[reading] += 1
        tokens, pooler = reading.sequence_length, reading.pooler is Presence.YES
        return np.array([tokens * reading.vocabulary + 7 * pooler, tokens * reading.ffn_width + 10**15], dtype=np.int64)


def everywhere(made: Made) -> Amounts:
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
    one_value = READINGS.where("pooler", Presence.YES)  # an axis that cannot differ needs no place
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
    kept = readings_of("imlp").where("class_token", ClassToken.KEPT)
    memory: CallCache = {}

    def count(reading: AnyReading) -> Amounts:
        assert isinstance(reading, Reading)
        with torch.device("meta"):
            block = Imlp(8, 12, reading=reading, prefix_tokens=1)
            return count_block(block.eval(), [torch.zeros(1, 17, 8)], "blocks.0.mlp", memory)

    places = list(np.ndindex(*kept.shape))
    assert len(places) == 1152
    chosen = slice(None, None, 5)  # no multiple of the number of values of an axis
    some = np.array([count(kept.at(place)) for place in places[chosen]])
    np.testing.assert_array_equal(tabulate(kept, count, BLOCK)[chosen], some)
