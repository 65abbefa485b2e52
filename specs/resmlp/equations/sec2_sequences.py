"""Sec. 2, sequence-to-sequence ResMLP: a triangular A, and padding."""

from __future__ import annotations

from dataclasses import dataclass, replace

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import matrices
from imlp_audit.models.resmlp import EquationLayer

from ._layer import CrossPatchCase, FeedForwardCase, affs, batch_of, each_of, loaded, matrix_of
from ._sequences import Padded, padded_sequences


@dataclass(frozen=True)
class Decoder:
    """A layer of one channel on a sequence of tokens."""

    cross_patch: CrossPatchCase
    feedforward: FeedForwardCase


def _decoders(tokens: int) -> st.Strategy[Decoder]:
    x = matrices(1, tokens)
    cross_patch = st.builds(CrossPatchCase, x, matrices(tokens, tokens), affs(1), affs(1))
    return st.builds(
        Decoder, cross_patch, st.builds(FeedForwardCase, x, matrices(4, 1), matrices(1, 4), affs(1), affs(1))
    )


@claim(each_of(_decoders, (1, 2, 3)))
def triangular_a_hides_the_future(case: Decoder, arithmetic: Arithmetic) -> Trial:
    """Constraining A to be triangular keeps a token from accessing tokens from the future. Read as: lower triangular,
    as row n of A makes token n in A X^T; then the layer is Eq. 2 and 3 with that A, and no token has a derivative by a
    later one.

    Place: Sec. 2, Sequence-to-sequence ResMLP
    Printed: constraining the matrix A to be triangular, in order to prevent a given token representation to access
        tokens from the future
    Bound: those of Eq. 2 and Eq. 3, one within the other; a derivative is exactly zero or it is not
    """
    # Hold the layer against the equations with A's lower triangle, then look for derivatives by later tokens.
    a, feedforward = case.cross_patch.a, case.feedforward
    tokens, x = range(len(a)), batch_of(case.cross_patch.x, arithmetic)
    weights = {**case.cross_patch.weights(), **feedforward.weights()}
    layer = loaded(EquationLayer(1, len(a), causal=True), weights, arithmetic)

    lower = tuple(tuple(a[n][m] if m <= n else 0.0 for m in tokens) for n in tokens)
    printed = feedforward.of(replace(case.cross_patch, a=lower).printed(arithmetic), arithmetic)
    shown = {**case.cross_patch.shown(), "B": feedforward.b, "C": feedforward.c}
    same = equal(matrix_of(layer(x)), printed, **shown)

    found = depends(layer, x)[0, :, 0, 0, :, 0]
    leaks = [[n + 1, m + 1] for n in tokens for m in tokens if m > n and found[n, m]]
    return Trial(not leaks, {**shown, "tokens that depend on later ones": leaks}) if same.holds else same


@claim(padded_sequences(), proof=Proof("all numbers", Padded.sizes))
def padding_adds_nothing_to_a_decoder(case: Padded, arithmetic: Arithmetic) -> Trial:
    """Where A is triangular, padding a sequence with zeros and taking the submatrix of A for the longest of the batch
    adds nothing to its tokens, whatever the Affs are: padding comes after them.

    Place: Sec. 2, Sequence-to-sequence ResMLP
    Printed: constraining the matrix A to be triangular; simply padding with zeros and extracting the submatrix A
        corresponding to the longest sequence in a batch
    Bound: gamma_{longest+5} times the magnitudes of all products: two Affs, a sum over tokens, and the skip
    """
    # Hold the padded sequence's tokens against those of the sequence alone.
    return case.holds_in_batch(case.lower().alone().printed(arithmetic), arithmetic, causal=True)


@claim(padded_sequences(), proof=Proof("all numbers", Padded.sizes))
def padding_adds_what_aff_makes_of_zeros(case: Padded, arithmetic: Arithmetic) -> Trial:
    """Padding a sequence with zeros and taking the submatrix of A for the longest of the batch adds to each token what
    the first Aff makes of the zeros: its beta times the weights of A on the padding, scaled by the last Aff; nothing
    where that beta is zero. The rest of A has no part in it.

    Place: Sec. 2, Sequence-to-sequence ResMLP
    Printed: simply padding with zeros and extracting the submatrix A corresponding to the longest sequence in a batch;
        in Eq. 2, Z_cn of the padded sequence = Z_cn of the sequence alone + alpha'_c beta_c sum_{m=L+1}^{longest} A_nm
    Bound: gamma_{longest+5} times the magnitudes of all products: two Affs, a sum over tokens, and the skip
    """
    # Hold the padded sequence's tokens against those of the sequence alone and what padding adds.
    a, length = arithmetic.matrix(case.a), len(case.x[0])

    def added(c: int, n: int) -> Rounded:
        return case.after.alpha[c] * (case.before.beta[c] * total(a[n][length : case.longest]))

    alone = case.alone().printed(arithmetic)
    printed = [[z + added(c, n) for n, z in enumerate(channel)] for c, channel in enumerate(alone)]
    return case.holds_in_batch(printed, arithmetic, causal=False)
