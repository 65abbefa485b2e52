"""The MLP of token mixing is one function from R^S to R^S, applied to each column of LayerNorm(X) independently.

Read as: column i of what the MLP gives is W_2 sigma(W_1 n_i + b_1) + b_2 for column n_i of the table it reads. The
LayerNorm before it, over channels, makes n_i depend on all columns of X.

Place: Sec. 2.1, paragraph on Fig. 2
Corrected: token mixing after LayerNorm is a function R^S -> R^S that is applied to each column of LayerNorm(X)
    independently
Bound: gamma_{S+2} times the magnitudes under sigma, times its largest slope, then gamma_{D_S+1} times those of the sum
"""

from __future__ import annotations

from hypothesis import strategies as st

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial, equal
from imlp_audit.equations.mixer_gmlp_coursework._mixer import Mixing, columns, token_mixings, with_biases
from imlp_audit.equations.mixer_gmlp_coursework._mixing import mixes


def judge(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Hold the MLP against one function of each column, and look at which channels it links."""
    mlp, table = case.token_mixing(arithmetic).mlp, arithmetic.tensor(case.table)
    printed = columns([case.mlp(column, arithmetic) for column in columns(arithmetic.matrix(case.table))])
    shown = {"LayerNorm(X)": case.table, "W_1": case.first, "W_2": case.second}
    if mixes(lambda x: mlp(x.T).T, table).channels:
        return Trial(False, {**shown, "a column of the output depends on": "another column"})
    return equal(mlp(table.T).T, printed, **shown, b_1=case.first_bias, b_2=case.second_bias)


CLAIM = Claim(token_mixings(st.integers(1, 3), st.integers(1, 3)).flatmap(with_biases), judge)
