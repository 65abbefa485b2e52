"""An image of 224 x 224 in patches of the typical size, 16 x 16, is N = 14 x 14 patches; 16 x 16 patches would have
14 x 14 pixels each.

Place: Appendix A, first paragraphs, and Sec. 2, The overall ResMLP architecture
Corrected: images in resolution 224 x 224 and N = 14 x 14 patches of 16 x 16
Bound: none: counts are integers
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._patches import IMAGE, TYPICAL_PATCH, grid


def judge(patch: int, arithmetic: Arithmetic) -> Trial:
    """Hold the patches down and across against the image's side by the patch's."""
    found, side = grid(patch, arithmetic), {TYPICAL_PATCH: 14, 14: 16}[patch]
    return Trial(found == (side, side), {"image": (IMAGE, IMAGE), "patch": (patch, patch), "N": found})


CLAIM = Claim(st.sampled_from((TYPICAL_PATCH, 14)), judge)
