"""Sec. 3 to 5, Fig. 2: with phi = ReLU, how many kinks an output has against one input element."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.functions import prelu, relu, softplus
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import plain

from ._agelu import Coefficients, start
from ._kinks import added, linear_between, uncancelled
from ._mlp import Mlp, mlps
from ._relu import ReluModule, arelu_amlps, relu_concats, relu_mlps


@claim(st.integers(1, 3).flatmap(relu_mlps))
def fig2_piecewise_linear(case: ReluModule, arithmetic: Arithmetic) -> Trial:
    """With phi = ReLU each output of the MLP, against x_c, is a chain of lines with kinks at -n_{cj} / m_{cj} at most.

    Place: Sec. 3, Fig. 2
    Printed: We use phi = ReLU in this figure for simplicity
    Bound: none: rational arithmetic
    """
    # Look for an output that is no sum of the units' lines, or for a place between kinks that is off the line.
    for c in case.outputs:
        units = case.units(c)
        if not case.is_the_sum(c, arithmetic) or not linear_between(added(units), [unit.place for unit in units]):
            return Trial(False, {"x": case.x, "W^a": case.first, "W^b": case.second, "c": c + 1})
    return Trial(True)


_ROW = st.permutations((1.0, 2.0)).map(tuple)

_ONES = ((1.0, 1.0), (1.0, 1.0))


@claim(st.tuples(_ROW, _ROW).map(lambda wa: ReluModule((1.0, 1.0), wa, start(2), _ONES)))
def fig2_mlp_kinks(case: ReluModule, arithmetic: Arithmetic) -> Trial:
    """With phi = ReLU each output of the MLP, against x_c, has C' kinks: its nonlinear degree.

    Tested where the hidden units' weights differ, and none is zero, nor is an input.

    Place: Sec. 3, after Corollary 1
    Printed: a non-linearity generator with a nonlinear degree of C', as intuitively shown in Fig. 2
    Nearest: fig2_mlp_kinks_corrected
    Bound: none: rational arithmetic
    """
    # Count the places where the slope changes.
    for c in case.outputs:
        found = case.kinks(c)
        if len(found) != case.hidden:
            shown = {"x": case.x, "W^a": case.first, "W^b": case.second, "c": c + 1, "C'": case.hidden}
            return Trial(False, {**shown, "kinks of y_c against x_c, at": list(map(str, found))})
    return Trial(True)


@claim(st.integers(1, 3).flatmap(relu_mlps))
def fig2_mlp_kinks_corrected(case: ReluModule, arithmetic: Arithmetic) -> Trial:
    """With phi = ReLU each output of the MLP, against x_c, has at most C' kinks: one wherever jumps do not cancel.

    So it has C' kinks where the -n_{cj} / m_{cj} are different and no weight is zero.

    Place: Sec. 3, after Corollary 1
    Corrected: y_c has a kink at x_c = t if and only if sum_{j: -n_{cj} / m_{cj} = t} w^b_{jc} |m_{cj}| != 0; at most C'
    Bound: none: rational arithmetic
    """
    # Hold where the slope changes against where jumps do not cancel.
    for c in case.outputs:
        found = case.kinks(c)
        counted = found == uncancelled(case.units(c)) and len(found) <= case.hidden
        if not counted or not case.is_the_sum(c, arithmetic):
            shown = {"x": case.x, "first weights": case.first, **case.arelu.shown(), "second weights": case.second}
            return Trial(False, {**shown, "c": c + 1, "kinks at": list(map(str, found))})
    return Trial(True)


_SLOPE = 0.25  # PReLU's where training starts


@claim(
    st.tuples(st.sampled_from(("ReLU", "SoftPlus", "PReLU")), mlps()),
    proof=Proof("all numbers and any phi", lambda case: case[1].sizes(), cases=st.tuples(st.just("ReLU"), mlps())),
)
def fig2_other_functions(case: tuple[str, Mlp], arithmetic: Arithmetic) -> Trial:
    """The MLP is a sum of phi of a scale times x_c plus a bias for other functions phi too: ReLU, SoftPlus, PReLU.

    Place: Sec. 3, caption of Fig. 2
    Printed: Other formats of nonlinear function can also be used here to derive the same conclusion
    Bound: gamma_{C+1} times the magnitudes under phi, times its largest slope, then gamma_{C'+1} times those of the sum
    """
    # Hold the matrix form against the sum of Eq. 2.
    phi, mlp = case
    x, wa, wb = arithmetic.vector(mlp.x), arithmetic.matrix(mlp.wa), arithmetic.matrix(mlp.wb)

    def n(c: int, j: int) -> Rounded:
        return total([arithmetic.number(0), *(wa[i][j] * x[i] for i in range(len(x)) if i != c)])

    units = [[_written(phi, wa[c][j] * x[c] + n(c, j)) for j in range(len(wb))] for c in range(len(x))]
    printed = [total(wb[j][c] * unit for j, unit in enumerate(row)) for c, row in enumerate(units)]
    hidden = _module(phi, arithmetic.tensor(mlp.x) @ arithmetic.tensor(mlp.wa), arithmetic)
    return equal(hidden @ arithmetic.tensor(mlp.wb), printed, phi=phi, **mlp.shown())


def _written(phi: str, x: Rounded) -> Rounded:
    if phi == "PReLU":
        return prelu(x, _SLOPE)
    return relu(x) if phi == "ReLU" else softplus(x)


def _module(phi: str, x: Tensor, arithmetic: Arithmetic) -> Tensor:
    if phi == "PReLU":
        return F.prelu(x, arithmetic.tensor([_SLOPE]))
    return F.relu(x) if phi == "ReLU" else F.softplus(x)


def _amlps() -> st.Strategy[ReluModule]:
    """AMLPs of C = 1 and C' = 2, whose weights are 1."""
    two, gammas = st.permutations((1.0, 2.0)).map(tuple), st.tuples(*[st.sampled_from((0.0, 1.0))] * 2)
    agelus = st.builds(Coefficients, alpha=two, beta=two, gamma=gammas, theta=st.just((0.0, 1.0)))
    return agelus.map(lambda agelu: ReluModule((0.0,), ((1.0,),), agelu, ((1.0,), (1.0,))))


@claim(_amlps())
def fig2_amlp_kinks(case: ReluModule, arithmetic: Arithmetic) -> Trial:
    """With AReLUs each output of the AMLP, against x_c, has C' kinks too: the same degree of non-linearity.

    Tested where alpha, beta and theta of the two AReLUs differ, and no weight is zero.

    Place: Sec. 4.1, last paragraph, for Fig. 2's phi = ReLU
    Printed: the proposed AMLP module (Eq. 6) is also a generator that generates the same degree of non-linearity
    Nearest: fig2_amlp_kinks_corrected
    Bound: none: rational arithmetic
    """
    # Count the places where the slope changes.
    found = case.kinks(0)
    shown = {"W^d": case.first, **case.arelu.shown(" of both"), "W^e": case.second, "C'": case.hidden}
    return Trial(len(found) == case.hidden, {**shown, "kinks of y_1 against x_1, at": list(map(str, found))})


@claim(st.integers(1, 2).flatmap(arelu_amlps))
def fig2_amlp_kinks_corrected(case: ReluModule, arithmetic: Arithmetic) -> Trial:
    """With AReLUs each output of the AMLP, against x_c, has at most C' kinks: one wherever jumps do not cancel.

    So it has C' kinks where the -n'_{cj} / m'_{cj} are different and no weight is zero, m' and n' with the factor
    alpha_j.

    Place: Sec. 4.1, last paragraph, for Fig. 2's phi = ReLU
    Corrected: y'_c has a kink at x_c = t if and only if sum_{j: -n'_{cj} / m'_{cj} = t} w^e_{jc} beta_j |m'_{cj}| != 0;
        at most C'
    Bound: none: rational arithmetic
    """
    return fig2_mlp_kinks_corrected.judge(case, arithmetic)


@claim(plain(st.integers(1, 2).flatmap(relu_concats)))
def fig2_concat_kinks(case: ReluModule, arithmetic: Arithmetic) -> Trial:
    """With concat(ReLU, ReLU) and C'/2 columns in the first layer, each output against x_c has at most C'/2 kinks.

    Place: Sec. 5.2 on Table 3, for Fig. 2's phi = ReLU
    Printed: the two GeLU functions with the same scale and bias cause a simple replication along the channel dimension
    Bound: none: rational arithmetic
    """
    # Count the places where the slope changes.
    for c in case.outputs:
        found = case.kinks(c)
        if not case.is_the_sum(c, arithmetic) or len(found) > case.hidden // 2:
            shown = {"x": case.x, "first weights": case.first, "second weights": case.second, "c": c + 1}
            return Trial(False, {**shown, "kinks at": list(map(str, found))})
    return Trial(True)
