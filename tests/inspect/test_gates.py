"""The matrix of a spatial gating unit, against the module itself."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from imlp_audit.inspect.gates import measure_gate, spatial_matrix
from imlp_audit.inspect.parts import find_parts
from imlp_audit.models.gmlp import GmlpBlock, ToeplitzProjection, TokenProjection


@pytest.mark.parametrize("projection", [TokenProjection, ToeplitzProjection])
def test_w_is_the_modules_matrix(projection: type[TokenProjection]) -> None:
    block = GmlpBlock(4, 8, 6, projection=projection)
    torch.nn.init.normal_(block.sgu.proj.weight)
    (found,) = find_parts(block.state_dict()).gates
    np.testing.assert_array_equal(spatial_matrix(found), block.sgu.proj.matrix().detach().double().numpy())
    measured = measure_gate(found, side=None)
    assert (measured.tokens, measured.constrained) == (6, projection is ToeplitzProjection)
    assert (measured.blocks, measured.blocks_by_chance) == (None, None)
    assert measured.toeplitz_by_chance == 11 / 36


def test_on_a_grid_there_are_two_shares() -> None:
    (found,) = find_parts({"sgu.proj.weight": torch.eye(9)}).gates
    measured = measure_gate(found, side=3)
    assert (measured.toeplitz, measured.blocks, measured.blocks_by_chance) == (1, 1, 25 / 81)
