"""Tying keeps the MLPs' parameters from growing with the number of rows or columns that they are applied to.

Read as: one token-mixing MLP for all columns has 1 / C of the parameters of one for each column, and as many for any C;
one channel-mixing MLP for all rows has 1 / S of those of one for each row, and as many for any S.

Place: paragraph on tying
Printed: The parameter tying prevents the architecture from growing too fast when increasing the hidden dimension C or
    the sequence length S and leads to significant memory savings.
Bound: none: parameters are counted
"""

from __future__ import annotations

from torch import nn

from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Claim, Trial
from imlp_audit.equations.mixer_gmlp_coursework._counts import parameters
from imlp_audit.equations.mixer_gmlp_coursework._layers import Sizes, sizes
from imlp_audit.models.mixer import Mlp


def judge(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Hold the module's MLPs against one MLP a column or row, and against those of a layer with C or S doubled."""
    of_tokens = parameters(lambda: case.layer().token_mixing.mlp)
    of_channels = parameters(lambda: case.layer().channel_mixing.mlp)
    untied = {
        "one MLP a column": parameters(lambda: nn.ModuleList(Mlp(case.s, case.d_s) for _ in range(case.c))),
        "one MLP a row": parameters(lambda: nn.ModuleList(Mlp(case.c, case.d_c) for _ in range(case.s))),
    }
    wider, longer = Sizes(case.s, 2 * case.c, case.d_s, case.d_c), Sizes(2 * case.s, case.c, case.d_s, case.d_c)
    doubled = {
        "token-mixing MLP at 2 C": parameters(lambda: wider.layer().token_mixing.mlp),
        "channel-mixing MLP at 2 S": parameters(lambda: longer.layer().channel_mixing.mlp),
    }
    tied = {"token-mixing MLP": of_tokens, "channel-mixing MLP": of_channels}
    saves = [case.c * of_tokens, case.s * of_channels] == list(untied.values())
    return Trial(saves and list(doubled.values()) == list(tied.values()), {**case.shown(), **tied, **untied, **doubled})


CLAIM = Claim(sizes(3), judge)
