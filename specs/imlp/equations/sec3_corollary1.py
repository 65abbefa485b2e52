"""Sec. 3, Corollary 1: the hidden units as functions of one input element."""

from __future__ import annotations

from itertools import combinations, permutations

import torch
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim, equal
from imlp_audit.equations.dependence import Operation, depends, jacobian
from imlp_audit.equations.strategies import Matrix, matrices, nonzero, plain, vectors

from ._biases import FirstLayer
from ._mlp import Mlp, mlps, under_phi
from ._units import apart, different, independent, nonlinear


def _permuted_layers() -> st.Strategy[FirstLayer]:
    """Two hidden units of the same weights in different orders."""
    column = st.permutations((1.0, 2.0, 3.0))
    columns = st.tuples(column, column).filter(lambda pair: pair[0] != pair[1])
    return columns.map(lambda pair: FirstLayer((1.0, 1.0, 1.0), tuple(zip(*pair, strict=True))))


@claim(_permuted_layers())
def corollary1_different_functions(case: FirstLayer, arithmetic: Arithmetic) -> Trial:
    """Each output of the MLP is the linear combination of C' different nonlinear functions of x_c, whatever the
    weights.

    Tested where a wrong answer is no fault of the weights: the units' weights differ, none is zero, nor is an input.

    Place: Sec. 3, Corollary 1 (1)
    Printed: Each element y_c in y is the linear combination of C' different nonlinear functions to the input element
        x_c
    Nearest: corollary1_different_functions_corrected
    Bound: two functions are different where their values differ by more than the bounds of both; those of GeLU and of
        its argument, exact here
    """
    # Look for an input element of which two hidden units are the same function, or one is linear.
    for c in case.inputs:
        units = case.units(c)
        if not all(map(nonlinear, units)) or not all(different(*pair) for pair in combinations(units, 2)):
            return Trial(False, {**case.shown(), "c": c + 1, "functions": [str(unit) for unit in units]})
    return Trial(True)


def _nonzero_layers(inputs: int, hidden: int) -> st.Strategy[FirstLayer]:
    return st.builds(FirstLayer, vectors(inputs), matrices(inputs, hidden, nonzero()))


def _all_differ(case: FirstLayer) -> bool:
    return all(len(set(case.units(c))) == len(case.hidden) for c in case.inputs)


@claim(
    plain(
        st.tuples(st.integers(1, 3), st.integers(1, 4)).flatmap(lambda size: _nonzero_layers(*size)).filter(_all_differ)
    )
)
def corollary1_different_functions_corrected(case: FirstLayer, arithmetic: Arithmetic) -> Trial:
    """The C' functions of x_c are different and nonlinear where no scale is zero and no two units share scale and bias.

    Place: Sec. 3, Corollary 1 (1)
    Corrected: phi(m_{cj} x_c + n_{cj}), j = 1, ..., C', phi = GeLU, are C' different nonlinear functions of x_c if
        m_{cj} != 0 and (m_{cj}, n_{cj}) != (m_{ck}, n_{ck}) for all j != k
    Bound: two functions are different where their values differ by more than the bounds of both; those of GeLU and of
        its argument, exact here
    """
    return corollary1_different_functions.judge(case, arithmetic)


_TWO = st.permutations((1.0, 2.0))

_LAYERS = st.tuples(_TWO, _TWO).map(lambda both: FirstLayer(tuple(both[0]), tuple((weight,) for weight in both[1])))


@claim(_LAYERS)
def corollary1_distinct(case: FirstLayer, arithmetic: Arithmetic) -> Trial:
    """Distinct scales and biases are applied to different input elements.

    Read as: m_{cj} != m_{c'j} and n_{cj} != n_{c'j} for c != c'. Tested where the weights of a hidden unit are distinct
    and not zero, and so are the inputs.

    Place: Sec. 3, Corollary 1 (2)
    Printed: Distinct scales and biases are applied to different input elements x_c before passing through the nonlinear
        function phi
    Nearest: corollary1_distinct_corrected
    Bound: none: the numbers are exact
    """
    # Look for two input elements of the same scale or the same bias.
    for j in case.hidden:
        scales, biases = [case.m(c, j) for c in case.inputs], [case.n(c, j) for c in case.inputs]
        if any(one == other for numbers in (scales, biases) for one, other in combinations(numbers, 2)):
            return Trial(False, {**case.shown(), "j": j + 1, "m_{cj}, c = 1 to C": scales, "n_{cj}": biases})
    return Trial(True)


def _layers(inputs: int, hidden: int) -> st.Strategy[FirstLayer]:
    return st.builds(FirstLayer, vectors(inputs), matrices(inputs, hidden))


@claim(plain(st.tuples(st.integers(2, 3), st.integers(1, 3)).flatmap(lambda size: _layers(*size))))
def corollary1_distinct_corrected(case: FirstLayer, arithmetic: Arithmetic) -> Trial:
    """Different input elements have scales that are different weights, and biases that differ where their terms do.

    Place: Sec. 3, Corollary 1 (2)
    Corrected: m_{cj} = w^a_{cj}; n_{cj} - n_{c'j} = w^a_{c'j} x_{c'} - w^a_{cj} x_c, so that n_{cj} != n_{c'j} if and
        only if w^a_{cj} x_c != w^a_{c'j} x_{c'}
    Bound: none: the numbers are exact
    """
    # Hold the scales against the weights, and the differences of biases against those of terms.
    wa, x, before = arithmetic.tensor(case.wa), arithmetic.tensor(case.x), under_phi(case.wa, arithmetic)
    scales = equal(jacobian(before, x).T, arithmetic.matrix(case.wa), **case.shown())
    if not scales.holds:
        return scales
    biases = before(x) - x[:, None] * wa
    pairs = list(permutations(case.inputs, 2))
    differences = [(biases[c] - biases[d]).tolist() for c, d in pairs]
    terms = [[case.wa[d][j] * case.x[d] - case.wa[c][j] * case.x[c] for j in case.hidden] for c, d in pairs]
    return Trial(differences == terms, {**case.shown(), "differences of biases": differences, "of terms": terms})


@claim(mlps())
def corollary1_scale_independent(case: Mlp, arithmetic: Arithmetic) -> Trial:
    """The scale of x_c in the MLP is a learnable weight and does not depend on x_c, nor on any input.

    m_{cj} is defined as a weight (Eq. 2), so what is tested is that the package's MLP has such a scale: what it applies
    phi to changes with x_c at the same rate, the weight w^a_{cj}, wherever the input is.

    Place: Sec. 3, Corollary 1 (3)
    Printed: The scale is a learnable weight independent to the input element x_c
    Bound: none: the derivative of a linear function is the weight itself
    """
    # Hold the module's derivatives at two inputs against the weights.
    before, x = under_phi(case.wa, arithmetic), arithmetic.tensor(case.x)
    scales = [jacobian(before, at).T.tolist() for at in (x, x + 1)]
    return equal(scales, [arithmetic.matrix(case.wa)] * 2, x=case.x, **{"W^a": case.wa})


@claim(plain(mlps()))
def corollary1_bias_not_on_x_c(case: Mlp, arithmetic: Arithmetic) -> Trial:
    """The bias of x_c in the MLP does not depend on x_c: neither a change of x_c nor a derivative by it shows in it.

    n_{cj} is defined without x_c (Eq. 2), so what is tested is that the package's MLP has such a bias: what it applies
    phi to, less w^a_{cj} x_c.

    Place: Sec. 3, Eq. 2, n_{cj} as a function of the other input elements
    Printed: n_{cj} = f(x_1, ..., x_{c-1}, x_{c+1}, ..., x_C)
    Bound: none: the numbers are exact, and a derivative that is exactly zero is told from one that is not
    """
    # Change each x_c, and differentiate by it.
    x = arithmetic.tensor(case.x)
    for c in range(len(case.x)):
        changed = torch.cat((x[:c], x[c : c + 1] + 1, x[c + 1 :]))
        bias = _bias(case.wa, c, arithmetic)
        if not torch.equal(bias(changed), bias(x)) or depends(bias, x)[:, c].any():
            return Trial(False, {"x": case.x, "W^a": case.wa, "c": c + 1})
    return Trial(True)


def _bias(wa: Matrix, c: int, arithmetic: Arithmetic) -> Operation:
    """Return the biases n_{cj} of the package's MLP: what it applies phi to, less w^a_{cj} x_c."""
    before, scales = under_phi(wa, arithmetic), arithmetic.tensor(wa)[c]
    return lambda x: before(x) - x[c] * scales


_ONE_ZERO = st.sampled_from(((1.0, 0.0), (1.0, 2.0)))


@claim(_ONE_ZERO.map(lambda weights: FirstLayer((1.0, 1.0), tuple((weight,) for weight in weights))))
def corollary1_bias_on_all_others(case: FirstLayer, arithmetic: Arithmetic) -> Trial:
    """The bias of x_c in the MLP depends on all other input elements, whatever the weights.

    Tested with one hidden unit, with and without a weight of zero.

    Place: Sec. 3, Corollary 1 (3)
    Printed: the bias is dependent to all other input elements in x
    Nearest: corollary1_bias_on_all_others_corrected
    Bound: none: where a bias does not depend on an input, its computed derivative is exactly 0, without rounding
    """
    # Look for a bias that does not depend on another input element.
    for c in case.inputs:
        others = [i != c for i in case.inputs]
        for j, found in enumerate(_bias_depends(case, c, arithmetic).tolist()):
            if found != others:
                return Trial(
                    False, {**case.shown(), "c": c + 1, "j": j + 1, "n_{cj} depends on x_i, i = 1 to C": found}
                )
    return Trial(True)


def _bias_depends(case: FirstLayer, c: int, arithmetic: Arithmetic) -> Tensor:
    """Return on which x_i the bias of x_c depends, for each hidden unit j."""
    return depends(_bias(case.wa, c, arithmetic), arithmetic.tensor(case.x))


@claim(st.tuples(st.integers(1, 3), st.integers(1, 3)).flatmap(lambda size: _layers(*size)))
def corollary1_bias_on_all_others_corrected(case: FirstLayer, arithmetic: Arithmetic) -> Trial:
    """The bias of x_c in the MLP depends on just those other input elements whose weight is not zero.

    Place: Sec. 3, Corollary 1 (3)
    Corrected: n_{cj} depends on x_i if and only if i != c and w^a_{ij} != 0
    Bound: none: where a bias does not depend on an input, its computed derivative is exactly 0, without rounding
    """
    # Hold what the biases depend on against the weights.
    for c in case.inputs:
        found = _bias_depends(case, c, arithmetic).tolist()
        weighted = [[i != c and case.wa[i][j] != 0 for i in case.inputs] for j in case.hidden]
        if found != weighted:
            return Trial(False, {**case.shown(), "c": c + 1, "n_{cj} depends on x_i": found})
    return Trial(True)


_FOUR_WEIGHTS = st.tuples(st.permutations((1.0, -1.0, 2.0, -2.0)), st.integers(3, 4))


@claim(_FOUR_WEIGHTS.map(lambda drawn: FirstLayer((1.0,), (tuple(drawn[0][: drawn[1]]),))))
def corollary1_degree(case: FirstLayer, arithmetic: Arithmetic) -> Trial:
    """The MLP's nonlinear degree is C': no hidden unit, as a function of x_c, is a combination of the others.

    Read as: the C' functions are linearly independent. Tested where they are different, nonlinear functions, as
    Corollary 1 has them, of C = 1 input.

    Place: Sec. 3, after Corollary 1
    Printed: the MLP module in the vision transformer is no more than a non-linearity generator with a nonlinear degree
        of C'
    Nearest: corollary1_degree_corrected
    Bound: a minor of the functions' values that is larger than its own bound proves independence; GeLU(u) - GeLU(-u) =
        u proves dependence
    """
    # Look for an input element as functions of which the hidden units are dependent.
    for c in case.inputs:
        if not independent(case.units(c)):
            shown = {"functions": [str(unit) for unit in case.units(c)], "linearly independent": False}
            return Trial(False, {**case.shown(), "c": c + 1, **shown})
    return Trial(True)


_WEIGHTS = st.sampled_from((1.0, -1.0, 2.0, -2.0, 0.5, -0.5))


def _signed_layers(inputs: int, hidden: int) -> st.Strategy[FirstLayer]:
    return st.builds(FirstLayer, vectors(inputs, _WEIGHTS), matrices(inputs, hidden, _WEIGHTS))


def _apart(case: FirstLayer) -> bool:
    return all(apart(case.units(c)) for c in case.inputs)


@claim(st.tuples(st.integers(1, 3), st.integers(1, 3)).flatmap(lambda size: _signed_layers(*size)).filter(_apart))
def corollary1_degree_corrected(case: FirstLayer, arithmetic: Arithmetic) -> Trial:
    """The MLP's nonlinear degree is C' where no scale is zero and no two arguments of GeLU are equal or opposite.

    Place: Sec. 3, after Corollary 1
    Corrected: phi(m_{cj} x_c + n_{cj}), j = 1, ..., C', phi = GeLU, are linearly independent functions of x_c if m_{cj}
        != 0 and (m_{cj}, n_{cj}) != +-(m_{ck}, n_{ck}) for all j != k
    Bound: a minor of the functions' values that is larger than its own bound proves independence
    """
    return corollary1_degree.judge(case, arithmetic)
