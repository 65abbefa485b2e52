"""Appendix A.1, Eq. 11 to 20: the module of Theorem 1, its quadratic forms, and the bound on its Lipschitz constant."""

from math import sqrt

import torch
import torch.nn.functional as F
from torch import Tensor, cat, diag, eye, tensor, zeros
from torch.linalg import vector_norm as norm

from imlp_audit.claims import Sides, below, claim_about
from imlp_audit.models.imlp import Imlp, amlp
from imlp_audit.models.new_modules import of_ones

from ._theorem import MODULE, B, Half, T, X, block, halves, layers, phis, steep

STEEP_INPUTS = [
    steep(alpha, beta, other) for alpha, beta, other in ((1.0, 0.5, 0.25), (-2.0, 1.0, 0.5), (1.0, -1.0, -2.0))
]
STEEP = [{**each, "t": tensor([1.0])} for each in STEEP_INPUTS]
claim = claim_about(f=MODULE, x=X, b11=B, y=X, t=T)


@claim(
    place="Appendix A.1, Eq. 11; Theorem 1", printed="f(x) = W^1 concat(phi_1(W^0 x + b^0), phi_2(W^0 x + b^0)) + b^1"
)
def eq11_module(f: Imlp, x: Tensor) -> Sides:
    """The AMLP module that is built here, with biases, is the function of Theorem 1 and Eq. 11."""
    W0, b0, W1, b1 = layers(f)
    before = W0 @ x + b0
    concat = cat([phi.beta * F.gelu(phi.alpha * before + phi.gamma) + phi.theta for phi in phis(f)])
    return f(x), W1 @ concat + b1


@claim(
    b12=B,
    place="Appendix A.1, Eq. 12",
    printed="f(x) = g(x) + h(x) = (W^11 phi_1(W^0 x + b^0) + b^11) + (W^12 phi_2(W^0 x + b^0) + b^12), b^1 = [b^11 "
    "b^12]",
    nearest="eq12_biases_corrected",
    examples=[{"b11": tensor([1.0]), "b12": tensor([1.0])}],
)
def eq12_biases(b11: Tensor, b12: Tensor) -> Sides:
    """Splitting f into g + h splits b^1 into the two blocks [b^11 b^12], one added in each branch. Every branch has as
    many outputs as f, so each block has as many entries as b^1 itself.
    """
    _, _, _, b1 = layers(amlp(1, 1, len(b11)))
    return len(b1), len(cat([b11, b12]))


@claim(
    place="Appendix A.1, Eq. 12",
    corrected="f(x) = (W^11 phi_1(W^0 x + b^0) + b^11) + (W^12 phi_2(W^0 x + b^0) + b^12), W^1 = [W^11 W^12], b^1 = "
    "b^11 + b^12",
)
def eq12_biases_corrected(f: Imlp, x: Tensor, b11: Tensor) -> Sides:
    """f is the sum of both branches exactly when b^1 is the sum of their biases; the columns of W^1 are split between
    them.
    """
    (first, second), (_, _, _, b1) = halves(f), layers(f)
    b12 = b1 - b11
    return f(x), (first.W1 @ first.x1(x) + b11) + (second.W1 @ second.x1(x) + b12)


def eq13_matrix(half: Half, T: Tensor) -> Tensor:
    """Return [[-2 p q W^0' T W^0, (p + q) W^0' T], [(p + q) T W^0, -2 T]]."""
    W0, (p, q) = half.W0, half.pq
    return block([[-2 * p * q * W0.T @ T @ W0, (p + q) * W0.T @ T], [(p + q) * T @ W0, -2 * T]])


def eq15_matrix(half: Half, rho: float) -> Tensor:
    """Return [[rho I, 0], [0, -W^11' W^11]]."""
    n, n_0 = half.W0.shape
    return block([[rho * eye(n_0), zeros(n_0, n)], [zeros(n, n_0), -half.W1.T @ half.W1]])


def changes(half: Half, x: Tensor, y: Tensor) -> Tensor:
    """Return [x - y; x^1 - y^1]."""
    return cat([x - y, half.x1(x) - half.x1(y)])


@claim(
    examples=STEEP,
    place="Appendix A.1, the display before Eq. 13",
    printed="[(W^0 x + b^0) - (W^0 y + b^0); x^1 - y^1]' [[-2 p_1 q_1 T, (p_1 + q_1) T], [(p_1 + q_1) T, -2 T]] [...] "
    ">= 0",
)
def lemma1_at_hidden(f: Imlp, x: Tensor, y: Tensor, t: Tensor) -> Sides:
    """Lemma 1 holds for the differences that the proof puts into it: of the hidden units before and after phi_1 (and
    phi_2).
    """
    sides, T = [], diag(t)
    for half in halves(f):
        (p, q), before = half.pq, (half.W0 @ x + half.b0) - (half.W0 @ y + half.b0)
        v = cat([before, half.x1(x) - half.x1(y)])
        sides.append(below(0.0, v @ block([[-2 * p * q * T, (p + q) * T], [(p + q) * T, -2 * T]]) @ v))
    return sides


@claim(
    examples=STEEP,
    place="Appendix A.1, Eq. 13",
    printed="[x - y; x^1 - y^1]' [[-2 p_1 q_1 W^0' T W^0, (p_1 + q_1) W^0' T], [(p_1 + q_1) T W^0, -2 T]] [x - y; x^1 "
    "- y^1] >= 0",
)
def eq13(f: Imlp, x: Tensor, y: Tensor, t: Tensor) -> Sides:
    """Written in x - y, with W^0 moved into the matrix, the same form is never negative."""
    vs = [(half, changes(half, x, y)) for half in halves(f)]
    return [below(0.0, v @ eq13_matrix(half, diag(t)) @ v) for half, v in vs]


def sides_of_eq14(half: Half, T: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return both sides of Eq. 14 for one half and the diagonal of a T."""
    v = changes(half, x, y)
    return v @ eq13_matrix(half, diag(T)) @ v, v @ eq15_matrix(half, half.rho(diag(T))) @ v


@claim(
    examples=STEEP,
    place="Appendix A.1, Eq. 14",
    printed="[x - y; x^1 - y^1]' [[-2 p_1 q_1 W^0' T W^0, (p_1 + q_1) W^0' T], [(p_1 + q_1) T W^0, -2 T]] [...] <= [x "
    "- y; x^1 - y^1]' [[rho_1 I, 0], [0, -W^11' W^11]] [...]",
)
def eq14(f: Imlp, x: Tensor, y: Tensor, t: Tensor) -> Sides:
    """For rho_1, rho_2 and one T with M(rho_i, T) <= 0 for both i, the form of Eq. 13 is at most that of diag(rho_i I,
    -W^1i' W^1i).
    """
    one_T = torch.maximum(*(half.chosen(t) for half in halves(f)))
    return [below(*sides_of_eq14(half, one_T, x, y)) for half in halves(f)]


@claim(
    examples=STEEP,
    place="Appendix A.1, Eq. 14",
    corrected="with M(rho_i, T_i) <= 0, [x - y; x^i - y^i]' [[-2 p_i q_i W^0' T_i W^0, (p_i + q_i) W^0' T_i], [(p_i + "
    "q_i) T_i W^0, -2 T_i]] [...] <= [x - y; x^i - y^i]' [[rho_i I, 0], [0, -W^1i' W^1i]] [...], i in {1, 2}",
)
def eq14_own_t(f: Imlp, x: Tensor, y: Tensor, t: Tensor) -> Sides:
    """Eq. 14 holds for each half with a T_i of its own, which is all that the proof needs."""
    return [below(*sides_of_eq14(half, half.chosen(t), x, y)) for half in halves(f)]


@claim(
    examples=STEEP,
    place="Appendix A.1, Eq. 15",
    printed="0 <= [x - y; x^1 - y^1]' [[rho_1 I, 0], [0, -W^11' W^11]] [x - y; x^1 - y^1]",
)
def eq15(f: Imlp, x: Tensor, y: Tensor, t: Tensor) -> Sides:
    """For a rho with M(rho, T) <= 0, the form of diag(rho I, -W^11' W^11) in the differences is never negative."""
    vs = [(half, changes(half, x, y)) for half in halves(f)]
    return [below(0.0, v @ eq15_matrix(half, half.rho(diag(half.chosen(t)))) @ v) for half, v in vs]


@claim(
    examples=STEEP,
    place="Appendix A.1, Eq. 16",
    printed="(x^1 - y^1)' W^11' W^11 (x^1 - y^1) <= rho_1 (x - y)' (x - y)",
)
def eq16(f: Imlp, x: Tensor, y: Tensor, t: Tensor) -> Sides:
    """Multiplied out, the change of W^11 x^1 is at most rho_1 times that of x, in squared norms."""
    sides = []
    for half in halves(f):
        change, rho = half.x1(x) - half.x1(y), half.rho(diag(half.chosen(t)))
        sides.append(below(change @ half.W1.T @ half.W1 @ change, rho * (x - y) @ (x - y)))
    return sides


@claim(
    place="Appendix A.1, before Eq. 17",
    printed="Recall that g(x) = W^11 x^1 + b^1",
    nearest="eq17_g_corrected",
    examples=[{"f": of_ones(amlp(1, 1, 1)), "x": tensor([0.0]), "b11": tensor([0.0])}],
)
def eq17_g(f: Imlp, x: Tensor, b11: Tensor) -> Sides:
    """The proof recalls g with the whole bias of f, g(x) = W^11 x^1 + b^1; Eq. 12 defined it with b^11."""
    (first, _), (_, _, _, b1) = halves(f), layers(f)
    return first(x) + b11, first.W1 @ first.x1(x) + b1


@claim(place="Appendix A.1, before Eq. 17", corrected="g(x) = W^11 x^1 + b^11, g(x) - g(y) = W^11 (x^1 - y^1)")
def eq17_g_corrected(f: Imlp, x: Tensor, y: Tensor, b11: Tensor) -> Sides:
    """g has the bias b^11 of its own; a difference of two of its values has none."""
    first, _ = halves(f)
    return (first(x) + b11) - (first(y) + b11), first.W1 @ (first.x1(x) - first.x1(y))


@claim(
    place="Appendix A.1, Eq. 17, 18 and 20",
    printed="||g(x) - g(y)||_2 <= sqrt(rho_1) ||x - y||_2 for all x, y in R^n",
    nearest="eq17",
    examples=[{"f": of_ones(amlp(1, 2, 1)), "x": tensor([0.0])}],
)
def eq17_domain(f: Imlp, x: Tensor) -> Sides:
    """The inputs x and y of Eq. 17, 18 and 20 are in R^n, where n is the number of hidden units (x^1 is in R^n)."""
    first, _ = halves(f)
    return len(x), len(first.x1(x))


@claim(
    examples=STEEP,
    place="Appendix A.1, Eq. 17",
    corrected="||g(x) - g(y)||_2 <= sqrt(rho_1) ||x - y||_2 for all x, y in R^{n_0}",
)
def eq17(f: Imlp, x: Tensor, y: Tensor, t: Tensor) -> Sides:
    """For inputs in R^{n_0}, g changes by at most sqrt(rho_1) times as much as its input."""
    g, _ = halves(f)
    return below(norm(g(x) - g(y)), sqrt(g.rho(diag(g.chosen(t)))) * norm(x - y))


@claim(
    examples=STEEP,
    place="Appendix A.1, Eq. 18",
    corrected="||h(x) - h(y)||_2 <= sqrt(rho_2) ||x - y||_2 for all x, y in R^{n_0}",
)
def eq18(f: Imlp, x: Tensor, y: Tensor, t: Tensor) -> Sides:
    """For inputs in R^{n_0}, h changes by at most sqrt(rho_2) times as much as its input."""
    _, h = halves(f)
    return below(norm(h(x) - h(y)), sqrt(h.rho(diag(h.chosen(t)))) * norm(x - y))


def both_changes(f: Imlp, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return g(x) - g(y) and h(x) - h(y)."""
    g, h = halves(f)
    return g(x) - g(y), h(x) - h(y)


@claim(
    place="Appendix A.1, Eq. 19",
    printed="||f(x) - f(y)||^2 = ||g(x) - g(y)||^2 + ||h(x) - h(y)||^2 + 2 (g(x) - g(y))' (h(x) - h(y))",
)
def eq19_expansion(f: Imlp, x: Tensor, y: Tensor) -> Sides:
    """The squared norm of a sum is the sum of the squared norms and twice the inner product."""
    dg, dh = both_changes(f, x, y)
    return norm(f(x) - f(y)) ** 2, norm(dg) ** 2 + norm(dh) ** 2 + 2 * dg @ dh


@claim(
    examples=STEEP_INPUTS,
    place="Appendix A.1, Eq. 19",
    printed="... + 2 (g(x) - g(y))' (h(x) - h(y)) <= ... + 2 ||g(x) - g(y)||_2 ||h(x) - h(y)||_2",
)
def eq19_cauchy_schwarz(f: Imlp, x: Tensor, y: Tensor) -> Sides:
    """The inner product of the changes of g and h is at most the product of their norms."""
    dg, dh = both_changes(f, x, y)
    squares = norm(dg) ** 2 + norm(dh) ** 2
    return below(squares + 2 * dg @ dh, squares + 2 * norm(dg) * norm(dh))


def rhos(f: Imlp, t: Tensor) -> tuple[float, float]:
    """Return rho_1 and rho_2, each with a T of its own."""
    g, h = halves(f)
    return g.rho(diag(g.chosen(t))), h.rho(diag(h.chosen(t)))


@claim(
    examples=STEEP,
    place="Appendix A.1, Eq. 19",
    printed="||g(x) - g(y)||^2 + ||h(x) - h(y)||^2 + 2 ||g(x) - g(y)|| ||h(x) - h(y)|| <= rho_1 ||x - y||^2 + rho_2 "
    "||x - y||^2 + 2 sqrt(rho_1 rho_2) ||x - y||^2",
)
def eq19_bounds(f: Imlp, x: Tensor, y: Tensor, t: Tensor) -> Sides:
    """With Eq. 17 and 18 the sum is at most rho_1 + rho_2 + 2 sqrt(rho_1 rho_2) times the squared change of the
    input.
    """
    (dg, dh), (rho_1, rho_2), square = both_changes(f, x, y), rhos(f, t), norm(x - y) ** 2
    left = norm(dg) ** 2 + norm(dh) ** 2 + 2 * norm(dg) * norm(dh)
    return below(left, rho_1 * square + rho_2 * square + 2 * sqrt(rho_1 * rho_2) * square)


@claim(
    examples=STEEP,
    place="Appendix A.1, Eq. 19",
    printed="rho_1 ||x - y||^2 + rho_2 ||x - y||^2 + 2 sqrt(rho_1 rho_2) ||x - y||^2 = (sqrt(rho_1) + sqrt(rho_2))^2 "
    "||x - y||^2",
)
def eq19_square(f: Imlp, x: Tensor, y: Tensor, t: Tensor) -> Sides:
    """The three terms are the square of the sum of the roots."""
    (rho_1, rho_2), square = rhos(f, t), norm(x - y) ** 2
    left = rho_1 * square + rho_2 * square + 2 * sqrt(rho_1 * rho_2) * square
    return left, (sqrt(rho_1) + sqrt(rho_2)) ** 2 * square


@claim(
    examples=STEEP,
    place="Sec. 4.2, Theorem 1 and Eq. 9; Appendix A.1, Eq. 20",
    printed="M(rho_i, T) <= 0, i in {1, 2}, then ||f(x) - f(y)||_2 <= (sqrt(rho_1) + sqrt(rho_2)) ||x - y||_2 for all "
    "x, y in R^{n_0}",
)
def theorem1(f: Imlp, x: Tensor, y: Tensor, t: Tensor) -> Sides:
    """Whatever rho_1, rho_2 and T make both matrix inequalities true, f changes by at most sqrt(rho_1) + sqrt(rho_2)
    times as much as its input: the theorem, and Eq. 20, of the package's module.

    The rhos are proven in exact fractions, not taken from a solver; T is the same in both inequalities. Some of the
    examples rise nearly as steeply as the module can.
    """
    g, h = halves(f)
    one_T = diag(torch.maximum(g.chosen(t), h.chosen(t)))
    return below(norm(f(x) - f(y)), (sqrt(g.rho(one_T)) + sqrt(h.rho(one_T))) * norm(x - y))


@claim(
    examples=STEEP,
    place="Sec. 4.2, Theorem 1 and Eq. 9; Appendix A.1, Eq. 20",
    corrected="M(rho_i, T_i) <= 0, i in {1, 2}, then ||f(x) - f(y)||_2 <= (sqrt(rho_1) + sqrt(rho_2)) ||x - y||_2 for "
    "all x, y in R^{n_0}",
)
def theorem1_own_t(f: Imlp, x: Tensor, y: Tensor, t: Tensor) -> Sides:
    """The theorem holds as well where each inequality has a T of its own, which bounds f more closely."""
    rho_1, rho_2 = rhos(f, t)
    return below(norm(f(x) - f(y)), (sqrt(rho_1) + sqrt(rho_2)) * norm(x - y))
