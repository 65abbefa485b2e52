"""Every gMLP layer takes a matrix of the same shape, S x C: what it gives has the shape of what it takes.

Place: Sec. 3.1, last paragraph but one
Printed: каждый слой gMLP, как и Mixer, рекуррентные нейронные сети и Трансформеры, принимает на вход матрицу одного и
    того же размера S x C
Bound: none: numbers of rows and columns
"""

from __future__ import annotations

import torch
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._shapes import Sizes, sizes
from imlp_audit.models.hosts.gmlp import Gate


def judge(drawn: tuple[Gate, Sizes], arithmetic: Arithmetic) -> Trial:
    """Give the package's block an S x C matrix."""
    gate, case = drawn
    shape = tuple(case.block(gate)(torch.empty(1, case.s, case.c, device="meta")).shape[1:])
    return Trial(shape == (case.s, case.c), {"unit": f"s(Z) = {gate.formula}", **case.shown(), "shape of Y": shape})


CLAIM = Claim(st.tuples(st.sampled_from(Gate), sizes()), judge)
