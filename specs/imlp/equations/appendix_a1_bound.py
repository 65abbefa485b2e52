"""Appendix A.1, Eq. 17 to 20, and Theorem 1: the bound on the Lipschitz constant."""

from __future__ import annotations

import numpy as np

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, at_most, claim, equal
from imlp_audit.equations.lipschitz.branches import Branch
from imlp_audit.equations.lipschitz.certificate import Solver, bound, certify, minimise_rho
from imlp_audit.equations.lipschitz.estimate import largest_gradient, product_of_norms
from imlp_audit.equations.matrix import dot

from ._theorem import Half, Module, affine, modules, modules_of, norm


@claim(modules_of(1, 1, 1))
def eq17_g(case: Module, arithmetic: Arithmetic) -> Trial:
    """The proof recalls g with the whole bias of f, g(x) = W^11 x^1 + b^1; Eq. 12 defined it with b^11.

    Place: Appendix A.1, before Eq. 17
    Printed: Recall that g(x) = W^11 x^1 + b^1
    Nearest: eq17_g_corrected
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Hold g of Eq. 12 against W^11 x^1 + b^1, with b^1 = b^11 + b^12.
    first, second = case.halves
    b1 = tuple(a + b for a, b in zip(first.b1, second.b1, strict=True))
    recalled = affine(first.w1, case.activated(0, case.x, arithmetic), b1)
    return equal(case.part(0, case.x, arithmetic), recalled, **{"b^11": first.b1, "b^12": second.b1})


@claim(modules())
def eq17_g_corrected(case: Module, arithmetic: Arithmetic) -> Trial:
    """g has the bias b^11 of its own; a difference of two of its values has none.

    Place: Appendix A.1, before Eq. 17
    Corrected: g(x) = W^11 x^1 + b^11, g(x) - g(y) = W^11 (x^1 - y^1)
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Hold the change of g against that of W^11 x^1.
    w1 = arithmetic.matrix(case.halves[0].w1)
    weighted = w1 @ case.change_of_activated(0, arithmetic)
    return equal(case.change_in(0, arithmetic), weighted, **case.shown())


@claim(modules())
def eq17_domain(case: Module, arithmetic: Arithmetic) -> Trial:
    """The inputs x and y of Eq. 17, 18 and 20 are in R^n, where n is the number of hidden units (x^1 is in R^n).

    Place: Appendix A.1, Eq. 17, 18 and 20
    Printed: ||g(x) - g(y)||_2 <= sqrt(rho_1) ||x - y||_2 for all x, y in R^n
    Nearest: eq17
    Bound: none: dimensions are counted
    """
    # Compare the dimension of the inputs that W^0 takes with that of x^1.
    hidden, width = len(case.activated(0, case.x, arithmetic)), len(case.w0[0])
    return Trial(width == hidden, {"W^0": case.w0, "n (of x^1)": hidden, "n_0 (what W^0 takes)": width})


@claim(modules())
def eq17(case: Module, arithmetic: Arithmetic) -> Trial:
    """For inputs in R^{n_0}, g changes by at most sqrt(rho_1) times as much as its input.

    Place: Appendix A.1, Eq. 17
    Corrected: ||g(x) - g(y)||_2 <= sqrt(rho_1) ||x - y||_2 for all x, y in R^{n_0}
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge the inequality with a proven rho.
    root = arithmetic.number(case.certificates[0].rho).square_root()
    change = norm(case.change_in(0, arithmetic))
    return at_most(change, root * norm(case.change_of_input(arithmetic)), **case.shown())


@claim(modules())
def eq18(case: Module, arithmetic: Arithmetic) -> Trial:
    """For inputs in R^{n_0}, h changes by at most sqrt(rho_2) times as much as its input.

    Place: Appendix A.1, Eq. 18
    Corrected: ||h(x) - h(y)||_2 <= sqrt(rho_2) ||x - y||_2 for all x, y in R^{n_0}
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge the inequality with a proven rho.
    root = arithmetic.number(case.certificates[1].rho).square_root()
    change = norm(case.change_in(1, arithmetic))
    return at_most(change, root * norm(case.change_of_input(arithmetic)), **case.shown())


@claim(modules())
def eq19_square(case: Module, arithmetic: Arithmetic) -> Trial:
    """The three terms are the square of the sum of the roots.

    Place: Appendix A.1, Eq. 19
    Printed: rho_1 ||x - y||^2 + rho_2 ||x - y||^2 + 2 sqrt(rho_1 rho_2) ||x - y||^2 = (sqrt(rho_1) + sqrt(rho_2))^2 ||x
        - y||^2
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge this line of Eq. 19.
    first, second = (arithmetic.number(certificate.rho) for certificate in case.certificates)
    inputs = case.change_of_input(arithmetic)
    square = dot(inputs, inputs)
    root = first.square_root() + second.square_root()
    left = first * square + second * square + 2 * ((first * second).square_root() * square)
    return equal(left, root * root * square, **case.shown())


@claim(modules())
def eq19_expansion(case: Module, arithmetic: Arithmetic) -> Trial:
    """The squared norm of a sum is the sum of the squared norms and twice the inner product.

    Place: Appendix A.1, Eq. 19
    Printed: ||f(x) - f(y)||^2 = ||g(x) - g(y)||^2 + ||h(x) - h(y)||^2 + 2 (g(x) - g(y))' (h(x) - h(y))
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge this line of Eq. 19.
    g, h = (case.change_in(i, arithmetic) for i in (0, 1))
    both = [g_i + h_i for g_i, h_i in zip(g, h, strict=True)]
    return equal(dot(both, both), dot(g, g) + dot(h, h) + 2 * dot(g, h), **case.shown())


@claim(modules())
def eq19_cauchy_schwarz(case: Module, arithmetic: Arithmetic) -> Trial:
    """The inner product of the changes of g and h is at most the product of their norms.

    Place: Appendix A.1, Eq. 19
    Printed: ... + 2 (g(x) - g(y))' (h(x) - h(y)) <= ... + 2 ||g(x) - g(y)||_2 ||h(x) - h(y)||_2
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge this line of Eq. 19.
    g, h = (case.change_in(i, arithmetic) for i in (0, 1))
    left = dot(g, g) + dot(h, h) + 2 * dot(g, h)
    return at_most(left, dot(g, g) + dot(h, h) + 2 * (norm(g) * norm(h)), **case.shown())


@claim(modules())
def eq19_bounds(case: Module, arithmetic: Arithmetic) -> Trial:
    """With Eq. 17 and 18 the sum is at most rho_1 + rho_2 + 2 sqrt(rho_1 rho_2) times the squared change of the input.

    Place: Appendix A.1, Eq. 19
    Printed: ||g(x) - g(y)||^2 + ||h(x) - h(y)||^2 + 2 ||g(x) - g(y)|| ||h(x) - h(y)|| <= rho_1 ||x - y||^2 + rho_2 ||x
        - y||^2 + 2 sqrt(rho_1 rho_2) ||x - y||^2
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge this line of Eq. 19.
    g, h = (case.change_in(i, arithmetic) for i in (0, 1))
    first, second = (arithmetic.number(certificate.rho) for certificate in case.certificates)
    inputs = case.change_of_input(arithmetic)
    square = dot(inputs, inputs)
    right = first * square + second * square + 2 * ((first * second).square_root() * square)
    return at_most(dot(g, g) + dot(h, h) + 2 * (norm(g) * norm(h)), right, **case.shown())


@claim(modules())
def theorem1(case: Module, arithmetic: Arithmetic) -> Trial:
    """Whatever rho_1, rho_2 and T make both matrix inequalities true, f changes by at most sqrt(rho_1) + sqrt(rho_2)
    times as much as its input: the theorem, and Eq. 20. The pairs are found for random T, and proven by a Cholesky
    factorisation with a margin for rounding, not taken from a solver.

    Place: Sec. 4.2, Theorem 1 and Eq. 9; Appendix A.1, Eq. 20
    Printed: M(rho_i, T) <= 0, i in {1, 2}, then ||f(x) - f(y)||_2 <= (sqrt(rho_1) + sqrt(rho_2)) ||x - y||_2 for all x,
        y in R^{n_0}
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge the inequality with proven rhos.
    g, h = (case.change_in(i, arithmetic) for i in (0, 1))
    first, second = (arithmetic.number(certificate.rho).square_root() for certificate in case.certificates)
    change = norm([g_i + h_i for g_i, h_i in zip(g, h, strict=True)])
    return at_most(change, (first + second) * norm(case.change_of_input(arithmetic)), **case.shown())


@claim(modules(), share=0.1)
def theorem1_optimum(case: Module, arithmetic: Arithmetic) -> Trial:
    """The semidefinite program of Theorem 1 gives a bound that is never above the product of the spectral norms and
    GeLU's steepest slope, branch by branch, and never below the largest gradient norm of the module. What the solver
    proposes is proven by a Cholesky factorisation with a margin for rounding; its own status proves nothing.

    Read as: each of the two inequalities has a T of its own, which is all that the proof needs. With one T for both, as
    the letter of the theorem has it, sqrt(rho_1) + sqrt(rho_2) is no semi-definite program's objective, and its least
    value may be above the product of norms (W^0 = 1, W^11 = 1, W^12 = 1/4: 1.94 against 1.41).

    Place: Sec. 4.2, after Theorem 1
    Printed: Theorem 1 gives an upper bound of L(f) = sqrt(rho_1) + sqrt(rho_2) on the Lipschitz constant of the AMLP
        module; it can be treated as a semi-definite program which can be solved numerically to derive its global
        minimum
    Bound: of the product of norms, 1e-4: no rounding bound but how far a solver's proposal may be from the optimum, so
        that only the comparison with the product rests on it; of the gradient, 1e-14: sums of at most 6 products
    Needs: a semidefinite program
    """
    # Solve both programs, prove them, and hold the bound against the gradient and the norms.
    first, second = (_branch(case, half) for half in case.halves)
    one, other = (certify(branch, minimise_rho(branch, Solver.CLARABEL)) for branch in (first, second))
    if one is None or other is None:
        return Trial(False, {**case.shown(), "proven": "nothing"})
    found = bound((one, other))
    product = product_of_norms(first) + product_of_norms(second)
    gradient = largest_gradient((first, second), [np.array(case.x), np.array(case.y)])
    holds = gradient <= found + 1e-14 * product and found <= product * (1 + 1e-4)
    return Trial(holds, {**case.shown(), "gradient": gradient, "bound": found, "product of norms": product})


def _branch(case: Module, half: Half) -> Branch:
    """Return a half with the coefficients of its AGeLU as part of the weights, so that phi is GeLU."""
    (alpha,), (beta,), (gamma,) = half.phi.alpha, half.phi.beta, half.phi.gamma
    w0, b0 = np.array(case.w0), np.array(case.b0)
    return Branch(inner=alpha * w0, shift=alpha * b0 + gamma, outer=beta * np.array(half.w1))
