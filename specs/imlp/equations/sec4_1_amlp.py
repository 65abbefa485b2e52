"""Sec. 4.1, Eq. 5 and the lines of Eq. 6: the AMLP, step by step."""

from __future__ import annotations

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.rounded import Rounded, total

from ._agelu import start
from ._amlp import Amlp, Symbols, amlps, smallest_amlps
from ._imlp import block


@claim(amlps(), proof=Proof("all numbers and any phi", Amlp.sizes))
def eq5_amlp(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """The package's IMLP block, with its channel part alone, is Eq. 5: two AGeLUs of X W^d, concatenated, times W^e.

    Place: Sec. 4.1, Eq. 5
    Printed: Y' = AMLP(X) = concat(AGeLU(X W^d), AGeLU'(X W^d)) W^e
    Bound: gamma_{C+1} times the magnitudes under GeLU, times its largest slope, then gamma_{C'+3} times those of the
        sum
    """
    # Hold the block, on one patch, against the printed matrix form.
    x, wd, we = arithmetic.vector(case.x), arithmetic.matrix(case.wd), arithmetic.matrix(case.we)
    t0 = [total(wd[i][j] * x[i] for i in range(len(x))) for j in range(len(wd[0]))]
    t2 = case.first.written(t0, gelu) + case.second.written(t0, gelu)
    printed = [total(we[j][c] * t2[j] for j in range(len(we))) for c in range(len(x))]
    return equal(block(case, arithmetic)(arithmetic.tensor([[case.x]])), [[printed]], **case.shown())


@claim(amlps(), proof=Proof("all numbers", Amlp.sizes))
def eq6_t0(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Each element of t_0 = x W^d is the sum of the inputs weighted by a column of W^d.

    Place: Sec. 4.1, Eq. 6, first line
    Printed: t_0 = x W^d = (sum_{i=1}^{C} w^d_{ic'} x_i)_{c'=1}^{C'/2}
    Bound: gamma_C times the sum of the terms' magnitudes
    """
    # Hold the matrix product against the printed sums.
    s = case.symbols(arithmetic)
    printed = [total(s.wd[i][c] * s.x[i] for i in s.width) for c in s.half]
    return equal(case.t0(arithmetic), printed, **case.shown())


@claim(amlps(), proof=Proof("all numbers and any phi", Amlp.sizes))
def eq6_t1(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """t_1 is AGeLU of t_0, each channel with coefficients of its own.

    Place: Sec. 4.1, Eq. 6, second line
    Printed: t_1 = AGeLU(t_0) = (beta_{c'} GeLU(alpha_{c'} sum_{i=1}^{C} w^d_{ic'} x_i + gamma_{c'}) + theta_{c'})
        _{c'=1}^{C'/2}
    Bound: gamma_{C+1} times the magnitudes under GeLU, times its largest slope, then gamma_2 times those of the result
    """
    # Hold the module's output against the printed elements.
    s = case.symbols(arithmetic)
    return equal(case.t1(arithmetic), [_t1(s, c) for c in s.half], **case.shown())


def _t1(s: Symbols, c: int) -> Rounded:
    sums = total(s.wd[i][c] * s.x[i] for i in s.width)
    return s.beta[c] * gelu(s.alpha[c] * sums + s.gamma[c]) + s.theta[c]


@claim(smallest_amlps(st.just(start(1))))
def eq6_t1_prime(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """t'_1 is AGeLU' of t_0, where the stored text weights the inputs by w'_{ic'}, not by w^d_{ic'}.

    Read as: w' is what is defined after the equation, w'_{jc} = w_{jc} beta_j with w = w^e. (The prime may be a
    superscript d that the stored text lost; with w^d the line holds.) AGeLU and AGeLU' are GeLU here: nothing but the
    weight matters.

    Place: Sec. 4.1, Eq. 6, third line
    Printed: t'_1 = AGeLU'(t_0) = (beta'_{c'} GeLU(alpha'_{c'} sum_{i=1}^{C} w'_{ic'} x_i + gamma'_{c'}) + theta'_{c'})
        _{c'=1}^{C'/2}
    Nearest: eq6_t1_prime_corrected
    Bound: gamma_3 times the magnitudes under GeLU, times its largest slope, then gamma_2 times those of the result
    """
    # Hold the module's output against the printed elements.
    s = case.symbols(arithmetic)
    shown = {"x": case.x, "W^d": case.wd, "W^e": case.we}
    return equal(case.t1_prime(arithmetic), [_printed_t1_prime(s, c) for c in s.half], **shown)


def _printed_t1_prime(s: Symbols, c: int) -> Rounded:
    primed = len(s.half) + c  # alpha'_{c'} is alpha_{C'/2 + c'}, and so on
    sums = total(s.we[i][c] * s.beta[i] * s.x[i] for i in s.width)
    return s.beta[primed] * gelu(s.alpha[primed] * sums + s.gamma[primed]) + s.theta[primed]


@claim(amlps(), proof=Proof("all numbers and any phi", Amlp.sizes))
def eq6_t1_prime_corrected(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """t'_1 is AGeLU' of the same t_0, each channel with coefficients of its own.

    Place: Sec. 4.1, Eq. 6, third line
    Corrected: t'_1 = AGeLU'(t_0) = (beta'_{c'} GeLU(alpha'_{c'} sum_{i=1}^{C} w^d_{ic'} x_i + gamma'_{c'}) +
        theta'_{c'}) _{c'=1}^{C'/2}
    Bound: gamma_{C+1} times the magnitudes under GeLU, times its largest slope, then gamma_2 times those of the result
    """
    # Hold the module's output against the corrected elements.
    s = case.symbols(arithmetic)
    return equal(case.t1_prime(arithmetic), [_t1_prime(s, c) for c in s.half], **case.shown())


def _t1_prime(s: Symbols, c: int) -> Rounded:
    primed = len(s.half) + c  # alpha'_{c'} is alpha_{C'/2 + c'}, and so on
    sums = total(s.wd[i][c] * s.x[i] for i in s.width)
    return s.beta[primed] * gelu(s.alpha[primed] * sums + s.gamma[primed]) + s.theta[primed]


@claim(amlps(), proof=Proof("all numbers and any phi", Amlp.sizes))
def eq6_t2_corrected(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """t_2, the concatenation, has C' elements, the second half of which reads the columns of W^d again, by f.

    Place: Sec. 4.1, Eq. 6, fourth line
    Corrected: t_2 = concat(t_1, t'_1) = (beta_{c'} GeLU(alpha_{c'} sum_{i=1}^{C} w^d_{i,f(c')} x_i + gamma_{c'}) +
        theta_{c'})_{c'=1}^{C'}, f(x) = x - C'/2 1_{x > C'/2}, and alpha_{C'/2+1}, ..., alpha_{C'} are alpha'_1, ...,
        alpha'_{C'/2}, as for beta, gamma and theta
    Bound: gamma_{C+1} times the magnitudes under GeLU, times its largest slope, then gamma_2 times those of the result
    """
    # Hold the concatenation against the corrected elements.
    s = case.symbols(arithmetic)
    return equal(case.t2(arithmetic), [_t2(s, c) for c in s.hidden], **case.shown())


def _t2(s: Symbols, c: int) -> Rounded:
    """Return beta_{c'} GeLU(alpha_{c'} sum_{i=1}^{C} w^d_{i,f(c')} x_i + gamma_{c'}) + theta_{c'}."""
    return s.beta[c] * gelu(s.alpha[c] * s.inner(c) + s.gamma[c]) + s.theta[c]


@claim(amlps())
def eq6_t2(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """t_2, the concatenation, has the elements c' = 1 to C'/2.

    Place: Sec. 4.1, Eq. 6, fourth line
    Printed: t_2 = concat(t_1, t'_1) = (beta_{c'} GeLU(alpha_{c'} sum_{i=1}^{C} w_{i,f(c')} x_i + gamma_{c'}) +
        theta_{c'}) _{c'=1}^{C'/2}, w_{i,f(c')} read as w^d_{i,f(c')}
    Nearest: eq6_t2_corrected
    Bound: none: the numbers of elements are compared
    """
    # Hold the concatenation against the printed elements.
    s = case.symbols(arithmetic)
    return equal(case.t2(arithmetic), [_t2(s, c) for c in s.half], **{"C": len(s.width), "C'": len(s.hidden)})


@claim(amlps(), proof=Proof("all numbers and any phi", Amlp.sizes))
def eq6_output_corrected(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Each output of the AMLP is the sum of t_2's elements weighted by a column of W^e.

    Place: Sec. 4.1, Eq. 6, fifth line
    Corrected: y' = t_2 W^e = (sum_{j=1}^{C'} w^e_{jc} [beta_j GeLU(alpha_j sum_{i=1}^{C} w^d_{i,f(j)} x_i + gamma_j) +
        theta_j])_{c=1}^{C}
    Bound: gamma_{C+1} times the magnitudes under GeLU, times its largest slope, then gamma_{C'+3} times those of the
        sum
    """
    # Hold t_2 W^e against the corrected sums.
    s = case.symbols(arithmetic)
    corrected = [total(s.we[j][c] * _t2(s, j) for j in s.hidden) for c in s.width]
    return equal(case.output(arithmetic), corrected, **case.shown())


@claim(smallest_amlps())
def eq6_output(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Each output of the AMLP is the sum of t_2's elements weighted by w'_{jc}, which has beta_j in it already.

    Read as: w'_{jc} = w_{jc} beta_j, as defined after the equation, with w = w^e. (The prime may be a superscript e
    that the stored text lost; with w^e the line holds.)

    Place: Sec. 4.1, Eq. 6, fifth line
    Printed: y' = t_2 W^e = (sum_{j=1}^{C'} w'_{jc} [beta_j GeLU(alpha_j sum_{i=1}^{C} w_{i,f(j)} x_i + gamma_j) +
        theta_j]) _{c=1}^{C}, w'_{jc} = w_{jc} beta_j
    Nearest: eq6_output_corrected
    Bound: gamma_2 times the magnitudes under GeLU, times its largest slope, then gamma_6 times those of the sum
    """
    # Hold t_2 W^e against the printed sums.
    s = case.symbols(arithmetic)
    printed = [total(s.we[j][c] * s.beta[j] * _t2(s, j) for j in s.hidden) for c in s.width]
    return equal(case.output(arithmetic), printed, **case.shown())
