"""Appendix A.1, Eq. 11 to 16: the module of Theorem 1 and its quadratic forms."""

from __future__ import annotations

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, at_most, claim, equal
from imlp_audit.equations.lipschitz.certificate import Certificate
from imlp_audit.equations.matrix import dot

from ._theorem import Module, affine, any_modules, diagonal, difference, first_false, form, lemma1_blocks, modules
from ._theorem_proof import EQ13, EQ14, EQ15, LEMMA1_AT_HIDDEN, both, judge_16

_IDENTITY = Proof("all numbers and any phi", Module.sizes, cases=any_modules())


@claim(modules(), proof=_IDENTITY)
def eq11_module(case: Module, arithmetic: Arithmetic) -> Trial:
    """The AMLP module that is built here, with biases, is the function of Theorem 1 and Eq. 11.

    Place: Appendix A.1, Eq. 11; Theorem 1
    Printed: f(x) = W^1 concat(phi_1(W^0 x + b^0), phi_2(W^0 x + b^0)) + b^1
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Run the module on x, and hold it against the printed formula with b^1 = b^11.
    first, second = case.halves
    concat = [*case.printed(0, case.x, arithmetic), *case.printed(1, case.x, arithmetic)]
    w1 = [a + b for a, b in zip(first.w1, second.w1, strict=True)]
    return equal(
        case.built(w1, arithmetic)(arithmetic.tensor([case.x]))[0], affine(w1, concat, first.b1), **case.shown()
    )


@claim(modules())
def eq12_biases(case: Module, arithmetic: Arithmetic) -> Trial:
    """Splitting f into g + h splits b^1 into the two blocks [b^11 b^12], one added in each branch. Every branch has as
    many outputs as f, so each block has as many entries as b^1 itself.

    Place: Appendix A.1, Eq. 12
    Printed: f(x) = g(x) + h(x) = (W^11 phi_1(W^0 x + b^0) + b^11) + (W^12 phi_2(W^0 x + b^0) + b^12), b^1 = [b^11 b^12]
    Nearest: eq12_biases_corrected
    Bound: none: entries are counted
    """
    # Compare how many entries the bias of f has with how many its two blocks have.
    outputs = len(case.part(0, case.x, arithmetic))
    blocks = sum(len(half.b1) for half in case.halves)
    shown = {"outputs of f": outputs, "entries of b^1": outputs, "entries of [b^11 b^12]": blocks}
    return Trial(blocks == outputs, shown)


@claim(modules(), proof=_IDENTITY)
def eq12_biases_corrected(case: Module, arithmetic: Arithmetic) -> Trial:
    """f is the sum of both branches exactly when b^1 is the sum of their biases; the columns of W^1 are split between
    them.

    Place: Appendix A.1, Eq. 12
    Corrected: f(x) = (W^11 phi_1(W^0 x + b^0) + b^11) + (W^12 phi_2(W^0 x + b^0) + b^12), W^1 = [W^11 W^12], b^1 = b^11
        + b^12
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Hold Eq. 11 against g + h.
    first, second = case.halves
    concat = [*case.activated(0, case.x, arithmetic), *case.activated(1, case.x, arithmetic)]
    w1 = [a + b for a, b in zip(first.w1, second.w1, strict=True)]
    b1 = tuple(a + b for a, b in zip(first.b1, second.b1, strict=True))
    branches = [case.part(i, case.x, arithmetic) for i in (0, 1)]
    return equal(affine(w1, concat, b1), [g + h for g, h in zip(*branches, strict=True)], **case.shown())


@claim(modules(), proof=LEMMA1_AT_HIDDEN)
def lemma1_at_hidden(case: Module, arithmetic: Arithmetic) -> Trial:
    """Lemma 1 holds for the differences that the proof puts into it: of the hidden units before and after phi_1 (and
    phi_2).

    Place: Appendix A.1, the display before Eq. 13
    Printed: [(W^0 x + b^0) - (W^0 y + b^0); x^1 - y^1]' [[-2 p_1 q_1 T, (p_1 + q_1) T], [(p_1 + q_1) T, -2 T]] [...] >=
        0
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge both halves.
    return first_false(_lemma1_of_half(case, i, arithmetic) for i in (0, 1))


def _lemma1_of_half(case: Module, i: int, arithmetic: Arithmetic) -> Trial:
    half = case.halves[i]
    p, q, t = half.slopes.low, half.slopes.high, diagonal(half.t, arithmetic)
    before = difference(case.hidden(case.x, arithmetic), case.hidden(case.y, arithmetic))
    found = form(lemma1_blocks(t, p, q), [*before, *case.change_of_activated(i, arithmetic)])
    return at_most(arithmetic.number(0), found, **case.shown())


@claim(modules(), proof=EQ13)
def eq13(case: Module, arithmetic: Arithmetic) -> Trial:
    """Written in x - y, with W^0 moved into the matrix, the same form is never negative.

    Place: Appendix A.1, Eq. 13
    Printed: [x - y; x^1 - y^1]' [[-2 p_1 q_1 W^0' T W^0, (p_1 + q_1) W^0' T], [(p_1 + q_1) T W^0, -2 T]] [x - y; x^1 -
        y^1] >= 0
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge both halves.
    return first_false(_eq13_of_half(case, i, arithmetic) for i in (0, 1))


def _eq13_of_half(case: Module, i: int, arithmetic: Arithmetic) -> Trial:
    found = form(case.blocks_of_13(i, arithmetic), case.changes(i, arithmetic))
    return at_most(arithmetic.number(0), found, **case.shown())


@claim(modules(), proof=EQ14)
def eq14(case: Module, arithmetic: Arithmetic) -> Trial:
    """For rho_1, rho_2 and one T with M(rho_i, T) <= 0 for both i, the form of Eq. 13 is at most that of diag(rho_i I,
    -W^1i' W^1i).

    Place: Appendix A.1, Eq. 14
    Printed: [x - y; x^1 - y^1]' [[-2 p_1 q_1 W^0' T W^0, (p_1 + q_1) W^0' T], [(p_1 + q_1) T W^0, -2 T]] [...] <= [x -
        y; x^1 - y^1]' [[rho_1 I, 0], [0, -W^11' W^11]] [...]
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge both halves.
    return first_false(_eq14_of_half(case, i, case.one_t[i], arithmetic) for i in (0, 1))


@claim(modules(), proof=EQ14)
def eq14_own_t(case: Module, arithmetic: Arithmetic) -> Trial:
    """Eq. 14 holds for each half with a T_i of its own, which is all that the proof needs.

    Place: Appendix A.1, Eq. 14
    Corrected: with M(rho_i, T_i) <= 0, [x - y; x^i - y^i]' [[-2 p_i q_i W^0' T_i W^0, (p_i + q_i) W^0' T_i], [(p_i +
        q_i) T_i W^0, -2 T_i]] [...] <= [x - y; x^i - y^i]' [[rho_i I, 0], [0, -W^1i' W^1i]] [...], i in {1, 2}
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge both halves.
    return first_false(_eq14_of_half(case, i, case.own_ts[i], arithmetic) for i in (0, 1))


def _eq14_of_half(case: Module, i: int, proven: Certificate, arithmetic: Arithmetic) -> Trial:
    changes = case.changes(i, arithmetic)
    left = form(case.blocks_of_13(i, arithmetic, proven.t.tolist()), changes)
    return at_most(left, form(case.blocks_of_15(i, arithmetic, proven.rho), changes), **case.shown())


@claim(modules(), proof=EQ15)
def eq15(case: Module, arithmetic: Arithmetic) -> Trial:
    """For a rho with M(rho, T) <= 0, the form of diag(rho I, -W^11' W^11) in the differences is never negative.

    Place: Appendix A.1, Eq. 15
    Printed: 0 <= [x - y; x^1 - y^1]' [[rho_1 I, 0], [0, -W^11' W^11]] [x - y; x^1 - y^1]
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge both halves.
    return first_false(_eq15_of_half(case, i, arithmetic) for i in (0, 1))


def _eq15_of_half(case: Module, i: int, arithmetic: Arithmetic) -> Trial:
    found = form(case.blocks_of_15(i, arithmetic, case.own_ts[i].rho), case.changes(i, arithmetic))
    return at_most(arithmetic.number(0), found, **case.shown())


@claim(modules(), proof=both(judge_16))
def eq16(case: Module, arithmetic: Arithmetic) -> Trial:
    """Multiplied out, the change of W^11 x^1 is at most rho_1 times that of x, in squared norms.

    Place: Appendix A.1, Eq. 16
    Printed: (x^1 - y^1)' W^11' W^11 (x^1 - y^1) <= rho_1 (x - y)' (x - y)
    Bound: the running error bound of both sides (rounded.py): gamma of the steps of each term, times its magnitude
    """
    # Judge both halves.
    return first_false(_eq16_of_half(case, i, arithmetic) for i in (0, 1))


def _eq16_of_half(case: Module, i: int, arithmetic: Arithmetic) -> Trial:
    w1, rho = arithmetic.matrix(case.halves[i].w1), case.own_ts[i].rho
    weighted = w1 @ case.change_of_activated(i, arithmetic)
    inputs = case.change_of_input(arithmetic)
    return at_most(dot(weighted, weighted), rho * dot(inputs, inputs), **case.shown())
