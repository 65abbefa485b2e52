"""Sec. 3.3, tMLP: a Toeplitz matrix in the spatial gating unit."""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.rounded import total
from imlp_audit.equations.strategies import nonzero
from imlp_audit.models.gmlp import ToeplitzProjection, TokenProjection

from ._toeplitz import Shift, Words, shifted, shifts_inside, units


@claim(st.integers(1, 3).flatmap(units), proof=Proof("all numbers", Words.sizes))
def tmlp_convolution(case: Words, arithmetic: Arithmetic) -> Trial:
    """With a Toeplitz W, f(Z) is a one-dimensional convolution of each channel, zeros beyond its ends, plus b.

    Read as: W_{ij} = w_{i-j}, so f(Z)_{ic} = sum_j w_{i-j} Z_{jc} + b; held against the product unit and the split one.

    Place: Sec. 3.3, definition of tMLP
    Printed: gMLP всегда выучивает матрицу W в функции f(.) (SGU) подобной Тёплицевой матрице. [...] модель с этим
        ограничением именуется как tMLP.
    Bound: gamma_{S+2} times the sum of the magnitudes
    """
    # Hold the package's unit against the convolution written out.
    return equal(case.s(arithmetic), case.printed(arithmetic), **case.shown())


@claim(st.integers(2, 128))
def tmlp_fewer_weights(tokens: int, arithmetic: Arithmetic) -> Trial:
    """A Toeplitz W takes far fewer trained weights than a full one.

    Read as: 2S - 1 instead of S^2, fewer than 2/S of them, for every S of two tokens or more; those of W alone.

    Place: Sec. 3.3, paragraph that introduces tMLP
    Printed: ограничение на тёплицевость позволяет существенно сократить количество обучаемых параметров
    Bound: none: numbers of parameters
    """
    # Count the weights of the package's projections.
    full, toeplitz = TokenProjection(tokens).weight.numel(), ToeplitzProjection(tokens).weight.numel()
    counts = full == tokens**2 and toeplitz == 2 * tokens - 1
    shown = {"S": tokens, "weights of a full W": full, "of a Toeplitz W": toeplitz}
    return Trial(counts and toeplitz < full and toeplitz * tokens < 2 * full, shown)


@claim(shifts_inside())
def tmlp_shift_equivariance(case: Shift, arithmetic: Arithmetic) -> Trial:
    """A Toeplitz W makes a unit that multiplies equivariant to shifts of words towards the end: s(Z) moves with the
    words.

    Exactly so where there are zeros after the words, so that none of them falls out, and b is the same for all tokens.
    (The linear unit of Table 6 is not: its bias does not move.)

    Place: Sec. 3.3, paragraph that introduces tMLP
    Corrected: s(T Z) = T s(Z) for s(Z) = Z * f(Z) or Z_1 * f(Z_2), a shift T of the tokens, W_{ij} = w_{i-j}, b_i = b,
        and Z zero where T moves tokens out
    Bound: gamma_{S+2} times the sum of the magnitudes
    """
    # Hold the unit's output for moved words against its moved output for the words.
    words = case.words
    moved = words.moved_to(shifted(words.z, case.by))
    s = words.printed(arithmetic)
    nothing = [[arithmetic.number(0)] * len(s[0])] * case.by
    return equal(moved.s(arithmetic), [*nothing, *s][: len(s)], **words.shown(), **{"Z shifted": moved.z})


@claim(st.integers(2, 3).flatmap(lambda tokens: units(tokens, nonzero())))
def tmlp_shift_equivariance_at_ends(case: Words, arithmetic: Arithmetic) -> Trial:
    """A Toeplitz W makes s(Z) move with the words of Z, whatever words fall out at the end of the text.

    Read as: s(T Z) = T s(Z) for a shift T by one token, any Z without zeros, one b for all tokens; T leaves zeros in
    front.

    Place: Sec. 3.3, paragraph that introduces tMLP
    Printed: Это позволяет быть модели инвариантной к сдвигам слов.
    Nearest: tmlp_shift_equivariance
    Bound: gamma_{S+2} times the sum of the magnitudes
    """
    # Hold the unit's output for moved words against its moved output for the words.
    moved = case.moved_to(shifted(case.z, 1))
    s = case.printed(arithmetic)
    nothing = [[arithmetic.number(0)] * len(s[0])]
    return equal(moved.s(arithmetic), [*nothing, *s[:-1]], **case.shown(), **{"Z shifted": moved.z})


def _around(words: Words) -> Words:
    """Take w_0, ..., w_{S-1} for the negative indices too."""
    from_zero = words.w[len(words.z) - 1 :]
    return replace(words, w=from_zero[1:] + from_zero)


@claim(st.integers(1, 3).flatmap(units).map(_around), proof=Proof("all numbers", Words.sizes))
def tmlp_circulant_equivariance(case: Words, arithmetic: Arithmetic) -> Trial:
    """A Toeplitz W that goes around, w_{k-S} = w_k, makes s(Z) move with any Z whose tokens go around, no zeros needed.

    Place: Sec. 3.3, paragraph that introduces tMLP
    Corrected: s(T Z) = T s(Z) for a circular shift T of the tokens, W_{ij} = w_{i-j}, w_{k-S} = w_k, b_i = b
    Bound: gamma_{S+2} times the sum of the magnitudes
    """
    # Hold the unit's output for rotated tokens against its rotated output.
    moved = case.moved_to((case.z[-1], *case.z[:-1]))
    s = case.printed(arithmetic)
    return equal(moved.s(arithmetic), [s[-1], *s[:-1]], **case.shown(), **{"Z shifted": moved.z})


@claim(shifts_inside(nonzero()))
def tmlp_shift_invariance(case: Shift, arithmetic: Arithmetic) -> Trial:
    """A Toeplitz W makes the unit invariant to shifts of words: s(Z) stays as it is when the words of Z move.

    Read as: word for word, invariant, and in the most favourable case: zeros around the words, none of which falls out,
    and one b for all tokens.

    Place: Sec. 3.3, paragraph that introduces tMLP
    Printed: Это позволяет быть модели инвариантной к сдвигам слов.
    Nearest: tmlp_shift_equivariance
    Bound: gamma_{S+2} times the sum of the magnitudes
    """
    # Hold the unit's output for moved words against its output for the words.
    words = case.words
    moved = words.moved_to(shifted(words.z, case.by))
    shown = {**words.shown(), "Z shifted": moved.z}
    return equal(moved.s(arithmetic), words.printed(arithmetic), **shown)


@claim(shifts_inside())
def tmlp_pooled_shift_invariance(case: Shift, arithmetic: Arithmetic) -> Trial:
    """With a Toeplitz W, the sum of s(Z) over the tokens is invariant to shifts of words, for a unit that multiplies.

    Exactly so where there are zeros around the words, none of them falls out, and b is the same for all tokens.

    Place: Sec. 3.3, paragraph that introduces tMLP
    Corrected: sum_i s(T Z)_{ic} = sum_i s(Z)_{ic} for a shift T of the tokens, W_{ij} = w_{i-j}, b_i = b, and Z zero
        where T moves tokens out
    Bound: gamma_{2S+1} times the sum of the magnitudes
    """
    # Hold the sum of the unit's output for moved words against that for the words.
    words = case.words
    moved = words.moved_to(shifted(words.z, case.by))
    pooled = [total(column) for column in zip(*words.printed(arithmetic), strict=True)]
    return equal(moved.s(arithmetic).sum(dim=0), pooled, **words.shown(), **{"Z shifted": moved.z})
