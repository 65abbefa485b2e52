"""Where A is triangular, padding a sequence with zeros and taking the submatrix of A for the longest of the batch adds
nothing to its tokens, whatever the Affs are: padding comes after them.

Place: Sec. 2, Sequence-to-sequence ResMLP
Printed: constraining the matrix A to be triangular; simply padding with zeros and extracting the submatrix A
    corresponding to the longest sequence in a batch
Bound: gamma_{longest+5} times the magnitudes of all products: two Affs, a sum over tokens, and the skip
"""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._sequences import Padded, padded_sequences


def judge(case: Padded, arithmetic: Arithmetic) -> Trial:
    """Hold the padded sequence's tokens against those of the sequence alone."""
    return case.holds_in_batch(case.lower().alone().printed(arithmetic), arithmetic, causal=True)


CLAIM = Claim(padded_sequences(), judge)
