"""The paragraphs on the MLPs and on tying."""

from __future__ import annotations

import torch
from torch import nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.counts import parameters
from imlp_audit.equations.mixer import (
    Mixing,
    Sizes,
    channel_mixings,
    mix_channels,
    run,
    sizes,
    token_mixings,
    with_biases,
)
from imlp_audit.equations.strategies import nonzero
from imlp_audit.models.mixer import Mlp, PatchEmbedding

_size = st.integers(1, 3)


@claim(
    st.one_of(
        st.tuples(st.just(True), token_mixings(_size, _size).flatmap(with_biases)),
        st.tuples(st.just(False), channel_mixings(_size, _size).flatmap(with_biases)),
    ),
    proof=Proof(
        "all numbers and any activation",
        lambda drawn: drawn[1].named_sizes("D_S" if drawn[0] else "D_C"),
    ),
)
def mlp_by_row(case: tuple[bool, Mixing], arithmetic: Arithmetic) -> Trial:
    """Each MLP works on each row of its input independently, and is the same for every row.

    Read as: the token-mixing MLP on the rows of the transposed table, that is on its columns of S numbers; the
    channel-mixing MLP on the rows of C numbers. Row r of the output is second x GELU(first x row r + bias) + bias.

    Place: paragraph on the MLPs, and the one on tying
    Printed: token-mixing MLP: it acts on columns of X (i.e. it is applied to a transposed input table X), maps R^S ->
        R^S, and is shared across all columns. ... channel-mixing MLP: it acts on rows of X, maps R^C -> R^C, and is
        shared across all rows. Each MLP block contains two fully-connected layers and a nonlinearity applied
        independently to each row of its input data tensor.
    Bound: gamma_{S+2} or gamma_{C+2} times the magnitudes under GELU, times its largest slope, then gamma_{D+1} times
        those of the sum
    """
    # Hold the module's MLP against one function of each row.
    over_tokens, mixing = case
    step = mixing.token_mixing(arithmetic) if over_tokens else mixing.channel_mixing(arithmetic)
    table = arithmetic.matrix(mixing.table)
    rows = table.T if over_tokens else table
    read = arithmetic.tensor(mixing.table)
    module = step.mlp(read.T if over_tokens else read)
    shown = {"MLP": "token-mixing" if over_tokens else "channel-mixing", "table": mixing.table}
    shown |= {"first matrix": mixing.first, "second matrix": mixing.second}
    return equal(module, [mixing.mlp(row, arithmetic) for row in rows], **shown)


@claim(channel_mixings(st.just(2), st.just(2), st.just(1), nonzero()))
def positional_invariance(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Channel mixing with tied parameters is invariant to position.

    Read as: exchanging two tokens leaves the output of channel mixing as it is.

    Place: paragraph on tying
    Printed: Tying the parameters of the channel-mixing MLPs (within each layer) is a natural choice - it provides
        positional invariance, a prominent feature of convolutions.
    Nearest: positional_invariance_corrected
    Bound: LayerNorm's (functions_norm.py), then those of two projections and GELU
    """
    # Hold channel mixing of the exchanged tokens against that of the tokens.
    exchanged = run(case.channel_mixing(arithmetic), case.table[::-1], arithmetic)
    printed = mix_channels(arithmetic.matrix(case.table), case, arithmetic)
    return equal(exchanged, printed, U=case.table, W_3=case.first, W_4=case.second)


@claim(
    channel_mixings(st.integers(2, 3), st.integers(1, 3))
    .flatmap(with_biases)
    .flatmap(lambda mixing: st.tuples(st.just(mixing), st.permutations(range(len(mixing.table))))),
    proof=Proof(
        "all numbers and any activation",
        lambda case: {**case[0].named_sizes("D_C"), "order": str(case[1])},
        cases=channel_mixings(st.just(3), st.integers(1, 2), st.just(2))
        .flatmap(with_biases)
        .flatmap(lambda mixing: st.tuples(st.just(mixing), st.permutations(range(3)))),
    ),
)
def positional_invariance_corrected(case: tuple[Mixing, list[int]], arithmetic: Arithmetic) -> Trial:
    """Channel mixing with tied parameters is equivariant: tokens that change places do so in its output too.

    Read as: for any permutation of the tokens. What happens to a token does not depend on where it is.

    Place: paragraph on tying
    Corrected: it provides positional equivariance: f(P U) = P f(U) for every permutation P of the tokens
    Bound: LayerNorm's (functions_norm.py), then those of two projections and GELU
    """
    # Hold channel mixing of the permuted tokens against the permuted tokens of channel mixing.
    mixing, order = case
    permuted = run(mixing.channel_mixing(arithmetic), tuple(mixing.table[place] for place in order), arithmetic)
    mixed = mix_channels(arithmetic.matrix(mixing.table), mixing, arithmetic)
    shown = {"U": mixing.table, "order": order, "W_3": mixing.first, "W_4": mixing.second}
    return equal(permuted, [mixed[place] for place in order], **shown)


@claim(sizes(2))
def same_size(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Every Mixer layer takes an input of the same size; the patch projection, which comes first, does not.

    Read as: what a layer gives has the S x C of its input, so the next one gets it; the projection reads 3 x H x W.

    Place: paragraph on tying
    Printed: Each layer in Mixer (except for the initial patch projection layer) takes an input of the same size
    Bound: none: shapes are compared
    """
    # Run two layers on an image of S patches of 2 x 2 in a row.
    with torch.device("meta"):
        image = torch.empty(1, 3, 2, 2 * case.s)
        tables = [PatchEmbedding(2, case.c)(image)]
        for _ in range(2):
            tables.append(case.layer()(tables[-1]))
    shapes = [tuple(table.shape) for table in tables]
    return Trial(shapes == [(1, case.s, case.c)] * 3, {**case.symbols(), "shapes before and after layers": shapes})


@claim(sizes(3))
def tying_saves_parameters(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """Tying keeps the MLPs' parameters from growing with the number of rows or columns that they are applied to.

    Read as: one token-mixing MLP for all columns has 1 / C of the parameters of one for each column, and as many for
    any C; one channel-mixing MLP for all rows has 1 / S of those of one for each row, and as many for any S.

    Place: paragraph on tying
    Printed: The parameter tying prevents the architecture from growing too fast when increasing the hidden dimension C
        or the sequence length S and leads to significant memory savings.
    Bound: none: parameters are counted
    """
    # Hold the module's MLPs against one MLP a column or row, and against those of a layer with C or S doubled.
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
    return Trial(
        saves and list(doubled.values()) == list(tied.values()), {**case.symbols(), **tied, **untied, **doubled}
    )
