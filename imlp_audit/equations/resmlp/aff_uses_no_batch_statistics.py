"""Aff does not depend on batch statistics: no output has a derivative by another sample of the batch.

Place: Sec. 2, after Eq. 1
Printed: as opposed to BatchNorm and Layer Normalization, the Aff operator does not depend on batch statistics
Bound: none: a derivative is exactly zero or it is not
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.resmlp._layer import WIDTHS, AffCase, affs, each_of
from imlp_audit.equations.strategies import Matrix, matrices


def judge(case: tuple[AffCase, Matrix], arithmetic: Arithmetic) -> Trial:
    """Look for derivatives of one sample's output by another sample."""
    aff, batch = case
    found = depends(aff.module(arithmetic), arithmetic.tensor(batch)).any(dim=3).any(dim=1)
    samples = range(len(batch))
    leaks = [[i + 1, j + 1] for i in samples for j in samples if i != j and found[i, j]]
    shown = {"alpha": aff.alpha, "beta": aff.beta, "batch": batch, "samples that depend on others": leaks}
    return Trial(not leaks, shown)


CLAIM = Claim(each_of(lambda d: st.tuples(affs(d), matrices(3, d)), WIDTHS), judge)
