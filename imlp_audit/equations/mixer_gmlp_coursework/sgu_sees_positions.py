"""The unit takes the positions of tokens into account, without a positional encoding.

Read as: where W treats two tokens differently, exchanging them in Z does not just exchange them in f(Z); tried on Z of
one channel, with one token 1 and the others 0.

Place: Sec. 3.1, paragraph on positional encoding
Printed: gMLP не использует позиционное кодирование, так как данная техника является излишней. Блок SGU, используя
    проекции по патчам, способен учитывать [...] местоположения токенов.
Bound: none: every number is a multiple of 1/4, and no sum rounds
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._mixer import filled
from imlp_audit.equations.strategies import NUMBERS, Matrix
from imlp_audit.models.gmlp import TokenProjection


def judge(w: Matrix, arithmetic: Arithmetic) -> Trial:
    """Exchange the first two tokens of every Z that has a single 1, before and after f."""
    tokens = len(w)
    f = filled(lambda: TokenProjection(tokens), {"weight": w, "bias": (1.0,) * tokens}, arithmetic)
    single = arithmetic.tensor([[[float(i == j)] for i in range(tokens)] for j in range(tokens)])
    exchanged = [1, 0, *range(2, tokens)]
    sees = bool((f(single[:, exchanged]) != f(single)[:, exchanged]).any())
    return Trial(sees, {"W": w, "b": (1.0,) * tokens, "f(Z) tells the first two tokens apart": sees})


def _all_different(tokens: int) -> st.SearchStrategy[Matrix]:
    """Matrices whose entries all differ."""
    entries = st.permutations(NUMBERS).map(lambda numbers: numbers[: tokens * tokens])
    return entries.map(lambda row: tuple(tuple(row[i * tokens : (i + 1) * tokens]) for i in range(tokens)))


CLAIM = Claim(st.integers(2, 3).flatmap(_all_different), judge)
