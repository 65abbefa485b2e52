"""Sec. 3, Corollary 1: the hidden units as functions of one input element."""

from functools import partial
from itertools import combinations, permutations

import torch
from hypothesis import assume
from torch import Tensor, linspace, stack, tensor

from imlp_audit.claims import NONZERO, Sides, claim_about, depends, jacobian, size, strictly_below, tensors

from ._amlp import along, apart, mlp, others, under_phi

C, H = size("C"), size("C'")
FEW = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5)  # sums of these are exact


def units(x: Tensor, Wa: Tensor, c: int, places: Tensor) -> Tensor:
    """Return the MLP's hidden units, one a column, where x_c is each of some numbers in turn."""
    return mlp(along(x, c, places), Wa, torch.eye(Wa.shape[1]))


def different_and_nonlinear(x: Tensor, Wa: Tensor) -> Sides:
    """Return whether, for each x_c, no unit's values lie on a line, and no two units have the same."""
    far = tensor([-1e5, -9e4, 0.0, 9e4, 1e5])  # GeLU is bent between
    values = [units(x, Wa, c, far) for c in range(len(x))]
    bends = [strictly_below(1.0, (each[0] - 2 * each[2] + each[4]).abs().min()) for each in values]
    pairs = combinations(range(Wa.shape[1]), 2)
    distances = [strictly_below(1e-6, (each[:, j] - each[:, k]).abs().max()) for j, k in pairs for each in values]
    return bends + distances


claim = claim_about(x=tensors(C), Wa=tensors(C, H))


@claim(
    x=tensors(3, values=NONZERO),
    Wa=tensors(3, 2, values=FEW),
    place="Sec. 3, Corollary 1 (1)",
    printed="Each element y_c in y is the linear combination of C' different nonlinear functions to the input element "
    "x_c",
    nearest="corollary1_different_functions_corrected",
    examples=[{"x": tensor([1.0, 1.0, 1.0]), "Wa": tensor([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0]])}],
)
def corollary1_different_functions(x: Tensor, Wa: Tensor) -> Sides:
    """Each output of the MLP is the linear combination of C' different nonlinear functions of x_c, whatever the
    weights.

    Tested where a wrong answer is no fault of the weights: the units' weights differ, none is zero, nor is an input.
    """
    assume((Wa[:, 0] != Wa[:, 1]).any())
    return different_and_nonlinear(x, Wa)


@claim(
    Wa=tensors(C, H, values=FEW),
    examples=[{"x": tensor([1.0, 1.0]), "Wa": tensor([[1.0, 1.0], [1.0, second]])} for second in (1.0, 2.0)],
    place="Sec. 3, Corollary 1 (1)",
    corrected="phi(m_{cj} x_c + n_{cj}), j = 1, ..., C', phi = GeLU, are C' different nonlinear functions of x_c if "
    "m_{cj} != 0 and (m_{cj}, n_{cj}) != (m_{ck}, n_{ck}) for all j != k",
)
def corollary1_different_functions_corrected(x: Tensor, Wa: Tensor) -> Sides:
    """The C' functions of x_c are different and nonlinear where no scale is zero and no two units share scale and
    bias.
    """
    for m, n in zip(Wa, others(x, Wa), strict=True):
        assume(all(m[j] != m[k] or (n[j] - n[k]).abs() > 1e-5 for j, k in combinations(range(len(m)), 2)))
    return different_and_nonlinear(x, Wa)


@claim(
    x=tensors(2, values=NONZERO),
    Wa=tensors(2, 1, values=NONZERO),
    place="Sec. 3, Corollary 1 (2)",
    printed="Distinct scales and biases are applied to different input elements x_c before passing through the "
    "nonlinear function phi",
    nearest="corollary1_distinct_corrected",
    examples=[{"x": tensor([1.0, 2.0]), "Wa": tensor([[2.0], [1.0]])}],
)
def corollary1_distinct(x: Tensor, Wa: Tensor) -> Sides:
    """Distinct scales and biases are applied to different input elements.

    Read as: m_{cj} != m_{c'j} and n_{cj} != n_{c'j} for c != c'. Tested where the weights of a hidden unit are distinct
    and not zero, and so are the inputs.
    """
    assume(x[0] != x[1] and Wa[0] != Wa[1])
    m, n = Wa, others(x, Wa)
    return [strictly_below(0.0, (each[0, 0] - each[1, 0]).abs()) for each in (m, n)]


def bias(x: Tensor, Wa: Tensor, c: int) -> Tensor:
    """Return the biases n_{cj} of the package's MLP: what it applies phi to, less w^a_{cj} x_c."""
    return under_phi(x, Wa) - Wa[c] * x[c]


@claim(
    place="Sec. 3, Corollary 1 (2)",
    corrected="m_{cj} = w^a_{cj}; n_{cj} - n_{c'j} = w^a_{c'j} x_{c'} - w^a_{cj} x_c, so that n_{cj} != n_{c'j} if and "
    "only if w^a_{cj} x_c != w^a_{c'j} x_{c'}",
)
def corollary1_distinct_corrected(x: Tensor, Wa: Tensor) -> Sides:
    """Different input elements have scales that are different weights, and biases that differ where their terms do."""
    m = jacobian(lambda x: under_phi(x, Wa), x).T
    n = stack([bias(x, Wa, c) for c in range(len(x))])
    terms = Wa * x[:, None]
    return [(m, Wa), *((n[c] - n[d], terms[d] - terms[c]) for c, d in permutations(range(len(x)), 2))]


@claim(place="Sec. 3, Corollary 1 (3)", printed="The scale is a learnable weight independent to the input element x_c")
def corollary1_scale_independent(x: Tensor, Wa: Tensor) -> Sides:
    """The scale of x_c in the MLP is a learnable weight and does not depend on x_c, nor on any input.

    m_{cj} is defined as a weight (Eq. 2), so what is tested is that the package's MLP has such a scale: what it applies
    phi to changes with x_c at the same rate, the weight w^a_{cj}, wherever the input is.
    """
    return [(jacobian(lambda x: under_phi(x, Wa), at).T, Wa) for at in (x, x + 1)]


@claim(
    place="Sec. 3, Eq. 2, n_{cj} as a function of the other input elements",
    printed="n_{cj} = f(x_1, ..., x_{c-1}, x_{c+1}, ..., x_C)",
)
def corollary1_bias_not_on_x_c(x: Tensor, Wa: Tensor) -> Sides:
    """The bias of x_c in the MLP does not depend on x_c: neither a change of x_c nor a derivative by it shows in it.

    n_{cj} is defined without x_c (Eq. 2), so what is tested is that the package's MLP has such a bias: what it applies
    phi to, less w^a_{cj} x_c.
    """
    moved = [along(x, c, x[c : c + 1] + 1)[0] for c in range(len(x))]
    unchanged = [(bias(moved[c], Wa, c), bias(x, Wa, c)) for c in range(len(x))]
    return [*unchanged, not bias_depends(x, Wa).diagonal(dim1=0, dim2=2).any()]


def bias_depends(x: Tensor, Wa: Tensor) -> Tensor:
    """Return whether n_{cj} depends on x_i, for each c, j and i."""
    return stack([depends(partial(bias, Wa=Wa, c=c), x) for c in range(len(x))])


def other_inputs(x: Tensor) -> Tensor:
    """Return whether i != c, for each c, any j, and i."""
    return ~torch.eye(len(x), dtype=torch.bool)[:, None]


@claim(
    x=tensors(2),
    Wa=tensors(2, 1),
    place="Sec. 3, Corollary 1 (3)",
    printed="the bias is dependent to all other input elements in x",
    nearest="corollary1_bias_on_all_others_corrected",
    examples=[{"x": tensor([1.0, 1.0]), "Wa": tensor([[1.0], [0.0]])}],
)
def corollary1_bias_on_all_others(x: Tensor, Wa: Tensor) -> Sides:
    """The bias of x_c in the MLP depends on all other input elements, whatever the weights.

    Tested with one hidden unit, with and without a weight of zero.
    """
    return bias_depends(x, Wa), other_inputs(x)


@claim(place="Sec. 3, Corollary 1 (3)", corrected="n_{cj} depends on x_i if and only if i != c and w^a_{ij} != 0")
def corollary1_bias_on_all_others_corrected(x: Tensor, Wa: Tensor) -> Sides:
    """The bias of x_c in the MLP depends on just those other input elements whose weight is not zero."""
    return bias_depends(x, Wa), other_inputs(x) & (Wa.T != 0)


def independent(x: Tensor, Wa: Tensor) -> Sides:
    """Return, for each x_c, how many hidden units are linearly independent, where each of them bends, and all."""
    sides = []
    for c in range(len(x)):
        bends = -others(x, Wa)[c] / Wa[c]
        places = (bends + linspace(-4, 4, 17)[:, None] / Wa[c].abs()).flatten()
        rank = torch.linalg.matrix_rank(units(x, Wa, c, places), rtol=1e-9)
        sides.append((rank.double(), tensor(float(Wa.shape[1]))))
    return sides


@claim(
    x=tensors(1, values=FEW),
    Wa=tensors(1, size("C'", 3, 4), values=FEW),
    place="Sec. 3, after Corollary 1",
    printed="the MLP module in the vision transformer is no more than a non-linearity generator with a nonlinear "
    "degree of C'",
    nearest="corollary1_degree_corrected",
    examples=[{"x": tensor([1.0]), "Wa": tensor([[1.0, -1.0, 2.0, -2.0]])}],
)
def corollary1_degree(x: Tensor, Wa: Tensor) -> Sides:
    """The MLP's nonlinear degree is C': no hidden unit, as a function of x_c, is a combination of the others.

    Read as: the C' functions are linearly independent. Tested where they are different, nonlinear functions, as
    Corollary 1 has them, of C = 1 input.
    """
    assume(len(set(Wa[0].tolist())) == Wa.shape[1])
    return independent(x, Wa)


@claim(
    x=tensors(C, values=FEW),
    Wa=tensors(C, H, values=FEW),
    examples=[{"x": tensor([1.0, 0.0]), "Wa": tensor([[1.0, 1.0], [1.0, 2.0]])}],  # equal arguments for x_1 alone
    place="Sec. 3, after Corollary 1",
    corrected="phi(m_{cj} x_c + n_{cj}), j = 1, ..., C', phi = GeLU, are linearly independent functions of x_c if "
    "m_{cj} != 0 and (m_{cj}, n_{cj}) != +-(m_{ck}, n_{ck}) for all j != k",
)
def corollary1_degree_corrected(x: Tensor, Wa: Tensor) -> Sides:
    """The MLP's nonlinear degree is C' where no scale is zero and no two arguments of GeLU are equal or opposite."""
    assume(all(apart(m, n) for m, n in zip(Wa, others(x, Wa), strict=True)))
    return independent(x, Wa)
