"""Class-MLP's computational cost is negligible: two of its layers take ResMLP-S12's twelve layers, of width 384 on
14 x 14 patches, less than half of the tenth of a billion multiply-accumulates that the paper's FLOPs are printed to.

Place: Sec. 3.4, Pooling
Printed: Replacing average pooling with Class-MLP brings a significant gain for a negligible computational cost
Bound: none: counts are integers
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._costs import PATCHES, WIDTH, cost
from imlp_audit.models.resmlp import ClassMlp


def judge(layers: int, _: Arithmetic) -> Trial:
    """Hold the multiply-accumulates of class-MLP's layers against half of the last printed digit."""
    count = cost(lambda: ClassMlp(WIDTH, PATCHES, depth=layers)).work
    return Trial(0 < count < 50_000_000, {"layers": layers, "multiply-accumulates": count})


CLAIM = Claim(st.just(2), judge)
