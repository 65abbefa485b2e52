"""Sec. 2, sequence-to-sequence ResMLP: a triangular A, and padding."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.rounded import Rounded, total
from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors
from imlp_audit.models.resmlp import CrossPatch, EquationLayer

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


@dataclass(frozen=True)
class Shorter:
    """A sequence (d x L), A and a bias for sequences of more tokens, and whether A is triangular."""

    x: Matrix
    a: Matrix
    bias: Vector
    causal: bool

    def sizes(self) -> dict[str, int | str]:
        """Return the sizes by the paper's symbols."""
        return {"d": len(self.x), "token": len(self.x[0]), "A": len(self.a), "triangular": str(self.causal)}


def _shorter(length: int, more: int) -> st.Strategy[Shorter]:
    size = length + more
    return st.builds(Shorter, matrices(2, length), matrices(size, size), vectors(size), st.booleans())


@claim(each_of(_shorter, (1, 2), (0, 1, 2)), proof=Proof("all numbers", Shorter.sizes))
def submatrix_of_the_first_tokens(case: Shorter, arithmetic: Arithmetic) -> Trial:
    """A sequence that is shorter than A takes A's first rows and columns, and where the linear layer has a bias, as in
    Algorithm 1, its first entries: one for each token.

    Place: Sec. 2, Sequence-to-sequence ResMLP, and Appendix C, Algorithm 1
    Printed: extracting the submatrix A corresponding to the longest sequence in a batch
    Bound: gamma_{L+1} times the sum of the magnitudes
    """
    # Hold the linear layer, on the second of a batch of two sequences, against the sum over the first tokens.
    module = loaded(
        CrossPatch(len(case.a), bias=True, causal=case.causal), {"a.weight": case.a, "a.bias": case.bias}, arithmetic
    )
    x = batch_of(case.x, arithmetic)
    channels, tokens = arithmetic.matrix(case.x), range(len(case.x[0]))
    printed = [
        [total(case.a[n][m] * channel[m] for m in tokens if m <= n or not case.causal) + case.bias[n] for n in tokens]
        for channel in channels
    ]
    shown = {"X": case.x, "A": case.a, "bias": case.bias, "triangular": case.causal}
    return equal(module(torch.cat((x + 1, x)))[1].T, printed, **shown)
