"""Sec. 5.2, Tables 3 and 4: the degree of non-linearity, and sums instead of concatenation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from imlp_audit.count.parameters import count_parameters
from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.functions import gelu
from imlp_audit.equations.rounded import total
from imlp_audit.equations.strategies import Vector, matrices, nonzero, numbers, plain, vectors
from imlp_audit.models.agelu import AGeLU, SumOfFunctions
from imlp_audit.models.imlp import PlainChannelPart
from imlp_audit.models.reading import PRINTED

from ._agelu import Coefficients, coefficients, start
from ._amlp import Amlp
from ._blocks import mlp
from ._ranks import first_layer, replicated, sampled_equal
from ._sums import gelus, summed
from ._units import Unit, apart, independent


def _amlps(width: int, half: int) -> st.Strategy[Amlp]:
    """AMLPs whose AGeLUs are GeLU, of which no two hidden units of one GeLU are equal or opposite."""
    same, second = st.just(start(half)), st.just(((1.0,) * width,) * (2 * half))
    wd = matrices(width, half, nonzero())
    return st.builds(Amlp, vectors(width), wd, same, same, second).filter(lambda case: apart(case.units()[:half]))


@claim(plain(st.tuples(st.integers(1, 2), st.integers(1, 3)).flatmap(lambda size: _amlps(*size))))
def rank_gelu_concat(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """concat(GeLU, GeLU) replicates: the second half of the hidden units is the first, so C' units have the degree
    C'/2.

    Read as: as functions of x_1, at most C'/2 of them are linearly independent, and C'/2 are where no two arguments of
    GeLU are equal or opposite.

    Place: Sec. 5.2 on Table 3
    Printed: the two GeLU functions with the same scale and bias cause a simple replication along the channel dimension
    Bound: none for the replication, bit for bit; a minor of the functions' values that is larger than its own bound
        proves independence
    """
    # Hold the halves of the package's module against each other, and count the independent functions of the first.
    part, units = PlainChannelPart(len(case.wd[0]), PRINTED, nn.GELU, channels_first=False), case.units()
    hidden: Tensor = part(first_layer(case, arithmetic))
    sampled = sampled_equal(hidden, units, arithmetic, **case.shown())
    if not sampled.holds:
        return sampled
    halved = replicated(hidden) and independent(units[: len(units) // 2])
    return Trial(halved, {**case.shown(), "second half is the first": replicated(hidden)})


def _agelus() -> st.Strategy[Coefficients]:
    few, shifts = st.tuples(st.sampled_from((1.0, 2.0))), st.tuples(st.sampled_from((0.0, 1.0)))
    return st.builds(Coefficients, few, few, shifts, shifts)


@claim(st.builds(Amlp, st.just((1.0,)), st.just(((1.0,),)), _agelus(), _agelus(), st.just(((1.0,),) * 2)))
def rank_agelu_concat(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """concat(AGeLU, AGeLU') keeps the degree of non-linearity C', whatever the coefficients.

    Read as: the C' hidden units are linearly independent as functions of x_1, at every step of training. The smallest
    case is the step that training starts with: both AGeLUs are GeLU then, and come apart only as they are trained.

    Place: Sec. 5.2 on Table 3
    Printed: the two AGeLU functions do not decrease the degree of non-linearity
    Nearest: rank_agelu_concat_corrected
    Bound: a minor of the functions' values that is larger than its own bound proves independence; equal functions prove
        dependence
    """
    # Look for hidden units that are dependent.
    hidden, units = case.t2_of(first_layer(case, arithmetic), arithmetic), case.units()
    sampled = sampled_equal(hidden, units, arithmetic, **case.shown())
    if not sampled.holds or independent(units):
        return sampled
    shown = {"W^d": case.wd, **case.first.shown(), **case.second.shown("'"), "functions": list(map(str, units))}
    return Trial(False, {**shown, "linearly independent": False})


_SCALES = st.sampled_from((1.0, -1.0, 2.0, -2.0, 0.5, -0.5))

_SHIFTS = st.sampled_from((0.0, 1.0, -1.0, 2.0, -2.0))


def amlps_apart(width: int, half: int) -> st.Strategy[Amlp]:
    """AMLPs of which no two hidden units are equal or opposite under GeLU."""
    scales, shifts = vectors(half, _SCALES), vectors(half, _SHIFTS)
    agelus = st.builds(Coefficients, scales, scales, shifts, shifts)
    second = st.just(((1.0,) * width,) * (2 * half))
    cases = st.builds(Amlp, vectors(width, _SHIFTS), matrices(width, half, _SCALES), agelus, agelus, second)
    return cases.filter(lambda case: apart(case.units()))


@claim(st.tuples(st.integers(1, 2), st.integers(1, 2)).flatmap(lambda size: amlps_apart(*size)))
def rank_agelu_concat_corrected(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """concat(AGeLU, AGeLU') keeps the degree C' where no two arguments of GeLU are equal or opposite, and none is
    constant.

    A beta of zero makes a unit constant. Otherwise beta and theta make no difference: alpha or gamma have to.

    Place: Sec. 5.2 on Table 3
    Corrected: beta_j GeLU(m'_{cj} x_c + n'_{cj}) + theta_j, j = 1, ..., C', are linearly independent functions of x_c
        if beta_j != 0, m'_{cj} != 0 and (m'_{cj}, n'_{cj}) != +-(m'_{ck}, n'_{ck}) for all j != k
    Bound: a minor of the functions' values that is larger than its own bound proves independence
    """
    return rank_agelu_concat.judge(case, arithmetic)


_FEW = st.tuples(st.sampled_from((1.0, 2.0)))

_SHIFT = st.tuples(st.sampled_from((0.0, 1.0)))

_FIRST = st.builds(Coefficients, _FEW, st.just((1.0,)), _SHIFT, st.just((0.0,)))

_SECOND = st.builds(Coefficients, _FEW, st.just((2.0,)), _SHIFT, st.just((0.0,)))


@claim(st.builds(Amlp, st.just((1.0,)), st.just(((1.0,),)), _FIRST, _SECOND, st.just(((1.0,),) * 2)))
def eq6_same_degree(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Two AGeLUs with different parameters give each output C' different nonlinear functions: the degree of the MLP.

    Read as: the functions of x_1 that the weights combine in Eq. 6's last line, GeLU(m'_{1j} x_1 + n'_{1j}), are
    linearly independent. Tested where beta' is not beta, so that the parameters are different, as Eq. 5's text has
    them.

    Place: Sec. 4.1, last paragraph
    Printed: the proposed AMLP module (Eq. 6) is also a generator that generates the same degree of non-linearity. Each
        element y'_c in y' can also be treated as a linear combination of C' different nonlinear functions
    Nearest: rank_agelu_concat_corrected
    Bound: a minor of the functions' values that is larger than its own bound proves independence; multiples prove
        dependence
    """
    return rank_agelu_concat.judge(case, arithmetic)


def _gelus(case: Amlp) -> list[Unit]:
    """Return GeLU of each column of the first layer."""
    columns = zip(*case.wd, strict=True)
    return [Unit(own, sum(w * x for w, x in zip(others, case.x[1:], strict=True))) for own, *others in columns]


@claim(
    st.tuples(st.integers(1, 2), st.integers(1, 3))
    .flatmap(lambda size: amlps_apart(*size))
    .filter(lambda case: apart(_gelus(case)))
)
def rank_agelu_without_concat(case: Amlp, arithmetic: Arithmetic) -> Trial:
    """Without concatenation, GeLU and AGeLU have the same degree of non-linearity: C' both.

    Read as: where no beta is zero and no two hidden units have equal or opposite arguments of phi, they are linearly
    independent as functions of x_1, with GeLU as with AGeLU.

    Place: Sec. 5.2 on Table 3
    Printed: in the former setting [r = 4 without concatenation] the two activation functions have the same degree of
        non-linearity
    Bound: a minor of the functions' values that is larger than its own bound proves independence
    """
    # Hold AGeLU's hidden units, and GeLU's, against their formulas, and look for dependent ones.
    t0, agelus = first_layer(case, arithmetic), case.units()[: len(case.wd[0])]
    shown = {"x": case.x, "W^a": case.wd, **case.first.shown()}
    for hidden, units in ((case.first.module(arithmetic)(t0), agelus), (F.gelu(t0), _gelus(case))):
        sampled = sampled_equal(hidden, units, arithmetic, **shown)
        if not sampled.holds or not independent(units):
            return Trial(False, {**shown, **sampled.shown, "functions": list(map(str, units))})
    return Trial(True)


@dataclass(frozen=True)
class AGeLUs:
    """An input of C numbers, and 4 C AGeLUs with coefficients for each of C channels."""

    x: Vector
    each: tuple[Coefficients, ...]

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by the paper's symbols."""
        return {"C": len(self.x), "function": len(self.each)}

    def summed(self, arithmetic: Arithmetic, *, channels_first: bool = False) -> SumOfFunctions:
        """Return the package's sum of these AGeLUs: channel by channel, all functions of one after the other."""
        module = SumOfFunctions(len(self.x), len(self.each) // len(self.x), agelu=True, channels_first=channels_first)
        assert module.agelus is not None
        by_channel = [
            tuple(getattr(agelu, name)[c] for c in range(len(self.x)) for agelu in self.each)
            for name in ("alpha", "beta", "gamma", "theta")
        ]
        Coefficients(*by_channel).load_into(module.agelus, arithmetic)
        return module

    def shown(self) -> dict[str, object]:
        """Return the symbols that a counterexample shows."""
        return {"x": self.x, **{f"AGeLU_{i}": vars(each) for i, each in enumerate(self.each, start=1)}}


def _cases(width: int, ratio: int = 4) -> st.Strategy[AGeLUs]:
    return st.builds(AGeLUs, vectors(width), st.tuples(*[coefficients(width)] * (ratio * width)))


@claim(_cases(2, 1), proof=Proof("all numbers and any phi", AGeLUs.sizes))
def sums_of_agelus(case: AGeLUs, arithmetic: Arithmetic) -> Trial:
    """In the AGeLU row of Table 4, the package's module is the sum of the AGeLUs, channel by channel, in both layouts.

    Read as: every AGeLU has coefficients for each channel. Tested with C functions in place of 4 C.

    Place: Sec. 5.2 on Table 4, row AGeLU
    Printed: y = AGELU_1(x) + ... + AGELU_{4C}(x)
    Bound: gamma_2 times the magnitudes under GeLU, times its largest slope, then gamma of the sum of all of them
    """
    # Hold the module, as the second of a batch of two, against the printed sum.
    x, each = arithmetic.tensor(case.x), [agelu.written(arithmetic.vector(case.x), gelu) for agelu in case.each]
    printed = [total(values) for values in zip(*each, strict=True)]
    last = case.summed(arithmetic)(torch.stack((x + 1, x)))[1]
    first = case.summed(arithmetic, channels_first=True)(torch.stack((x + 1, x))[:, :, None, None])[1, :, 0, 0]
    return equal(torch.stack((last, first)), [printed, printed], **case.shown())


@claim(_cases(2))
def sums_bias_of_own_input(case: AGeLUs, arithmetic: Arithmetic) -> Trial:
    """In a sum of 4 C AGeLUs, each output depends on the input of its own channel alone.

    Whatever the coefficients: no bias in it can depend on the other inputs, as those of an MLP do by Corollary 1.

    Place: Sec. 5.2 on Table 4, row AGeLU
    Printed: according to Corollary 1 the biases of these nonlinear functions should be different and are dependent on
        all other input elements which is hard to apply in reality
    Bound: none: where a bias does not depend on an input, its computed derivative is exactly 0, without rounding
    """
    # Hold what the outputs depend on against the diagonal.
    found = depends(case.summed(arithmetic), arithmetic.tensor(case.x))
    others = found & ~torch.eye(len(case.x), dtype=torch.bool, device=found.device)
    return Trial(not others.any(), {"x": case.x, "depends on other inputs": others.tolist()})


@claim(st.tuples(st.integers(1, 4), nonzero()))
def sums_of_different_functions(case: tuple[int, float], arithmetic: Arithmetic) -> Trial:
    """In the GeLU row of Table 4, the 4 C functions that are added up are different functions.

    Read as: at an input that is not zero, they do not all give the same value. GeLU has no parameters that could
    differ.

    Place: Sec. 5.2 on Table 4, row GeLU
    Printed: directly using 4C different nonlinear functions to replace the original MLP module [...] Here we use GeLU
        and AGeLU as the basic nonlinear functions
    Nearest: sums_of_gelus
    Bound: none: one function of equal inputs gives equal outputs
    """
    # Look for two functions that differ.
    c, x = case
    values = [function(arithmetic.tensor(x)).item() for function in gelus(c)]
    return Trial(len(set(values)) > 1, {"C": c, "x": x, "GeLU_1(x), ..., GeLU_4C(x)": values})


@claim(st.tuples(st.integers(1, 4), numbers()))
def sums_of_gelus(case: tuple[int, float], arithmetic: Arithmetic) -> Trial:
    """In the GeLU row of Table 4, the sum of the 4 C functions is 4 C GeLU(x): one function, scaled; so is the
    package's module.

    Place: Sec. 5.2 on Table 4, row GeLU
    Corrected: y = GeLU_1(x) + ... + GeLU_{4C}(x) = 4 C GeLU(x)
    Bound: gamma_{4C-1} times the sum of the magnitudes, and GeLU's own error for each term
    """
    # Hold the sum of the modules, 4 C GeLU(x) and the package's module against the sum as it is printed.
    c, x = case
    number = arithmetic.tensor(x)
    modules = SumOfFunctions(c)(number.expand(c)).tolist()
    sums = arithmetic.tensor([summed(gelus(c))(number).item(), 4 * c * F.gelu(number).item(), *modules])
    printed = total(gelu(arithmetic.number(x)) for _ in range(4 * c))
    return equal(sums, [printed] * (2 + c), C=c, x=x)


@claim(st.integers(1, 16))
def sums_parameters(c: int, _: Arithmetic) -> Trial:
    """4 C AGeLUs with coefficients for every channel have 16 C^2 parameters, more than the MLP they replace, 8 C^2 + 5
    C.

    With one of each coefficient for the layer, they have 16 C. The paper does not say which; the MLP has biases.

    Place: Sec. 5.2 on Table 4, row AGeLU
    Corrected: parameters of AGeLU_1, ..., AGeLU_{4C} = 4 C * 4 C > 8 C^2 + 5 C, or 4 C * 4
    Bound: none: parameters are counted
    """
    # Hold the parameters of the modules against the formulas.
    per_channel, per_layer = (
        count_parameters(nn.ModuleList(AGeLU(channels) for _ in range(4 * c))) for channels in (c, 1)
    )
    replaced = count_parameters(mlp(c, 4 * c))
    shown = {"C": c, "for every channel": per_channel, "for the layer": per_layer, "MLP": replaced}
    counted = (per_channel, per_layer, replaced) == (16 * c * c, 16 * c, 8 * c * c + 5 * c)
    return Trial(counted and per_channel > replaced, shown)
