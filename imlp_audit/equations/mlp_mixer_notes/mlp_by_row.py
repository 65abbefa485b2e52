"""Each MLP works on each row of its input independently, and is the same for every row.

Read as: the token-mixing MLP on the rows of the transposed table, that is on its columns of S numbers; the
channel-mixing MLP on the rows of C numbers. Row r of the output is second x GELU(first x row r + bias) + bias.

Place: paragraph on the MLPs, and the one on tying
Printed: token-mixing MLP: it acts on columns of X (i.e. it is applied to a transposed input table X), maps R^S -> R^S,
    and is shared across all columns. ... channel-mixing MLP: it acts on rows of X, maps R^C -> R^C, and is shared
    across all rows. Each MLP block contains two fully-connected layers and a nonlinearity applied independently to
    each row of its input data tensor.
Bound: gamma_{S+2} or gamma_{C+2} times the magnitudes under GELU, times its largest slope, then gamma_{D+1} times those
    of the sum
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import (
    Mixing,
    channel_mixings,
    columns,
    token_mixings,
    with_biases,
)


def judge(case: tuple[bool, Mixing], arithmetic: Arithmetic) -> Trial:
    """Hold the module's MLP against one function of each row."""
    over_tokens, mixing = case
    step = mixing.token_mixing(arithmetic) if over_tokens else mixing.channel_mixing(arithmetic)
    table = arithmetic.matrix(mixing.table)
    rows = columns(table) if over_tokens else table
    read = arithmetic.tensor(mixing.table)
    module = step.mlp(read.T if over_tokens else read)
    shown = {"MLP": "token-mixing" if over_tokens else "channel-mixing", "table": mixing.table}
    shown |= {"first matrix": mixing.first, "second matrix": mixing.second}
    return equal(module, [mixing.mlp(row, arithmetic) for row in rows], **shown)


_size = st.integers(1, 3)
CLAIM = Claim(
    st.one_of(
        st.tuples(st.just(True), token_mixings(_size, _size).flatmap(with_biases)),
        st.tuples(st.just(False), channel_mixings(_size, _size).flatmap(with_biases)),
    ),
    judge,
)
