"""The output of each step has the shape of its input, so every layer gets a table of the same size.

Place: Sec. 2.1, paragraph on Fig. 2
Printed: выход каждого слоя имеет ту же размерность, что и вход; каждый блок MLP-Mixer получает на вход матрицу
    X in R^{S x C} одного и того же размера
Bound: none: shapes are compared
"""

from __future__ import annotations

import torch

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._layers import Sizes, sizes


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Run both steps, then a second layer."""
    with torch.device("meta"):
        layer, x = case.layer(), torch.empty(1, case.s, case.c)
        u = layer.token_mixing(x)
        y = layer.channel_mixing(u)
        tables = {"X": x, "U": u, "Y": y, "Y of the next layer": case.layer()(y)}
    shapes = {f"shape of {name}": tuple(table.shape[1:]) for name, table in tables.items()}
    return Trial(all(shape == (case.s, case.c) for shape in shapes.values()), {**case.shown(), **shapes})


CLAIM = Claim(sizes(2), judge)
