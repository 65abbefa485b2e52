"""With the MLP for the linear patch communication, ResMLP-S12 requires compute halfway between ResMLP-S12 and
ResMLP-S24. Read as: the work of its layers is nearer to the middle than to either of them.

Place: Sec. 3.3, Communication across patches
Printed: considering that the MLP variant requires compute halfway between ResMLP-S12 and ResMLP-S24
Bound: none: counts are integers
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._costs import PATCHES, cost_of_layer, linear_layer
from imlp_audit.models.resmlp import CrossPatchMlp


def judge(layers: int, _: Arithmetic) -> Trial:
    """Hold the work of the variant's layers against that of S12's, S24's and their mean."""
    s12 = layers * cost_of_layer(linear_layer).work
    variant = layers * cost_of_layer(lambda: CrossPatchMlp(PATCHES)).work
    middle, s24 = 3 * s12 // 2, 2 * s12
    halfway = abs(variant - middle) < min(abs(variant - s12), abs(variant - s24))
    return Trial(halfway, {"S12": s12, "with MLP": variant, "middle": middle, "S24": s24})


CLAIM = Claim(st.just(12), judge)
