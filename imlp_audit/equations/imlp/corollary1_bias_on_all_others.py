"""The bias of x_c in the MLP depends on all other input elements, and not on x_c.

Tested where no weight is zero.

Place: Sec. 3, Corollary 1 (3)
Printed: the bias is dependent to all other input elements in x
Bound: none: a derivative that is exactly zero is told from one that is not
"""

from __future__ import annotations

from hypothesis import strategies as st
from torch import Tensor

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.imlp._biases import FirstLayer
from imlp_audit.equations.strategies import matrices, nonzero, vectors


def judge(case: FirstLayer, arithmetic: Arithmetic) -> Trial:
    """Look for a bias that does not depend on another input element."""
    for c in case.inputs:
        others = [i != c for i in case.inputs]
        for j, found in enumerate(bias_depends(case, c, arithmetic).tolist()):
            if found != others:
                return Trial(
                    False, {**case.shown(), "c": c + 1, "j": j + 1, "n_{cj} depends on x_i, i = 1 to C": found}
                )
    return Trial(True)


def bias_depends(case: FirstLayer, c: int, arithmetic: Arithmetic) -> Tensor:
    """Return on which x_i the bias of x_c depends, for each hidden unit j."""
    wa = arithmetic.tensor(case.wa)
    return depends(lambda x: x @ wa - x[c] * wa[c], arithmetic.tensor(case.x))


def _layers(inputs: int, hidden: int) -> st.SearchStrategy[FirstLayer]:
    return st.builds(FirstLayer, vectors(inputs), matrices(inputs, hidden, nonzero()))


CLAIM = Claim(st.tuples(st.integers(1, 2), st.integers(1, 2)).flatmap(lambda size: _layers(*size)), judge)
