"""Sec. 4.1, the last line of Eq. 6: the scales m' and the biases n' of the AMLP."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.dependence import depends, jacobian
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import matrices, numbers, plain, vectors

from ._agelu import coefficients, start
from ._amlp import Amlp, Symbols, amlps, smallest_amlps


@claim(smallest_amlps())
def eq6_inner(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """What GeLU is applied to in the AMLP is m'_{cj} x_c + n'_{cj}, with m' and n' as defined: without alpha_j.

    Place: Sec. 4.1, after Eq. 6
    Printed: alpha_j sum_{i=1}^{C} w_{i,f(j)} x_i + gamma_j = m'_{cj} x_c + n'_{cj}, m'_{cj} = w^d_{c,f(j)}, n'_{cj} =
        sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j
    Nearest: eq6_inner_corrected
    Bound: gamma_3 times the sum of the terms' magnitudes
    """
    # Hold, for each input element x_c, what GeLU is applied to against the printed scale and bias.
    s = case.symbols(arithmetic)
    printed = [[_printed_m(s, c, j) * s.x[c] + _printed_n(s, c, j) for j in s.hidden] for c in s.width]
    shown = {"x": case.x, "W^d": case.wd, "alpha": case.first.alpha, "gamma": case.first.gamma}
    return equal(case.under_phi(arithmetic).expand(len(s.width), -1), printed, **shown)


def _printed_m(s: Symbols, c: int, j: int) -> Rounded:
    """m'_{cj} as printed: w^d_{c,f(j)}."""
    return s.wd[c][s.f(j)]


def _printed_n(s: Symbols, c: int, j: int) -> Rounded:
    """n'_{cj} as printed: sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j."""
    return s.others(c, j) + s.gamma[j]


@claim(amlps(), proof=Proof("all numbers", Amlp.sizes))
def eq6_inner_corrected(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """What GeLU is applied to in the AMLP is a scale times x_c plus a bias, and alpha_j is a factor of both.

    Place: Sec. 4.1, after Eq. 6
    Corrected: alpha_j sum_{i=1}^{C} w^d_{i,f(j)} x_i + gamma_j = m'_{cj} x_c + n'_{cj}, m'_{cj} = alpha_j w^d_{c,f(j)},
        n'_{cj} = alpha_j sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j
    Bound: gamma_{C+2} times the sum of the terms' magnitudes
    """
    # Hold, for each input element x_c, what GeLU is applied to against the corrected scale and bias.
    s = case.symbols(arithmetic)
    corrected = [[_m(s, c, j) * s.x[c] + _n(s, c, j) for j in s.hidden] for c in s.width]
    return equal(case.under_phi(arithmetic).expand(len(s.width), -1), corrected, **case.shown())


def _m(s: Symbols, c: int, j: int) -> Rounded:
    """m'_{cj} corrected: alpha_j w^d_{c,f(j)}."""
    return s.alpha[j] * s.wd[c][s.f(j)]


def _n(s: Symbols, c: int, j: int) -> Rounded:
    """n'_{cj} corrected: alpha_j sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j."""
    return s.alpha[j] * s.others(c, j) + s.gamma[j]


@claim(smallest_amlps(coefficients(1, st.just(1.0))))
def eq6_scale_and_bias(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Each output of the AMLP is a sum of GeLUs weighted by w'_{jc} plus the theta_j, which no weight multiplies.

    theta_j carries the index of the sum, so it stands inside it. All alpha_j are 1 here, so m' and n' are right as
    printed.

    Place: Sec. 4.1, Eq. 6, last line
    Printed: y' = (sum_{j=1}^{C'} w'_{jc} GeLU(m'_{cj} x_c + n'_{cj}) + theta_j)_{c=1}^{C}, w'_{jc} = w_{jc} beta_j,
        m'_{cj} = w^d_{c,f(j)}, n'_{cj} = sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j
    Nearest: eq6_scale_and_bias_corrected
    Bound: gamma_2 times the magnitudes under GeLU, times its largest slope, then gamma_5 times those of the sum
    """
    # Hold t_2 W^e against the printed sums.
    s = case.symbols(arithmetic)
    printed = [total(_printed_term(s, c, j) for j in s.hidden) for c in s.width]
    return equal(case.output(arithmetic), printed, **case.shown())


def _printed_term(s: Symbols, c: int, j: int) -> Rounded:
    return s.we[j][c] * s.beta[j] * gelu(_printed_m(s, c, j) * s.x[c] + _printed_n(s, c, j)) + s.theta[j]


@claim(amlps(), proof=Proof("all numbers and any phi", Amlp.sizes))
def eq6_scale_and_bias_corrected(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Each output of the AMLP is a sum of GeLUs, each of a scale times x_c plus a bias, and of the weighted theta_j.

    Place: Sec. 4.1, Eq. 6, last line
    Corrected: y' = (sum_{j=1}^{C'} (w'_{jc} GeLU(m'_{cj} x_c + n'_{cj}) + w^e_{jc} theta_j))_{c=1}^{C}, w'_{jc} =
        w^e_{jc} beta_j, m'_{cj} = alpha_j w^d_{c,f(j)}, n'_{cj} = alpha_j sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i +
        gamma_j
    Bound: gamma_{C+2} times the magnitudes under GeLU, times its largest slope, then gamma_{C'+4} times those of the
        sum
    """
    # Hold t_2 W^e against the corrected sums.
    s = case.symbols(arithmetic)
    corrected = [total(_term(s, c, j) for j in s.hidden) for c in s.width]
    return equal(case.output(arithmetic), corrected, **case.shown())


def _term(s: Symbols, c: int, j: int) -> Rounded:
    return s.we[j][c] * s.beta[j] * gelu(_m(s, c, j) * s.x[c] + _n(s, c, j)) + s.we[j][c] * s.theta[j]


@claim(amlps())
def eq6_scale_is_a_weight(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """The scale of x_c under GeLU in the AMLP is learnable, and depends on no input: it is alpha_j w^d_{c,f(j)}.

    Place: Sec. 4.1, last sentence
    Printed: Each scale is a learnable weight while each bias is dependent on other input elements
    Bound: gamma_1 of the product
    """
    # Hold the derivative by each input element, at two inputs, against the product.
    s = case.symbols(arithmetic)
    products = [[_m(s, c, j) for c in s.width] for j in s.hidden]
    elsewhere = replace(case, x=tuple(number + 1 for number in case.x))
    here = equal(_scales(case, arithmetic), products, **case.shown())
    return here if not here.holds else equal(_scales(elsewhere, arithmetic), products, **elsewhere.shown())


def _scales(case: Amlp, arithmetic: Arithmetic) -> Tensor:
    """Return, for each hidden unit j, the derivative by each x_c of what GeLU is applied to."""
    weights = arithmetic.tensor(case.wd)
    return jacobian(lambda x: case.under_phi_of(x @ weights, arithmetic), arithmetic.tensor(case.x))


def _amlps_of(sizes: tuple[int, int], weights: st.Strategy[float], alphas: st.Strategy[float]) -> st.Strategy[Amlp]:
    (width, half), ones = sizes, st.just(1.0)
    agelus = coefficients(half, alphas)
    matrix = matrices(2 * half, width, ones)
    return st.builds(Amlp, vectors(width, ones), matrices(width, half, weights), agelus, agelus, matrix)


_ONE_ZERO = st.sampled_from((((1.0,), (0.0,)), ((1.0,), (2.0,))))


@claim(_ONE_ZERO.map(lambda wd: Amlp((1.0, 1.0), wd, start(1), start(1), ((1.0, 1.0),) * 2)))
def eq6_bias_on_others(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """The bias of x_c under GeLU in the AMLP depends on the other input elements, whatever the weights.

    Read as: on every other one, and not on x_c; n'_{cj} is what is left under GeLU without m'_{cj} x_c. Tested with and
    without a weight of zero.

    Place: Sec. 4.1, last sentence
    Printed: each bias is dependent on other input elements
    Nearest: eq6_bias_on_others_corrected
    Bound: none: where a bias does not depend on an input, its computed derivative is exactly 0, without rounding
    """
    # Hold what the biases of each x_c depend on against all inputs but x_c.
    for c in range(len(case.x)):
        found = _bias_depends(case, c, arithmetic)
        if found != [[i != c for i in range(len(case.x))]] * len(case.we):
            shown = {"x": case.x, "W^d": case.wd, "alpha": case.first.alpha, "alpha'": case.second.alpha, "c": c + 1}
            return Trial(False, {**shown, "n'_{cj} depends on x": found})
    return Trial(True)


@claim(
    plain(
        st.tuples(st.integers(1, 3), st.integers(1, 2)).flatmap(lambda sizes: _amlps_of(sizes, numbers(), numbers()))
    ),
)
def eq6_bias_on_others_corrected(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """The bias of x_c under GeLU in the AMLP depends on just those other input elements whose weight is not zero, and
    on none where alpha_j is.

    Place: Sec. 4.1, last sentence
    Corrected: n'_{cj} depends on x_i if and only if i != c and alpha_j w^d_{i,f(j)} != 0
    Bound: none: where a bias does not depend on an input, its computed derivative is exactly 0, without rounding
    """
    # Hold what the biases depend on against the products of alpha_j and the weights.
    s = case.symbols(arithmetic)
    for c in s.width:
        found = _bias_depends(case, c, arithmetic)
        weighted = [[i != c and _m(s, i, j).value != 0 for i in s.width] for j in s.hidden]
        if found != weighted:
            return Trial(False, {**case.shown(), "c": c + 1, "n'_{cj} depends on x": found})
    return Trial(True)


def _bias_depends(case: Amlp, c: int, arithmetic: Arithmetic) -> list[list[bool]]:
    """Return on which x_i the bias of x_c depends, for each hidden unit j."""
    weights = arithmetic.tensor(case.wd)
    at_zero = case.under_phi_of(torch.zeros_like(weights[c]), arithmetic)
    own = case.under_phi_of(weights[c], arithmetic) - at_zero  # m'_{cj}
    found: list[list[bool]] = depends(
        lambda x: case.under_phi_of(x @ weights, arithmetic) - own * x[c], arithmetic.tensor(case.x)
    ).tolist()
    return found
