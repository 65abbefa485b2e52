"""Every Mixer layer takes an input of the same size; the patch projection, which comes first, does not.

Read as: what a layer gives has the S x C of its input, so the next one gets it; the projection reads 3 x H x W.

Place: paragraph on tying
Printed: Each layer in Mixer (except for the initial patch projection layer) takes an input of the same size
Bound: none: shapes are compared
"""

from __future__ import annotations

import torch

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._layers import Sizes, sizes
from imlp_audit.models.mixer import PatchEmbedding


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Run two layers on an image of S patches of 2 x 2 in a row."""
    with torch.device("meta"):
        image = torch.empty(1, 3, 2, 2 * case.s)
        tables = [PatchEmbedding(2, case.c)(image)]
        for _ in range(2):
            tables.append(case.layer()(tables[-1]))
    shapes = [tuple(table.shape) for table in tables]
    return Trial(shapes == [(1, case.s, case.c)] * 3, {**case.shown(), "shapes before and after layers": shapes})


CLAIM = Claim(sizes(2), judge)
