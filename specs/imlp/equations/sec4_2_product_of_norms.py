"""Sec. 4.2, after Theorem 1: the bound without Theorem 1 that the package compares with."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.lipschitz.branches import Branch
from imlp_audit.equations.lipschitz.estimate import product_bound, product_of_norms
from imlp_audit.equations.lipschitz.slopes import GELU
from imlp_audit.equations.strategies import numbers, plain

from ._certificates import make_branch
from ._orthogonal import signs_of


@dataclass(frozen=True)
class Halves:
    """Two branches a_i H and b_i R_i H of n units: R_1 = R_2, or the outputs of one are none of the other's."""

    n: int
    first: tuple[float, float]
    second: tuple[float, float]
    apart: bool

    @property
    def branches(self) -> tuple[Branch, Branch]:
        """Both branches, with 2 n outputs."""
        signs, zeros = signs_of(self.n), np.zeros((self.n, self.n))
        (a, b), (a_, b_) = self.first, self.second
        one = make_branch(a * signs, np.vstack((b * signs, zeros)))
        return one, make_branch(a_ * signs, np.vstack((zeros, b_ * signs) if self.apart else (b_ * signs, zeros)))

    @property
    def norms(self) -> tuple[float, float, float]:
        """The squared products of both branches' norms, and that of the joined one's, over n^2."""
        (a, b), (a_, b_) = self.first, self.second
        outer = max(b * b, b_ * b_) if self.apart else b * b + b_ * b_
        return (a * b) ** 2, (a_ * b_) ** 2, (a * a + a_ * a_) * outer


_FACTORS = st.tuples(numbers(), numbers())


@claim(plain(st.builds(Halves, st.sampled_from((1, 2, 4)), _FACTORS, _FACTORS, st.booleans())))
def theorem1_product_of_norms(case: Halves, _: Arithmetic) -> Trial:
    """The bound without Theorem 1 that the package compares with is the smaller of two: the sum of the products of the
    norms of both branches, and that of the module as one branch; each is rounded upward, by at most 10^-11.

    Place: Sec. 4.2, after Theorem 1
    Corrected: min(sum_{i=1}^{2} 1.12890 ||alpha_i W^0|| ||W^1i beta_i||, 1.12890 ||[alpha_1 W^0; alpha_2 W^0]|| ||[W^11
        beta_1  W^12 beta_2]||)
    Bound: none below: the squares of norms of orthogonal matrices are fractions
    """
    # Compare squares in exact fractions.
    pair = case.branches
    one, other, joined = (Fraction(norm) * case.n**2 * Fraction(GELU.high) ** 2 for norm in case.norms)
    found, least = Fraction(product_bound(pair)), Fraction(10**11 - 1, 10**11)
    each = [Fraction(product_of_norms(branch)) for branch in pair]
    true = all(_close(ours, exact) for ours, exact in zip(each, (one, other), strict=True))
    above = found**2 >= joined or _above_fractions(found, one, other)
    below = (found * least) ** 2 >= joined or _above_fractions(found * least, one, other)
    return Trial(true and above and (not below or found < 1e-300), {**vars(case), "found": float(found)})


def _close(found: Fraction, square: Fraction) -> bool:
    return found**2 >= square and (found * Fraction(10**11 - 1, 10**11)) ** 2 <= max(square, Fraction(1, 10**600))


def _above_fractions(length: Fraction, one: Fraction, other: Fraction) -> bool:
    both = length**2 - one - other
    return both >= 0 and both**2 >= 4 * one * other
