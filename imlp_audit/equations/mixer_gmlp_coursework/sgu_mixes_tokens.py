"""The unit takes the relations between tokens into account.

Read as: s(Z) of token i depends on another token j exactly where W_{ij} is not 0, for a Z without zeros.

Place: Sec. 3.1, paragraph on positional encoding
Printed: Блок SGU, используя проекции по патчам, способен учитывать взаимосвязи [...] токенов.
Bound: none: a derivative is exactly zero or it is not
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.mixer_gmlp_coursework._gmlp import Gating, all_hold, gatings
from imlp_audit.equations.strategies import nonzero
from imlp_audit.models.hosts.gmlp import Gate


def judge(drawn: tuple[Gate, Gating], arithmetic: Arithmetic) -> Trial:
    """Hold which tokens the package's unit links against W."""
    gate, case = drawn
    links = depends(case.unit(arithmetic, gate), arithmetic.tensor(case.z)).any(3).any(1).tolist()
    tokens = range(len(case.z))
    return all_hold(
        Trial(
            links[i][j] == (case.w[i][j] != 0),
            {"unit": f"s(Z) = {gate.formula}", **case.shown(), f"token {i + 1} depends on token {j + 1}": links[i][j]},
        )
        for i in tokens
        for j in tokens
        if i != j
    )


CLAIM = Claim(st.tuples(st.sampled_from(Gate), gatings(channels=(2,), elements=nonzero())), judge)
