"""Sec. 2, after Eq. 1: Affs that the linear layer next to them absorbs."""

from __future__ import annotations

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.matrix import RoundedMatrix, add
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import matrices, vectors

from ._absorbing import AcrossPatches, PerPatch, across_two_channels, often_absorbed, same_in_all_channels
from ._layer import WIDTHS, CrossPatchCase, affs, batch_of, cross_patches, each_of, matrix_of


@claim(across_two_channels())
def aff_absorbed_by_a_after_it(case: AcrossPatches, arithmetic: Arithmetic) -> Trial:
    """The Aff before A can be absorbed in A: a linear layer across patches, shared by all channels, with a bias for
    each patch, gives what A gives after the Aff. Channel 1 leaves one such layer: its weights are alpha_1 A, its biases
    beta_1 times the sums of A's rows. Tried where beta is zero and no other number is.

    Place: Sec. 2, after Eq. 1, of Eq. 2's A and the Aff before it
    Printed: it has no cost at inference time, since it can absorbed in the adjacent linear layer
    Nearest: aff_absorbed_by_a_after_it_corrected
    Bound: gamma_{N^2+2} times the magnitudes of A's row's products with alpha_1 x and beta_1
    """
    # Hold A of Aff against the one layer that channel 1 leaves.
    apart = matrix_of(case.linear(arithmetic)(case.aff.module(arithmetic)(batch_of(case.x, arithmetic))))
    a, alpha, beta = arithmetic.matrix(case.a), case.aff.alpha[0], case.aff.beta[0]
    weights = a.scale(alpha)
    biases = [beta * total(row) for row in a]
    absorbed = [
        [number + bias for number, bias in zip(weights @ channel, biases, strict=True)]
        for channel in arithmetic.matrix(case.x)
    ]
    return equal(apart, absorbed, **case.shown())


@claim(often_absorbed())
def aff_absorbed_by_a_after_it_corrected(case: AcrossPatches, arithmetic: Arithmetic) -> Trial:
    """The Aff before A can be absorbed in A exactly where all channels have the same alpha, or A is zero, and all
    channels have the same beta, or every row of A sums to zero: A acts on patches and is shared by the channels, alpha
    and beta belong to channels.

    Place: Sec. 2, after Eq. 1, of Eq. 2's A and the Aff before it
    Corrected: A Aff(X)^T = A' X^T + a' for all X, if and only if (alpha_c - alpha_1) A = 0 and (beta_c - beta_1) sum_m
        A_nm = 0 for all c and n
    Bound: none: sums of products of few small integers are exact
    """
    # Hold whether A after Aff is one layer in all channels against the condition.
    apart = case.linear(arithmetic)(case.aff.module(arithmetic)(case.probes(arithmetic)))
    (alpha, other_alpha), (beta, other_beta) = case.aff.alpha, case.aff.beta
    scales_agree = alpha == other_alpha or not any(any(row) for row in case.a)
    shifts_agree = beta == other_beta or not any(sum(row) for row in case.a)
    absorbed = same_in_all_channels(apart)
    return Trial(absorbed == (scales_agree and shifts_agree), {**case.shown(), "absorbed": absorbed})


@claim(across_two_channels())
def aff_absorbed_by_a_before_it(case: AcrossPatches, arithmetic: Arithmetic) -> Trial:
    """The Aff after A can be absorbed in A: a linear layer across patches, shared by all channels, with a bias for each
    patch, gives what the Aff gives after A. Channel 1 leaves one such layer: its weights are alpha_1 A, its biases all
    beta_1. Tried where beta is zero and no other number is.

    Place: Sec. 2, after Eq. 1, of Eq. 2's A and the Aff after it
    Printed: it has no cost at inference time, since it can absorbed in the adjacent linear layer
    Nearest: aff_absorbed_by_a_before_it_corrected
    Bound: gamma_{N^2+2} times the magnitudes of A's row's products with alpha_1 x, and of beta_1
    """
    # Hold Aff of A against the one layer that channel 1 leaves.
    apart = matrix_of(case.aff.module(arithmetic)(case.linear(arithmetic)(batch_of(case.x, arithmetic))))
    alpha, beta = case.aff.alpha[0], case.aff.beta[0]
    weights = arithmetic.matrix(case.a).scale(alpha)
    absorbed = [[number + beta for number in weights @ x] for x in arithmetic.matrix(case.x)]
    return equal(apart, absorbed, **case.shown())


@claim(often_absorbed())
def aff_absorbed_by_a_before_it_corrected(case: AcrossPatches, arithmetic: Arithmetic) -> Trial:
    """The Aff after A can be absorbed in A exactly where all channels have the same alpha, or A is zero, and all
    channels have the same beta: A acts on patches and is shared by the channels, alpha and beta belong to channels.

    Place: Sec. 2, after Eq. 1, of Eq. 2's A and the Aff after it
    Corrected: Aff((A X^T)^T)^T = A' X^T + a' for all X, if and only if (alpha_c - alpha_1) A = 0 and beta_c = beta_1
        for all c
    Bound: none: sums of products of few small integers are exact
    """
    # Hold whether Aff after A is one layer in all channels against the condition.
    apart = case.aff.module(arithmetic)(case.linear(arithmetic)(case.probes(arithmetic)))
    (alpha, other_alpha), (beta, other_beta) = case.aff.alpha, case.aff.beta
    scales_agree = alpha == other_alpha or not any(any(row) for row in case.a)
    absorbed = same_in_all_channels(apart)
    return Trial(absorbed == (scales_agree and beta == other_beta), {**case.shown(), "absorbed": absorbed})


@claim(
    each_of(lambda d: st.builds(PerPatch, vectors(d), matrices(4 * d, d), affs(d)), WIDTHS),
    proof=Proof("all numbers", PerPatch.sizes),
)
def aff_absorbed_by_b(case: PerPatch, arithmetic: Arithmetic) -> Trial:
    """The Aff before B can be absorbed in it: B Aff(z) is a linear layer of weights B Diag(alpha) and bias B beta.

    Place: Sec. 2, after Eq. 1, of Eq. 3's B
    Printed: it has no cost at inference time, since it can absorbed in the adjacent linear layer
    Bound: gamma_{d+2} times the magnitudes of the products of B's row with Diag(alpha) z and beta
    """
    # Hold B of Aff against the one linear layer.
    apart = arithmetic.tensor(case.w) @ case.aff.module(arithmetic)(arithmetic.tensor(case.x))
    b, alpha, beta = arithmetic.matrix(case.w), arithmetic.vector(case.aff.alpha), arithmetic.vector(case.aff.beta)
    weights = RoundedMatrix([weight * factor for weight, factor in zip(row, alpha, strict=True)] for row in b)
    absorbed = add(weights @ arithmetic.vector(case.x), b @ beta)
    return equal(apart, absorbed, **case.shown("B"))


@claim(
    each_of(lambda d: st.builds(PerPatch, vectors(4 * d), matrices(d, 4 * d), affs(d)), WIDTHS),
    proof=Proof("all numbers", PerPatch.sizes),
)
def aff_absorbed_by_c(case: PerPatch, arithmetic: Arithmetic) -> Trial:
    """The Aff after C can be absorbed in it: Aff(C h) is a linear layer of weights Diag(alpha) C and bias beta.

    Place: Sec. 2, after Eq. 1, of Eq. 3's C
    Printed: it has no cost at inference time, since it can absorbed in the adjacent linear layer
    Bound: gamma_{4d+2} times the magnitudes of the products of C's row with h, times |alpha_i|, and of beta_i
    """
    # Hold Aff of C against the one linear layer.
    apart = case.aff.module(arithmetic)(arithmetic.tensor(case.w) @ arithmetic.tensor(case.x))
    c, alpha = arithmetic.matrix(case.w), arithmetic.vector(case.aff.alpha)
    weights = RoundedMatrix([factor * weight for weight in row] for factor, row in zip(alpha, c, strict=True))
    scaled = weights @ arithmetic.vector(case.x)
    return equal(apart, [scaled[i] + case.aff.beta[i] for i in range(len(alpha))], **case.shown("C"))


@claim(cross_patches(), proof=Proof("all numbers", CrossPatchCase.sizes))
def affs_around_a_merge(case: CrossPatchCase, arithmetic: Arithmetic) -> Trial:
    """One of the two Affs around A can be saved at inference: together they scale each channel of (A X^T)^T
    once and add a d x N^2 bias.

    Place: Sec. 2, after Eq. 1, of Eq. 2's A
    Corrected: Aff((A Aff(X)^T)^T)_cn = alpha'_c alpha_c sum_m A_nm X_cm + alpha'_c beta_c sum_m A_nm + beta'_c, with
        alpha, beta of the Aff before A and alpha', beta' of the one after it
    Bound: gamma_{N^2+5} times the magnitudes of all products: two Affs, a sum of N^2, and the skip
    """
    # Hold the sublayer against Eq. 2, and that against a skip, one scale and one bias.
    x, a = arithmetic.matrix(case.x), arithmetic.matrix(case.a)
    patches = range(len(a))

    def merged(c: int, n: int) -> Rounded:
        scale = case.after.alpha[c] * arithmetic.number(case.before.alpha[c])
        bias = case.after.alpha[c] * (case.before.beta[c] * total(a[n])) + case.after.beta[c]
        return scale * total(a[n][m] * x[c][m] for m in patches) + bias

    z, printed = matrix_of(case.module(arithmetic).cross_patch(batch_of(case.x, arithmetic))), case.printed(arithmetic)
    sublayer = equal(z, printed, **case.shown())
    saving = [[x[c][n] + merged(c, n) for n in patches] for c in range(len(x))]
    return equal(printed, saving, **case.shown()) if sublayer.holds else sublayer
