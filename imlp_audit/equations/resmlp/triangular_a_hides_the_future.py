"""Constraining A to be triangular keeps a token from accessing tokens from the future. Read as: lower triangular, as
row n of A makes token n in A X^T; then the layer is Eq. 2 and 3 with that A, and no token has a derivative by a later
one.

Place: Sec. 2, Sequence-to-sequence ResMLP
Printed: constraining the matrix A to be triangular, in order to prevent a given token representation to access tokens
    from the future
Bound: those of Eq. 2 and Eq. 3, one within the other; a derivative is exactly zero or it is not
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.resmlp._layer import (
    CrossPatchCase,
    FeedForwardCase,
    affs,
    batch_of,
    each_of,
    loaded,
    matrix_of,
)
from imlp_audit.equations.strategies import matrices
from imlp_audit.models.resmlp import EquationLayer


@dataclass(frozen=True)
class Decoder:
    """A layer of one channel on a sequence of tokens."""

    cross_patch: CrossPatchCase
    feedforward: FeedForwardCase


def judge(case: Decoder, arithmetic: Arithmetic) -> Trial:
    """Hold the layer against the equations with A's lower triangle, then look for derivatives by later tokens."""
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


def _decoders(tokens: int) -> st.SearchStrategy[Decoder]:
    x = matrices(1, tokens)
    cross_patch = st.builds(CrossPatchCase, x, matrices(tokens, tokens), affs(1), affs(1))
    return st.builds(
        Decoder, cross_patch, st.builds(FeedForwardCase, x, matrices(4, 1), matrices(1, 4), affs(1), affs(1))
    )


CLAIM = Claim(each_of(_decoders, (1, 2, 3)), judge)
