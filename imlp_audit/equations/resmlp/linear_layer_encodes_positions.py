"""The linear layer encodes which patch is where: exchanging two patches exchanges two outputs only if A is the same
with their rows exchanged and their columns exchanged.

Place: Sec. 2, Differences with the Vision Transformer architecture; Appendix A, Position encoding
Printed: no positional embedding: the linear layer implicitly encodes information about patch positions
Bound: none: each output is one weight
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._layer import Values, loaded
from imlp_audit.equations.strategies import Matrix, matrices
from imlp_audit.models.resmlp import CrossPatch


@dataclass(frozen=True)
class Exchange:
    """A on 2 x 2 patches, and which two patches are exchanged."""

    a: Matrix
    pair: tuple[int, int]


def judge(case: Exchange, arithmetic: Arithmetic) -> Trial:
    """Hold whether the layer commutes with the exchange, on a channel for each patch, against A's symmetry."""
    order = list(range(4))
    order[case.pair[0]], order[case.pair[1]] = case.pair[1], case.pair[0]
    weights: dict[str, Values] = {"a.weight": case.a}
    module = loaded(CrossPatch(4, bias=False), weights, arithmetic)
    patches = arithmetic.tensor([torch.eye(4).tolist()])
    commutes = torch.equal(module(patches[:, order]), module(patches)[:, order])
    symmetric = all(case.a[order[n]][order[m]] == case.a[n][m] for n in range(4) for m in range(4))
    return Trial(commutes == symmetric, {"A": case.a, "exchanged": case.pair, "outputs are exchanged": commutes})


def _often_symmetric() -> st.SearchStrategy[Matrix]:
    few = st.sampled_from((1.0, 2.0))
    alike = st.tuples(few, few).map(
        lambda ends: tuple(tuple(ends[0] if n == m else ends[1] for m in range(4)) for n in range(4))
    )
    return st.one_of(alike, matrices(4, 4, few))


CLAIM = Claim(st.builds(Exchange, _often_symmetric(), st.sampled_from(((0, 1), (1, 2), (0, 3)))), judge)
