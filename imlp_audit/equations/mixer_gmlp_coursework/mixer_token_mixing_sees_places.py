"""Token mixing takes account of where a patch is.

Read as: two tokens that change places do not merely change places in the output. Weights that read and write the first
token alone show it: W_1 = (w, 0), W_2 = (v, 0)^T, w and v not 0, for a first token whose channels differ.

Place: Sec. 2.1, last paragraph
Printed: MLP-Mixer не использует позиционное кодирование, так как слой token-mixing благодаря своей реализации позволяет
    улавливать связи между различными патчами и учитывает их местоположение.
Bound: LayerNorm's (functions_norm.py), then those of two projections and GELU; the outputs differ by more
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import Mixing, run, token_mixed
from imlp_audit.equations.strategies import Vector, nonzero, vectors


def judge(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Hold token mixing of the exchanged tokens against the exchanged tokens of token mixing."""
    module = case.token_mixing(arithmetic)
    u = token_mixed(arithmetic.matrix(case.table), case, arithmetic)
    of_x, of_exchanged = run(module, case.table, arithmetic), run(module, case.table[::-1], arithmetic)
    holds = equal(of_x, u).holds and not equal(of_exchanged, u[::-1]).holds
    shown = {"X": case.table, "W_1": case.first, "W_2": case.second}
    return Trial(holds, {**shown, "U of X": of_x.tolist(), "U of exchanged tokens": of_exchanged.tolist()})


def _case(first: Vector, second: Vector, w: float, v: float) -> Mixing:
    return Mixing((first, second), ((w, 0.0),), ((v,), (0.0,)))


def _cases(channels: int) -> SearchStrategy[Mixing]:
    token = vectors(channels)
    return st.builds(_case, token.filter(lambda row: len(set(row)) > 1), token, nonzero(), nonzero())


CLAIM = Claim(st.integers(2, 3).flatmap(_cases), judge)
