"""A DW block is global, every output depending on every position, where no side of the grid exceeds (n + 1) / 2.

Only there: a grid as large as the kernel is not enough, since an output at its border sees half of the kernel. The
14 x 14 grid of DeiT takes n = 27.

Place: Sec. 4.3, the sentence after Eq. 10
Corrected: every output depends on every input exactly where max(H, W) <= (n + 1) / 2
Bound: none: a derivative that is exactly zero is told from one that is not
"""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.imlp._window import Window


def judge(case: tuple[int, int, int], arithmetic: Arithmetic) -> Trial:
    """Hold whether every output depends on every input against the sides."""
    n, height, width = case
    grid = list(product(range(height), range(width)))
    seen = all(Window(n, 1, (height, width), at).seen(arithmetic) == set(grid) for at in grid)
    shown = {"n": n, "H": height, "W": width, "global": seen}
    return Trial(seen == (max(height, width) <= (n + 1) / 2), shown)


CLAIM = Claim(st.tuples(st.sampled_from((1, 3, 5, 7)), st.integers(1, 4), st.integers(1, 4)), judge)
