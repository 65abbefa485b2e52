"""The split unit works on two parts of Z that share no channel: half the channels gate, the other half are mixed.

Read as: s(Z)_{ic} depends on one entry of Z_1, that of token i and channel c, and on channel c of Z_2, for every token.
Tried on positive numbers, where no derivative vanishes by chance.

Place: Sec. 3.1, sentence before the split's equation
Printed: можно разбить по каналам матрицу Z, которая приходит на вход SGU, на две независимые части (Z_1, Z_2)
Bound: none: a derivative is exactly zero or it is not
"""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.mixer_gmlp_coursework._gmlp import Gating, all_hold
from imlp_audit.equations.strategies import matrices, positive, vectors
from imlp_audit.models.hosts.gmlp import Gate


def judge(case: Gating, arithmetic: Arithmetic) -> Trial:
    """Hold which derivatives of the package's unit are not zero against the two parts."""
    tokens, channels = len(case.z), len(case.z[0])
    found = depends(case.unit(arithmetic, Gate.SPLIT), arithmetic.tensor(case.z)).tolist()

    def said(i: int, c: int, j: int, k: int) -> bool:
        return (i, c) == (j, k) or k == channels // 2 + c

    return all_hold(
        Trial(
            found[i][c][j][k] == said(i, c, j, k),
            {**case.shown(), f"d s_{i + 1},{c + 1} / d Z_{j + 1},{k + 1} is not zero": found[i][c][j][k]},
        )
        for i, c, j, k in product(range(tokens), range(channels // 2), range(tokens), range(channels))
    )


def _cases() -> st.SearchStrategy[Gating]:
    return st.tuples(st.integers(1, 2), st.sampled_from((2, 4))).flatmap(
        lambda size: st.builds(
            Gating,
            matrices(*size, positive()),
            matrices(size[0], size[0], positive()),
            vectors(size[0], positive()),
        )
    )


CLAIM = Claim(_cases(), judge)
