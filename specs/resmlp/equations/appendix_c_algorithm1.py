"""Appendix C, Algorithm 1, against Eq. 2 and 3."""

from __future__ import annotations

from dataclasses import replace

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.strategies import numbers
from imlp_audit.models.resmlp import AlgorithmLayer, EquationLayer

from ._algorithm1 import (
    cross_patch_of_algorithm1,
    cross_patches_without_first_shift,
    divisible_affs,
    feedforward_of_algorithm1,
)
from ._layer import AffCase, CrossPatchCase, FeedForwardCase, batch_of, cross_patches, feedforwards, matrix_of
from ._size import Size, sizes


@claim(cross_patches_without_first_shift())
def algorithm1_computes_eq2(case: CrossPatchCase, arithmetic: Arithmetic) -> Trial:
    """Algorithm 1's cross-patch sublayer computes Eq. 2: with Eq. 2's A, first Aff and alpha after A, some bias of A
    takes the place of beta after A. Channel 1 leaves one bias for it, beta_1 / alpha_1 for every patch.

    Place: Appendix C, and Sec. 2, Eq. 2
    Printed: In Algorithm 1 we provide the pseudo-pytorch-code associated with our model (of Eq. 2: Z = X + Aff((A
        Aff(X)^T)^T); Algorithm 1: Z = X + Diag(alpha) (A Aff(X)^T + a)^T)
    Nearest: algorithm1_computes_eq2_corrected
    Bound: gamma_{N^2+5} times the magnitudes of all products: two Affs, a sum of N^2, and the skip
    """
    # Hold Algorithm 1's sublayer, with the bias that channel 1 leaves, against Eq. 2.
    layer = cross_patch_of_algorithm1(case, case.after.beta[0] / case.after.alpha[0], arithmetic)
    return equal(matrix_of(layer.cross_patch(batch_of(case.x, arithmetic))), case.printed(arithmetic), **case.shown())


@claim(st.tuples(cross_patches(), numbers()), proof=Proof("all numbers", lambda case: case[0].sizes()))
def algorithm1_computes_eq2_corrected(case: tuple[CrossPatchCase, float], arithmetic: Arithmetic) -> Trial:
    """Algorithm 1's cross-patch sublayer with a bias b for every patch computes Eq. 2 where the Aff after A has beta =
    b alpha: where b is zero, a LayerScale.

    Place: Appendix C, and Sec. 2, Eq. 2
    Corrected: X + Diag(alpha) (A Aff(X)^T + b)^T = X + Aff((A Aff(X)^T)^T), with beta = b alpha in the last Aff
    Bound: gamma_{N^2+5} times the magnitudes of all products: two Affs, a sum of N^2, and the skip
    """
    # Hold Algorithm 1's sublayer against Eq. 2.
    sublayer, bias = case
    alpha = sublayer.after.alpha
    sublayer = replace(sublayer, after=AffCase(alpha, tuple(bias * scale for scale in alpha)))
    z = cross_patch_of_algorithm1(sublayer, bias, arithmetic).cross_patch(batch_of(sublayer.x, arithmetic))
    return equal(matrix_of(z), sublayer.printed(arithmetic), **sublayer.shown())


@claim(
    feedforwards(last_aff=divisible_affs),
    proof=Proof("all numbers and any activation", FeedForwardCase.sizes, cases=feedforwards()),
)
def algorithm1_computes_eq3(case: FeedForwardCase, arithmetic: Arithmetic) -> Trial:
    """Algorithm 1's cross-channel sublayer computes Eq. 3: with Eq. 3's B, C, first Aff and alpha after C, no bias of
    B, and beta / alpha as the bias of C.

    Place: Appendix C, and Sec. 2, Eq. 3
    Printed: In Algorithm 1 we provide the pseudo-pytorch-code associated with our model (of Eq. 3: Y = Z + Aff(C GELU(B
        Aff(Z))); Algorithm 1: Y = Z + Diag(alpha) (C GELU(B Aff(Z) + b) + c))
    Bound: gamma_{d+2} times the magnitudes under GELU, times its largest slope, then gamma_{4d+4} times those of the
        sum
    """
    # Hold Algorithm 1's sublayer against Eq. 3.
    bias = tuple(beta / alpha for alpha, beta in zip(case.after.alpha, case.after.beta, strict=True))
    y = feedforward_of_algorithm1(case, bias, arithmetic).cross_channel(batch_of(case.z, arithmetic))
    return equal(matrix_of(y), case.printed(arithmetic), **case.shown())


@claim(sizes())
def algorithm1_has_the_parameters_of_eq2_eq3(case: Size, _: Arithmetic) -> Trial:
    """Algorithm 1's layer has as many parameters as Eq. 2 and 3: A, B, C and four Affs.

    Place: Appendix C, and Sec. 2, Eq. 2 and 3
    Printed: In Algorithm 1 we provide the pseudo-pytorch-code associated with our model (for Eq. 2 and 3, that is N^4 +
        8 d^2 weights and 4 x 2d of the Affs)
    Nearest: algorithm1_has_the_parameters_of_eq2_eq3_corrected
    Bound: none: counts are integers
    """
    # Hold the count of Algorithm 1's layer against that of the equations.
    d, patches = case.d, case.patches
    return case.counts(AlgorithmLayer(d, patches), patches**2 + 8 * d**2 + 8 * d)


@claim(sizes())
def algorithm1_has_the_parameters_of_eq2_eq3_corrected(case: Size, _: Arithmetic) -> Trial:
    """Algorithm 1's layer has N^2 + 3d parameters more than Eq. 2 and 3: biases of A, B and C, less the biases of the
    two Affs after the sublayers, which are LayerScales.

    Place: Appendix C, and Sec. 2, Eq. 2 and 3
    Corrected: N^4 + 8 d^2 + 8d parameters of Eq. 2 and 3; N^2 + 4d + d of biases and -2d of beta to Algorithm 1
    Bound: none: counts are integers
    """
    # Hold the counts of both layers against the formulas.
    d, patches = case.d, case.patches
    printed = patches**2 + 8 * d**2 + 8 * d
    equations = case.counts(EquationLayer(d, patches), printed)
    return case.counts(AlgorithmLayer(d, patches), printed + patches + 3 * d) if equations.holds else equations
