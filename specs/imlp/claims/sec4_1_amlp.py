"""Sec. 4.1, Eq. 5 and the lines of Eq. 6: the AMLP, step by step."""

from operator import itemgetter

import torch.nn.functional as F
from torch import Tensor, cat, einsum, tensor

from imlp_audit.claims import Sides, choice, claim_about, size, tensors
from imlp_audit.models.imlp import AGeLU

from ._amlp import agelu, agelus, amlp, joined, leaves, t2, under_gelu, with_gradients

C, HALF = size("C"), size("C'/2", 1, 2)
HIDDEN = HALF.map(lambda half: 2 * half)
REAL = choice("N, C, C'/2", (1, 1, 1), (2, 2, 1), (3, 1, 2), (196, 192, 384))  # DeiT-Ti's tokens and widths
NR, CR, HALFR = (REAL.map(itemgetter(i)) for i in range(3))
claim = claim_about(Wd=tensors(C, HALF), We=tensors(HIDDEN, C), f=agelus(HALF), g=agelus(HALF), x=tensors(C))


@claim(
    X=tensors(NR, CR),
    Wd=tensors(CR, HALFR),
    We=tensors(HALFR.map(lambda half: 2 * half), CR),
    f=agelus(HALFR),
    g=agelus(HALFR),
    G=tensors(NR, CR),
    training=choice("training", False, True),
    place="Sec. 4.1, Eq. 5",
    printed="Y' = AMLP(X) = concat(AGeLU(X W^d), AGeLU'(X W^d)) W^e",
)
def eq5_amlp(X: Tensor, Wd: Tensor, We: Tensor, f: AGeLU, g: AGeLU, G: Tensor, training: bool) -> Sides:
    """The package's IMLP block, with its channel part alone, is Eq. 5: two AGeLUs of X W^d, concatenated, times W^e."""
    X, Wd, We = leaves(X, Wd, We)
    t0 = X @ Wd
    first, second = (each.beta * F.gelu(each.alpha * t0 + each.gamma) + each.theta for each in (f, g))
    printed = cat([first, second], dim=-1) @ We
    ours = amlp(X, Wd, We, f, g, training=training)
    return with_gradients(ours, printed, G, X, Wd, We, *f.parameters(), *g.parameters())


@claim(place="Sec. 4.1, Eq. 6, first line", printed="t_0 = x W^d = (sum_{i=1}^{C} w^d_{ic'} x_i)_{c'=1}^{C'/2}")
def eq6_t0(x: Tensor, Wd: Tensor) -> Sides:
    """Each element of t_0 = x W^d is the sum of the inputs weighted by a column of W^d."""
    f = AGeLU(Wd.shape[1])  # alpha = 1, gamma = 0
    return under_gelu(x, Wd, f, f)[: Wd.shape[1]], einsum("ic,i->c", Wd, x)


@claim(
    place="Sec. 4.1, Eq. 6, second line",
    printed="t_1 = AGeLU(t_0) = (beta_{c'} GeLU(alpha_{c'} sum_{i=1}^{C} w^d_{ic'} x_i + gamma_{c'}) + theta_{c'}) "
    "_{c'=1}^{C'/2}",
)
def eq6_t1(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """t_1 is AGeLU of t_0, each channel with coefficients of its own."""
    t1 = t2(x, Wd, f, g)[: Wd.shape[1]]
    return t1, f.beta * F.gelu(f.alpha * einsum("ic,i->c", Wd, x) + f.gamma) + f.theta


@claim(
    x=tensors(1),
    Wd=tensors(1, 1),
    We=tensors(2, 1),
    place="Sec. 4.1, Eq. 6, third line",
    printed="t'_1 = AGeLU'(t_0) = (beta'_{c'} GeLU(alpha'_{c'} sum_{i=1}^{C} w'_{ic'} x_i + gamma'_{c'}) + "
    "theta'_{c'}) _{c'=1}^{C'/2}",
    nearest="eq6_t1_prime_corrected",
    examples=[{"x": tensor([1.0]), "Wd": tensor([[1.0]]), "We": tensor([[-1.0], [1.0]])}],
)
def eq6_t1_prime(x: Tensor, Wd: Tensor, We: Tensor) -> Sides:
    """t'_1 is AGeLU' of t_0, where the stored text weights the inputs by w'_{ic'}, not by w^d_{ic'}.

    Read as: w' is what is defined after the equation, w'_{jc} = w_{jc} beta_j with w = w^e. (The prime may be a
    superscript d that the stored text lost; with w^d the line holds.) AGeLU and AGeLU' are GeLU here: nothing but the
    weight matters.
    """
    f, g = agelu(), agelu()
    w = We[:1] * f.beta[:, None]  # w'_{ic'}
    return t2(x, Wd, f, g)[1:], g.beta * F.gelu(g.alpha * einsum("ic,i->c", w, x) + g.gamma) + g.theta


@claim(
    place="Sec. 4.1, Eq. 6, third line",
    corrected="t'_1 = AGeLU'(t_0) = (beta'_{c'} GeLU(alpha'_{c'} sum_{i=1}^{C} w^d_{ic'} x_i + gamma'_{c'}) + "
    "theta'_{c'}) _{c'=1}^{C'/2}",
)
def eq6_t1_prime_corrected(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """t'_1 is AGeLU' of the same t_0, each channel with coefficients of its own."""
    t1_prime = t2(x, Wd, f, g)[Wd.shape[1] :]
    return t1_prime, g.beta * F.gelu(g.alpha * einsum("ic,i->c", Wd, x) + g.gamma) + g.theta


@claim(
    place="Sec. 4.1, Eq. 6, fourth line",
    corrected="t_2 = concat(t_1, t'_1) = (beta_{c'} GeLU(alpha_{c'} sum_{i=1}^{C} w^d_{i,f(c')} x_i + gamma_{c'}) + "
    "theta_{c'})_{c'=1}^{C'}, f(x) = x - C'/2 1_{x > C'/2}, and alpha_{C'/2+1}, ..., alpha_{C'} are alpha'_1, ..., "
    "alpha'_{C'/2}, as for beta, gamma and theta",
)
def eq6_t2_corrected(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """t_2, the concatenation, has C' elements, the second half of which reads the columns of W^d again, by f."""
    alpha, beta, gamma, theta = joined(f, g)
    Wdf = cat([Wd, Wd], dim=1)  # w^d_{i,f(c')}
    return t2(x, Wd, f, g), beta * F.gelu(alpha * einsum("ic,i->c", Wdf, x) + gamma) + theta


@claim(
    place="Sec. 4.1, Eq. 6, fourth line",
    printed="t_2 = concat(t_1, t'_1) = (beta_{c'} GeLU(alpha_{c'} sum_{i=1}^{C} w_{i,f(c')} x_i + gamma_{c'}) + "
    "theta_{c'}) _{c'=1}^{C'/2}, w_{i,f(c')} read as w^d_{i,f(c')}",
    nearest="eq6_t2_corrected",
    examples=[{"x": tensor([1.0]), "Wd": tensor([[1.0]]), "f": agelu(), "g": agelu()}],
)
def eq6_t2(x: Tensor, Wd: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """t_2, the concatenation, has the elements c' = 1 to C'/2."""
    elements = range(1, Wd.shape[1] + 1)  # c' = 1 to C'/2
    return len(t2(x, Wd, f, g)), len(elements)


@claim(
    place="Sec. 4.1, Eq. 6, fifth line",
    corrected="y' = t_2 W^e = (sum_{j=1}^{C'} w^e_{jc} [beta_j GeLU(alpha_j sum_{i=1}^{C} w^d_{i,f(j)} x_i + gamma_j) "
    "+ theta_j])_{c=1}^{C}",
)
def eq6_output_corrected(x: Tensor, Wd: Tensor, We: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """Each output of the AMLP is the sum of t_2's elements weighted by a column of W^e."""
    alpha, beta, gamma, theta = joined(f, g)
    Wdf = cat([Wd, Wd], dim=1)  # w^d_{i,f(j)}
    t2 = beta * F.gelu(alpha * einsum("ij,i->j", Wdf, x) + gamma) + theta
    return amlp(x, Wd, We, f, g), einsum("jc,j->c", We, t2)


@claim(
    place="Sec. 4.1, Eq. 6, fifth line",
    printed="y' = t_2 W^e = (sum_{j=1}^{C'} w'_{jc} [beta_j GeLU(alpha_j sum_{i=1}^{C} w_{i,f(j)} x_i + gamma_j) + "
    "theta_j]) _{c=1}^{C}, w'_{jc} = w_{jc} beta_j",
    nearest="eq6_output_corrected",
    examples=[
        {"x": tensor([1.0]), "Wd": tensor([[1.0]]), "We": tensor([[1.0], [1.0]]), "f": agelu(beta=-1.0), "g": agelu()}
    ],
)
def eq6_output(x: Tensor, Wd: Tensor, We: Tensor, f: AGeLU, g: AGeLU) -> Sides:
    """Each output of the AMLP is the sum of t_2's elements weighted by w'_{jc}, which has beta_j in it already.

    Read as: w'_{jc} = w_{jc} beta_j, as defined after the equation, with w = w^e. (The prime may be a superscript e
    that the stored text lost; with w^e the line holds.)
    """
    alpha, beta, gamma, theta = joined(f, g)
    Wdf, w = cat([Wd, Wd], dim=1), We * beta[:, None]  # w_{i,f(j)} and w'_{jc}
    t2 = beta * F.gelu(alpha * einsum("ij,i->j", Wdf, x) + gamma) + theta
    return amlp(x, Wd, We, f, g), einsum("jc,j->c", w, t2)
