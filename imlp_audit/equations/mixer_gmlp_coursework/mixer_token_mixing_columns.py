"""Everything that token mixing does is done to each column of X independently.

Read as: token mixing is the equation that is marked so; changing one column of X changes no other column of U.

Place: Sec. 2.1, paragraph on Fig. 2
Printed: token-mixing можно представить, как функцию, действующую по следующему правилу: R^S -> R^S, где все
    преобразования применяются к каждому столбцу матрицы X независимо.
Nearest: mixer_token_mixing_columns_corrected
Bound: LayerNorm's (functions_norm.py), then those of two projections and GELU
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import Mixing, run, token_mixed
from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors


@dataclass(frozen=True)
class Change:
    """Token mixing of two tokens by two channels, and other numbers for the second channel, which is 0."""

    mixing: Mixing
    second: Vector

    @property
    def changed(self) -> Matrix:
        """The table with the other numbers."""
        return tuple((row[0], other) for row, other in zip(self.mixing.table, self.second, strict=True))


def judge(case: Change, arithmetic: Arithmetic) -> Trial:
    """Hold the first column of U against what it is for the changed X."""
    mixing = case.mixing
    before = run(mixing.token_mixing(arithmetic), mixing.table, arithmetic)[:, :1]
    after = token_mixed(arithmetic.matrix(case.changed), replace(mixing, table=case.changed), arithmetic)
    shown = {"X": mixing.table, "X with another column 2": case.changed, "W_1": mixing.first, "W_2": mixing.second}
    return equal(before, [row[:1] for row in after], **shown)


def _change(first: Vector, second: Vector, w1: Matrix, w2: Matrix) -> Change:
    return Change(Mixing(tuple((number, 0.0) for number in first), w1, w2), second)


CLAIM = Claim(st.builds(_change, vectors(2), vectors(2), matrices(1, 2), matrices(2, 1)), judge)
