"""Sec. 3.4, patch size."""

from __future__ import annotations

from dataclasses import dataclass

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.models.resmlp import AlgorithmLayer

from ._costs import cost


@dataclass(frozen=True)
class Sizes:
    """A width, and the sides of patches that divide an image's."""

    width: int
    patch: int
    smaller: int


@claim(st.builds(Sizes, st.sampled_from((384, 768)), st.sampled_from((32, 16)), st.sampled_from((14, 8))))
def smaller_patches_cost_more(case: Sizes, _: Arithmetic) -> Trial:
    """Smaller patches increase the number of FLOPs: a layer takes more multiply-accumulates where the grid is finer.

    Place: Sec. 3.4, Patch size
    Printed: Smaller patches significantly increase the performance, but also increase the number of flops
    Bound: none: counts are integers
    """
    # Hold the multiply-accumulates for both patch sizes against each other.
    larger, smaller = _work(case.width, case.patch), _work(case.width, case.smaller)
    shown = {"d": case.width, "patch": case.patch, "its work": larger, "smaller patch": case.smaller}
    return Trial(larger < smaller, {**shown, "work of that": smaller})


def _work(width: int, patch: int) -> int:
    patches = (224 // patch) ** 2
    return cost(lambda: AlgorithmLayer(width, patches), patches, width).work
