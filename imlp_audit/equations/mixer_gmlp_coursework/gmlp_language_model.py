"""Without cross-attention, a gMLP block cannot predict words from those before them alone, as a language model must.

Read as: there is no W that mixes tokens (two tokens, W_{21} not 0) and makes Y of no token depend on a later one. The
text says that it is unclear how to make such a model.

Place: Sec. 4, last paragraph
Printed: Непонятно, как сделать, например, языковую модель, не используя блоки кросс-внимания. Это является сильным
    ограничением данных моделей.
Nearest: gmlp_language_model_corrected
Bound: none: a derivative is exactly zero or it is not
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._gmlp import Block, blocks
from imlp_audit.equations.mixer_gmlp_coursework._order import linked_tokens
from imlp_audit.equations.strategies import positive
from imlp_audit.models.gmlp import Gate

_ZERO_OR_ONE = st.sampled_from((0.0, 1.0, -1.0))


def judge(case: Block, arithmetic: Arithmetic) -> Trial:
    """Look for a token that depends on a later one."""
    later = [(i, j) for i, j in linked_tokens(case, arithmetic) if j > i]
    return Trial(bool(later), {**case.shown(), "token that depends on a later one, and that": later})


def _mixes_backwards(case: Block) -> bool:
    return any(case.w[i][j] for i in range(len(case.w)) for j in range(i))


CLAIM = Claim(blocks(Gate.PRODUCT, (2,), _ZERO_OR_ONE, positive()).filter(_mixes_backwards), judge)
