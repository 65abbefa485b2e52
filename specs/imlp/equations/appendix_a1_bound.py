"""Appendix A.1, Eq. 17 to 20, and Theorem 1: the bound on the Lipschitz constant."""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, at_most, claim, equal
from imlp_audit.equations.lipschitz.certificate import Certificate
from imlp_audit.equations.matrix import dot

from ._theorem import Module, affine, any_modules, modules, modules_of, norm
from ._theorem_proof import judge_17, judge_cauchy_schwarz, judge_eq19_bounds, judge_square, judge_theorem, whole

_IDENTITY = Proof("all numbers and any phi", Module.sizes, cases=any_modules())


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


@claim(modules(), proof=_IDENTITY)
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


@claim(modules(), proof=whole(lambda case, arithmetic: judge_17(case, 0, arithmetic)))
def eq17(case: Module, arithmetic: Arithmetic) -> Trial:
    """For inputs in R^{n_0}, g changes by at most sqrt(rho_1) times as much as its input.

    Place: Appendix A.1, Eq. 17
    Corrected: ||g(x) - g(y)||_2 <= sqrt(rho_1) ||x - y||_2 for all x, y in R^{n_0}
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge the inequality with a proven rho.
    root = arithmetic.number(case.own_ts[0].rho).square_root()
    change = norm(case.change_in(0, arithmetic))
    return at_most(change, root * norm(case.change_of_input(arithmetic)), **case.shown())


@claim(modules(), proof=whole(lambda case, arithmetic: judge_17(case, 1, arithmetic)))
def eq18(case: Module, arithmetic: Arithmetic) -> Trial:
    """For inputs in R^{n_0}, h changes by at most sqrt(rho_2) times as much as its input.

    Place: Appendix A.1, Eq. 18
    Corrected: ||h(x) - h(y)||_2 <= sqrt(rho_2) ||x - y||_2 for all x, y in R^{n_0}
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge the inequality with a proven rho.
    root = arithmetic.number(case.own_ts[1].rho).square_root()
    change = norm(case.change_in(1, arithmetic))
    return at_most(change, root * norm(case.change_of_input(arithmetic)), **case.shown())


@claim(modules(), proof=whole(judge_square, "all numbers"))
def eq19_square(case: Module, arithmetic: Arithmetic) -> Trial:
    """The three terms are the square of the sum of the roots.

    Place: Appendix A.1, Eq. 19
    Printed: rho_1 ||x - y||^2 + rho_2 ||x - y||^2 + 2 sqrt(rho_1 rho_2) ||x - y||^2 = (sqrt(rho_1) + sqrt(rho_2))^2 ||x
        - y||^2
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge this line of Eq. 19.
    first, second = (arithmetic.number(certificate.rho) for certificate in case.own_ts)
    inputs = case.change_of_input(arithmetic)
    square = dot(inputs, inputs)
    root = first.square_root() + second.square_root()
    left = first * square + second * square + 2 * ((first * second).square_root() * square)
    return equal(left, root * root * square, **case.shown())


@claim(modules(), proof=_IDENTITY)
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


@claim(modules(), proof=whole(judge_cauchy_schwarz, "all numbers and any phi"))
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


@claim(modules(), proof=whole(judge_eq19_bounds))
def eq19_bounds(case: Module, arithmetic: Arithmetic) -> Trial:
    """With Eq. 17 and 18 the sum is at most rho_1 + rho_2 + 2 sqrt(rho_1 rho_2) times the squared change of the input.

    Place: Appendix A.1, Eq. 19
    Printed: ||g(x) - g(y)||^2 + ||h(x) - h(y)||^2 + 2 ||g(x) - g(y)|| ||h(x) - h(y)|| <= rho_1 ||x - y||^2 + rho_2 ||x
        - y||^2 + 2 sqrt(rho_1 rho_2) ||x - y||^2
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge this line of Eq. 19.
    g, h = (case.change_in(i, arithmetic) for i in (0, 1))
    first, second = (arithmetic.number(certificate.rho) for certificate in case.own_ts)
    inputs = case.change_of_input(arithmetic)
    square = dot(inputs, inputs)
    right = first * square + second * square + 2 * ((first * second).square_root() * square)
    return at_most(dot(g, g) + dot(h, h) + 2 * (norm(g) * norm(h)), right, **case.shown())


@claim(modules(), proof=whole(judge_theorem))
def theorem1(case: Module, arithmetic: Arithmetic) -> Trial:
    """Whatever rho_1, rho_2 and T make both matrix inequalities true, f changes by at most sqrt(rho_1) + sqrt(rho_2)
    times as much as its input: the theorem, and Eq. 20, of the package's module.

    The rhos are proven by a Cholesky factorisation with a margin for rounding, not taken from a solver; T is the same
    in both inequalities. Many of the examples rise nearly as steeply as the module can.

    Place: Sec. 4.2, Theorem 1 and Eq. 9; Appendix A.1, Eq. 20
    Printed: M(rho_i, T) <= 0, i in {1, 2}, then ||f(x) - f(y)||_2 <= (sqrt(rho_1) + sqrt(rho_2)) ||x - y||_2 for all x,
        y in R^{n_0}
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge the inequality with proven rhos.
    return _theorem1(case, case.one_t, arithmetic)


@claim(modules(), proof=whole(judge_theorem))
def theorem1_own_t(case: Module, arithmetic: Arithmetic) -> Trial:
    """The theorem holds as well where each inequality has a T of its own, which bounds f more closely.

    Place: Sec. 4.2, Theorem 1 and Eq. 9; Appendix A.1, Eq. 20
    Corrected: M(rho_i, T_i) <= 0, i in {1, 2}, then ||f(x) - f(y)||_2 <= (sqrt(rho_1) + sqrt(rho_2)) ||x - y||_2 for
        all x, y in R^{n_0}
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge the inequality with proven rhos.
    return _theorem1(case, case.own_ts, arithmetic)


def _theorem1(case: Module, proven: tuple[Certificate, Certificate], arithmetic: Arithmetic) -> Trial:
    first, second = (arithmetic.number(certificate.rho).square_root() for certificate in proven)
    inputs = norm(case.change_of_input(arithmetic))
    return at_most(norm(case.change(arithmetic)), (first + second) * inputs, **case.shown())
