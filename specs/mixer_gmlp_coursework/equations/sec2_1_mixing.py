"""Sec. 2.1, what the parts of a model mix: tokens, channels or both."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Proof, Trial, claim, equal
from imlp_audit.equations.dependence import (
    BOTH,
    ONLY_CHANNELS,
    ONLY_TOKENS,
    Averaging,
    Kernel,
    averagings,
    convolution,
    kernels,
    mixes,
)
from imlp_audit.equations.draw import Strategy
from imlp_audit.equations.mixer import Mixing, channel_mixings, mix_tokens, run, token_mixings, with_biases
from imlp_audit.equations.strategies import Vector, nonzero, plain, positive, vectors


@claim(averagings())
def mixer_attention_mixes_both(case: Averaging, arithmetic: Arithmetic) -> Trial:
    """An attention block mixes channels and space at once.

    Read as: with its projection of the values, attention can do both in one block. Queries of 0 show it: every token
    gets the mean of the projected values of all tokens.

    Place: Sec. 2.1, paragraph on mixing
    Printed: Трансформеры так же производят смешивание одновременно за счёт блока внимания (self-attention).
    Bound: none: the derivatives are sums of products of positive weights
    """
    # Look at what attention links.
    found = mixes(case.attention(arithmetic), arithmetic.tensor(case.table))
    shown = {"X": case.table, "value weights": case.values, "output weights": case.projection}
    return Trial(found == BOTH, {**shown, "mixes": found})


@claim(kernels(st.sampled_from([2, 3])))
def mixer_convolution_mixes_both(case: Kernel, arithmetic: Arithmetic) -> Trial:
    """A convolution with an N x N kernel, N > 1, mixes channels and space at once.

    Read as: some output depends on an input at another place, and some on an input of another channel, for any kernel
    without a zero.

    Place: Sec. 2.1, paragraph on mixing
    Printed: в свёрточных нейронных сетях это можно сделать одновременно, используя размер ядра N x N (N > 1)
    Bound: none: the derivatives are the kernel's weights
    """
    # Look at what the convolution links on a grid of 2 x 2.
    found = mixes(convolution(case, arithmetic), arithmetic.tensor([[0.0] * len(case)] * 4))
    return Trial(found == BOTH, {"kernel": case, "mixes": found})


@dataclass(frozen=True)
class Layer:
    """The two steps of a layer, each with the table that its MLP reads."""

    tokens: Mixing
    channels: Mixing


_two, _one = st.just(2), st.just(1)


@claim(
    plain(st.builds(Layer, token_mixings(_two, _two, _one, positive()), channel_mixings(_two, _two, _one, positive())))
)
def mixer_in_turn(case: Layer, arithmetic: Arithmetic) -> Trial:
    """A layer mixes over tokens and over channels strictly in turn: its first MLP does the one, its second the other.

    Read as: the operations are the two MLPs. In the first some output depends on an input of another token and none on
    one of another channel; in the second it is the other way round. Numbers are positive, where no slope of GELU is
    near 0 and no two paths cancel.

    Place: Sec. 2.1, paragraph on mixing
    Printed: Идея MLP-Mixer состоит в том, чтобы выполнять данные операции строго по очереди.
    Bound: none: derivatives that no path carries are exactly zero
    """
    # Look at what each MLP links.
    over_tokens = case.tokens.token_mixing(arithmetic).mlp
    over_channels = case.channels.channel_mixing(arithmetic).mlp
    first = mixes(lambda x: over_tokens(x.T).T, arithmetic.tensor(case.tokens.table))
    second = mixes(over_channels, arithmetic.tensor(case.channels.table))
    weights = {"W_1": case.tokens.first, "W_2": case.tokens.second}
    weights |= {"W_3": case.channels.first, "W_4": case.channels.second}
    found = {"the token-mixing MLP mixes": first, "the channel-mixing MLP mixes": second}
    return Trial(first == ONLY_TOKENS and second == ONLY_CHANNELS, {**weights, **found})


def _case(first: Vector, second: Vector, w: float, v: float) -> Mixing:
    return Mixing((first, second), ((w, 0.0),), ((v,), (0.0,)))


def _cases(channels: int) -> Strategy[Mixing]:
    token = vectors(channels)
    return st.builds(_case, token.filter(lambda row: len(set(row)) > 1), token, nonzero(), nonzero())


@claim(plain(st.integers(2, 3).flatmap(_cases)))
def mixer_token_mixing_sees_places(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Token mixing takes account of where a patch is.

    Read as: two tokens that change places do not merely change places in the output. Weights that read and write the
    first token alone show it: W_1 = (w, 0), W_2 = (v, 0)^T, w and v not 0, for a first token whose channels differ.

    Place: Sec. 2.1, last paragraph
    Printed: MLP-Mixer не использует позиционное кодирование, так как слой token-mixing благодаря своей реализации
        позволяет улавливать связи между различными патчами и учитывает их местоположение.
    Bound: LayerNorm's (functions_norm.py), then those of two projections and GELU; the outputs differ by more
    """
    # Hold token mixing of the exchanged tokens against the exchanged tokens of token mixing.
    module = case.token_mixing(arithmetic)
    u = mix_tokens(arithmetic.matrix(case.table), case, arithmetic)
    of_x, of_exchanged = run(module, case.table, arithmetic), run(module, case.table[::-1], arithmetic)
    holds = equal(of_x, u).holds and not equal(of_exchanged, u[::-1]).holds
    shown = {"X": case.table, "W_1": case.first, "W_2": case.second}
    return Trial(holds, {**shown, "U of X": of_x.tolist(), "U of exchanged tokens": of_exchanged.tolist()})


@claim(
    channel_mixings(st.sampled_from([2, 4]), st.integers(1, 2)).flatmap(with_biases),
    proof=Proof("all numbers and any activation", lambda case: case.named_sizes("D_C")),
)
def mixer_channel_mixing_as_convolution(case: Mixing, arithmetic: Arithmetic) -> Trial:
    """Channel mixing is 1 x 1 convolution over the grid of patches.

    Read as: each of its two fully-connected layers is a 1 x 1 convolution of the table laid out as a grid, with GELU
    between them.

    Place: Sec. 2.1, last paragraph
    Printed: в крайнем случае блок channel-mixing можно рассматривать как 1 x 1 свёртку
    Bound: gamma_{C+2} times the magnitudes under GELU, times its largest slope, then gamma_{D_C+1} times those of the
        sum
    """
    # Hold the module's MLP and the two convolutions against the MLP of each row.
    table = arithmetic.tensor(case.table)
    module, convolved = case.channel_mixing(arithmetic).mlp(table), _convolved(table, case, arithmetic)
    rows = [case.mlp(row, arithmetic) for row in arithmetic.matrix(case.table)]
    shown = {"LayerNorm(U)": case.table, "W_3": case.first, "b_3": case.first_bias}
    return equal(torch.stack((module, convolved)), [rows, rows], **shown, W_4=case.second, b_4=case.second_bias)


def _convolved(table: Tensor, case: Mixing, arithmetic: Arithmetic) -> Tensor:
    """Return what 1 x 1 convolutions make of the table as a grid two patches wide."""
    grid = table.T.reshape(table.shape[1], -1, 2)
    hidden = F.conv2d(grid, arithmetic.tensor(case.first)[:, :, None, None], arithmetic.tensor(case.first_bias))
    second = arithmetic.tensor(case.second)[:, :, None, None]
    return F.conv2d(F.gelu(hidden), second, arithmetic.tensor(case.second_bias)).flatten(1).T
