"""An image of 224 x 224 in patches of the typical size, 16 x 16, is N = 16 x 16 patches.

Place: Appendix A, first paragraphs, and Sec. 2, The overall ResMLP architecture
Printed: images in resolution 224 x 224 and N = 16 x 16 patches (N being how many there are: linear N x 4N); the patch
    size is typically equal to 16 x 16
Nearest: grid_of_16_by_16_patches_corrected
Bound: none: counts are integers
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.resmlp._patches import IMAGE, TYPICAL_PATCH, grid


def judge(patch: int, arithmetic: Arithmetic) -> Trial:
    """Hold the patches down and across against the printed ones."""
    found = grid(patch, arithmetic)
    return Trial(
        found == (16, 16), {"image": (IMAGE, IMAGE), "patch": (patch, patch), "N": found, "printed N": (16, 16)}
    )


CLAIM = Claim(st.just(TYPICAL_PATCH), judge)
