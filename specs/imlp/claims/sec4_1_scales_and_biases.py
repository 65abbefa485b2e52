"""Sec. 4.1, the last line of Eq. 6: the scales m' and the biases n' of the AMLP."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, cat, stack, tensor

from imlp_audit.claims import NUMBERS, Sides, claim_about, depends, jacobian, size, tensors
from imlp_audit.models.imlp import AGeLU

from ._amlp import agelu, agelus, amlp, joined, others, under_gelu

C, HALF = size("C"), size("C'/2", 1, 2)
HIDDEN = HALF.map(lambda half: 2 * half)


def with_alpha_one(f: AGeLU) -> AGeLU:
    """Set all alpha to 1."""
    f.alpha.data.fill_(1.0)
    return f


claim = claim_about(x=tensors(C), Wd=tensors(C, HALF), f=agelus(HALF), g=agelus(HALF), We=tensors(HIDDEN, C))


@claim(
    place="Sec. 4.1, after Eq. 6",
    printed="alpha_j sum_{i=1}^{C} w_{i,f(j)} x_i + gamma_j = m'_{cj} x_c + n'_{cj}, m'_{cj} = w^d_{c,f(j)}, n'_{cj} = "
    "sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j",
    nearest="eq6_inner_corrected",
    examples=[{"x": tensor([1.0]), "Wd": tensor([[1.0]]), "f": agelu(alpha=-1.0), "g": agelu()}],
)
def eq6_inner(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """What GeLU is applied to in the AMLP is m'_{cj} x_c + n'_{cj}, with m' and n' as defined: without alpha_j."""
    _, _, gamma, _ = joined(f, g)
    m = cat([Wd, Wd], dim=1)  # w^d_{c,f(j)}
    n = others(x, m) + gamma
    return under_gelu(x, Wd, f, g).expand_as(m), m * x[:, None] + n


@claim(
    place="Sec. 4.1, after Eq. 6",
    corrected="alpha_j sum_{i=1}^{C} w^d_{i,f(j)} x_i + gamma_j = m'_{cj} x_c + n'_{cj}, m'_{cj} = alpha_j "
    "w^d_{c,f(j)}, n'_{cj} = alpha_j sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j",
)
def eq6_inner_corrected(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """What GeLU is applied to in the AMLP is a scale times x_c plus a bias, and alpha_j is a factor of both."""
    alpha, _, gamma, _ = joined(f, g)
    Wdf = cat([Wd, Wd], dim=1)  # w^d_{c,f(j)}
    m, n = alpha * Wdf, alpha * others(x, Wdf) + gamma
    return under_gelu(x, Wd, f, g).expand_as(m), m * x[:, None] + n


@claim(
    f=agelus(HALF).map(with_alpha_one),
    g=agelus(HALF).map(with_alpha_one),
    place="Sec. 4.1, Eq. 6, last line",
    printed="y' = (sum_{j=1}^{C'} w'_{jc} GeLU(m'_{cj} x_c + n'_{cj}) + theta_j)_{c=1}^{C}, w'_{jc} = w_{jc} beta_j, "
    "m'_{cj} = w^d_{c,f(j)}, n'_{cj} = sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + gamma_j",
    nearest="eq6_scale_and_bias_corrected",
    examples=[
        {"x": tensor([1.0]), "Wd": tensor([[1.0]]), "We": tensor([[2.0], [1.0]]), "f": agelu(theta=1.0), "g": agelu()}
    ],
)
def eq6_scale_and_bias(x: Tensor, Wd: Tensor, We: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """Each output of the AMLP is a sum of GeLUs weighted by w'_{jc} plus the theta_j, which no weight multiplies.

    theta_j carries the index of the sum, so it stands inside it. All alpha_j are 1 here, so m' and n' are right as
    printed.
    """
    _, beta, gamma, theta = joined(f, g)
    w, m = We * beta[:, None], cat([Wd, Wd], dim=1)  # w'_{jc}, w^d_{c,f(j)}
    n = others(x, m) + gamma
    return amlp(x, Wd, We, f, g), (w.T * F.gelu(m * x[:, None] + n) + theta).sum(dim=1)


@claim(
    place="Sec. 4.1, Eq. 6, last line",
    corrected="y' = (sum_{j=1}^{C'} (w'_{jc} GeLU(m'_{cj} x_c + n'_{cj}) + w^e_{jc} theta_j))_{c=1}^{C}, w'_{jc} = "
    "w^e_{jc} beta_j, m'_{cj} = alpha_j w^d_{c,f(j)}, n'_{cj} = alpha_j sum_{i=1, i != c}^{C} w^d_{i,f(j)} x_i + "
    "gamma_j",
)
def eq6_scale_and_bias_corrected(x: Tensor, Wd: Tensor, We: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """Each output of the AMLP is a sum of GeLUs, each of a scale times x_c plus a bias, and of the weighted theta_j."""
    alpha, beta, gamma, theta = joined(f, g)
    w, Wdf = We * beta[:, None], cat([Wd, Wd], dim=1)  # w'_{jc}, w^d_{c,f(j)}
    m, n = alpha * Wdf, alpha * others(x, Wdf) + gamma
    return amlp(x, Wd, We, f, g), (w.T * F.gelu(m * x[:, None] + n) + We.T * theta).sum(dim=1)


@claim(
    place="Sec. 4.1, last sentence",
    printed="Each scale is a learnable weight while each bias is dependent on other input elements",
)
def eq6_scale_is_a_weight(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """The scale of x_c under GeLU in the AMLP is learnable, and depends on no input: it is alpha_j w^d_{c,f(j)}."""
    alpha, _, _, _ = joined(f, g)
    products = alpha[:, None] * cat([Wd, Wd], dim=1).T  # alpha_j w^d_{c,f(j)}, for each j and c
    return [(jacobian(lambda x: under_gelu(x, Wd, f, g), at), products) for at in (x, x + 1)]


def bias_depends(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Tensor:
    """Return whether n'_{cj}, what is left under GeLU without m'_{cj} x_c, depends on x_i, for each c, j and i."""
    alpha, _, _, _ = joined(f, g)
    m = alpha * cat([Wd, Wd], dim=1)

    def n(c: int, x: Tensor) -> Tensor:
        return under_gelu(x, Wd, f, g) - m[c] * x[c]

    return stack([depends(partial(n, c), x) for c in range(len(x))])


@claim(
    x=tensors(2),
    Wd=tensors(2, 1),
    place="Sec. 4.1, last sentence",
    printed="each bias is dependent on other input elements",
    nearest="eq6_bias_on_others_corrected",
    examples=[{"x": tensor([1.0, 1.0]), "Wd": tensor([[1.0], [0.0]])}],
)
def eq6_bias_on_others(x: Tensor, Wd: Tensor) -> Sides:
    """The bias of x_c under GeLU in the AMLP depends on the other input elements, whatever the weights.

    Read as: on every other one, and not on x_c; n'_{cj} is what is left under GeLU without m'_{cj} x_c. Tested with and
    without a weight of zero.
    """
    found = bias_depends(x, Wd, agelu(), agelu())
    return found, ~torch.eye(2, dtype=torch.bool)[:, None].expand_as(found)  # i != c


@claim(
    f=agelus(HALF, values=NUMBERS),
    g=agelus(HALF, values=NUMBERS),
    examples=[{"x": tensor([1.0, 1.0]), "Wd": tensor([[1.0], [1.0]]), "f": agelu(alpha=0.0), "g": agelu()}],
    place="Sec. 4.1, last sentence",
    corrected="n'_{cj} depends on x_i if and only if i != c and alpha_j w^d_{i,f(j)} != 0",
)
def eq6_bias_on_others_corrected(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """The bias of x_c under GeLU in the AMLP depends on just those other input elements whose weight is not zero, and
    on none where alpha_j is.
    """
    alpha, _, _, _ = joined(f, g)
    other = ~torch.eye(len(x), dtype=torch.bool)[:, None]  # i != c
    return bias_depends(x, Wd, f, g), other & ((alpha * cat([Wd, Wd], dim=1)).T != 0)
