"""Sec. 2.1, the two equations of the Mixer block."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.dependence import mixes
from imlp_audit.equations.functions_norm import layer_norm
from imlp_audit.equations.mixer import (
    EPSILON,
    Mixing,
    Sizes,
    channel_mixings,
    mix_channels,
    mix_tokens,
    run,
    sizes,
    token_mixings,
    with_biases,
)
from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors
from imlp_audit.models.mixer import ChannelMixing, TokenMixing

_OVER_TOKENS: Proof[Mixing] = Proof("all numbers and any activation", lambda case: case.named_sizes("D_S"))
_OVER_CHANNELS: Proof[Mixing] = Proof("all numbers and any activation", lambda case: case.named_sizes("D_C"))


@claim(token_mixings(st.integers(1, 3), st.integers(1, 3)), proof=_OVER_TOKENS)
def mixer_token_mixing(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Token mixing adds to column i of X the two-layer perceptron of column i of LayerNorm(X).

    Read as: LayerNorm over channels, its learned scale at 1 and shift at 0, as they start; no biases, as printed.

    Place: Sec. 2.1, first equation of the block
    Printed: U_{*,i} = X_{*,i} + W_2 sigma(W_1 LayerNorm(X)_{*,i}), i = 1..C
    Bound: LayerNorm's (functions_norm.py), then gamma_{S+1} times the magnitudes under sigma, times its largest slope,
        then gamma_{D_S+2} times those of the sum
    """
    # Hold the module against the printed columns.
    printed = mix_tokens(arithmetic.matrix(case.table), case, arithmetic)
    module = run(case.token_mixing(arithmetic), case.table, arithmetic)
    return equal(module, printed, X=case.table, W_1=case.first, W_2=case.second)


@claim(channel_mixings(st.integers(1, 3), st.integers(1, 3)), proof=_OVER_CHANNELS)
def mixer_channel_mixing(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Channel mixing adds to row j of U the two-layer perceptron of row j of LayerNorm(U).

    Read as: LayerNorm over channels, its learned scale at 1 and shift at 0, as they start; no biases, as printed; a row
    under W_3 is a vector of C numbers.

    Place: Sec. 2.1, second equation of the block
    Printed: Y_{j,*} = U_{j,*} + W_4 sigma(W_3 LayerNorm(U)_{j,*}), j = 1..S
    Bound: LayerNorm's (functions_norm.py), then gamma_{C+1} times the magnitudes under sigma, times its largest slope,
        then gamma_{D_C+2} times those of the sum
    """
    # Hold the module against the printed rows.
    printed = mix_channels(arithmetic.matrix(case.table), case, arithmetic)
    module = run(case.channel_mixing(arithmetic), case.table, arithmetic)
    return equal(module, printed, U=case.table, W_3=case.first, W_4=case.second)


@dataclass(frozen=True)
class Normalised:
    """A table, and the scale and shift of each channel."""

    table: Matrix
    scale: Vector
    shift: Vector


@claim(
    st.tuples(st.integers(1, 3), st.integers(1, 3)).flatmap(
        lambda size: st.builds(Normalised, matrices(*size), vectors(size[1]), vectors(size[1]))
    ),
    proof=Proof("all numbers", lambda case: {"S": len(case.table), "C": len(case.scale)}),
)
def mixer_layer_norm(case: Normalised, arithmetic: Arithmetic) -> Trial:
    """Each of the two MLPs reads its input normalised by LayerNorm over channels.

    Read as: every token on its own has mean 0 and variance 1 over its channels (up to the epsilon 1e-6 under the root),
    and is then scaled and shifted channel by channel by two learned vectors g and h.

    Place: Sec. 2.1, after the definition of GELU
    Printed: Вход любого блока нормализуется с помощью LayerNorm по каналам.
    Bound: that of functions_norm.py, whether the mean is one sum or Welford's recurrence
    """
    # Hold what both MLPs read against LayerNorm of each row.
    scale, shift = arithmetic.vector(case.scale), arithmetic.vector(case.shift)
    rows = [layer_norm(row, EPSILON, scale, shift) for row in arithmetic.matrix(case.table)]
    tokens, channels = len(case.table), len(case.scale)
    of_tokens = _read_by_mlp(TokenMixing(tokens, channels, hidden=1), case, arithmetic).transpose(-1, -2)
    of_channels = _read_by_mlp(ChannelMixing(channels, hidden=1), case, arithmetic)
    return equal(torch.stack((of_tokens, of_channels)), [rows, rows], X=case.table, g=case.scale, h=case.shift)


def _read_by_mlp(step: TokenMixing | ChannelMixing, case: Normalised, arithmetic: Arithmetic) -> Tensor:
    """Return the input that a step's MLP gets for the case's table."""
    for name, values in (("norm.weight", case.scale), ("norm.bias", case.shift)):
        arithmetic.put(step, name, values)
    table = arithmetic.tensor(case.table)[None]
    read: list[Tensor] = []
    step.mlp.register_forward_pre_hook(lambda _mlp, inputs: read.append(inputs[0][0]))
    arithmetic.place(step)(table)
    return read[0]


@claim(channel_mixings(st.integers(1, 3), st.integers(1, 3)).flatmap(with_biases), proof=_OVER_CHANNELS)
def mixer_biases_of_channels(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Channel mixing has a bias in each of its projections.

    Read as: the products with W_3 and W_4 get a vector of their own added, b_3 (D_C) and b_4 (C), and nothing else in
    the equation changes.

    Place: Sec. 2.1, after the definition of GELU
    Printed: Так же используется механизм пробрасывания связей и сдвиги каждой проекции.
    Bound: as without biases, with one rounding more in each projection
    """
    # Hold the module against the equation with biases.
    printed = mix_channels(arithmetic.matrix(case.table), case, arithmetic)
    module = run(case.channel_mixing(arithmetic), case.table, arithmetic)
    shown = {"U": case.table, "W_3": case.first, "W_4": case.second}
    return equal(module, printed, **shown, b_3=case.first_bias, b_4=case.second_bias)


@claim(token_mixings(st.integers(1, 3), st.integers(1, 3)).flatmap(with_biases), proof=_OVER_TOKENS)
def mixer_biases_of_tokens(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Token mixing has a bias in each of its projections.

    Read as: the products with W_1 and W_2 get a vector of their own added, b_1 (D_S) and b_2 (S), and nothing else in
    the equation changes.

    Place: Sec. 2.1, after the definition of GELU
    Printed: Так же используется механизм пробрасывания связей и сдвиги каждой проекции.
    Bound: as without biases, with one rounding more in each projection
    """
    # Hold the module against the equation with biases.
    printed = mix_tokens(arithmetic.matrix(case.table), case, arithmetic)
    module = run(case.token_mixing(arithmetic), case.table, arithmetic)
    shown = {"X": case.table, "W_1": case.first, "W_2": case.second}
    return equal(module, printed, **shown, b_1=case.first_bias, b_2=case.second_bias)


@claim(sizes(2))
def mixer_keeps_shape(case: Sizes, arithmetic: Arithmetic) -> Trial:
    """The output of each step has the shape of its input, so every layer gets a table of the same size.

    Place: Sec. 2.1, paragraph on Fig. 2
    Printed: выход каждого слоя имеет ту же размерность, что и вход; каждый блок MLP-Mixer получает на вход матрицу X in
        R^{S x C} одного и того же размера
    Bound: none: shapes are compared
    """
    # Run both steps, then a second layer.
    with torch.device("meta"):
        layer, x = case.layer(), torch.empty(1, case.s, case.c)
        u = layer.token_mixing(x)
        y = layer.channel_mixing(u)
        tables = {"X": x, "U": u, "Y": y, "Y of the next layer": case.layer()(y)}
    shapes = {f"shape of {name}": tuple(table.shape[1:]) for name, table in tables.items()}
    return Trial(all(shape == (case.s, case.c) for shape in shapes.values()), {**case.symbols(), **shapes})


@dataclass(frozen=True)
class Change:
    """Token mixing of two tokens by two channels, and other numbers for the second channel, which is 0."""

    mixing: Mixing
    second: Vector

    @property
    def changed(self) -> Matrix:
        """The table with the other numbers."""
        return tuple((row[0], other) for row, other in zip(self.mixing.table, self.second, strict=True))


def _change(first: Vector, second: Vector, w1: Matrix, w2: Matrix) -> Change:
    return Change(Mixing(tuple((number, 0.0) for number in first), w1, w2), second)


@claim(st.builds(_change, vectors(2), vectors(2), matrices(1, 2), matrices(2, 1)))
def mixer_token_mixing_columns(case: Change, arithmetic: Arithmetic) -> Trial:
    """Everything that token mixing does is done to each column of X independently.

    Read as: token mixing is the equation that is marked so; changing one column of X changes no other column of U.

    Place: Sec. 2.1, paragraph on Fig. 2
    Printed: token-mixing можно представить, как функцию, действующую по следующему правилу: R^S -> R^S, где все
        преобразования применяются к каждому столбцу матрицы X независимо.
    Nearest: mixer_token_mixing_columns_corrected
    Bound: LayerNorm's (functions_norm.py), then those of two projections and GELU
    """
    # Hold the first column of U against what it is for the changed X.
    mixing = case.mixing
    before = run(mixing.token_mixing(arithmetic), mixing.table, arithmetic)[:, :1]
    after = mix_tokens(arithmetic.matrix(case.changed), replace(mixing, table=case.changed), arithmetic)
    shown = {"X": mixing.table, "X with another column 2": case.changed, "W_1": mixing.first, "W_2": mixing.second}
    return equal(before, [row[:1] for row in after], **shown)


@claim(token_mixings(st.integers(1, 3), st.integers(1, 3)).flatmap(with_biases))
def mixer_token_mixing_columns_corrected(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """The MLP of token mixing is one function from R^S to R^S, applied to each column of LayerNorm(X) independently.

    Read as: column i of what the MLP gives is W_2 sigma(W_1 n_i + b_1) + b_2 for column n_i of the table it reads. The
    LayerNorm before it, over channels, makes n_i depend on all columns of X.

    Place: Sec. 2.1, paragraph on Fig. 2
    Corrected: token mixing after LayerNorm is a function R^S -> R^S that is applied to each column of LayerNorm(X)
        independently
    Bound: gamma_{S+2} times the magnitudes under sigma, times its largest slope, then gamma_{D_S+1} times those of the
        sum
    """
    # Hold the MLP against one function of each column, and look at which channels it links.
    mlp, table = case.token_mixing(arithmetic).mlp, arithmetic.tensor(case.table)
    printed = arithmetic.matrix(case.table).T.map_rows(lambda column: case.mlp(column, arithmetic)).T
    shown = {"LayerNorm(X)": case.table, "W_1": case.first, "W_2": case.second}
    if mixes(lambda x: mlp(x.T).T, table).channels:
        return Trial(False, {**shown, "a column of the output depends on": "another column"})
    return equal(mlp(table.T).T, printed, **shown, b_1=case.first_bias, b_2=case.second_bias)
