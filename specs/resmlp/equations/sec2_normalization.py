"""Sec. 2, after Eq. 1: which statistics normalisations use."""

from __future__ import annotations

from torch import Tensor, nn

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim
from imlp_audit.equations.dependence import depends
from imlp_audit.equations.strategies import Matrix, Vector, matrices, vectors

from ._layer import WIDTHS, AffCase, affs, each_of
from ._statistics import Batch, batches


@claim(each_of(lambda d: st.tuples(affs(d), matrices(3, d)), WIDTHS))
def aff_uses_no_batch_statistics(case: tuple[AffCase, Matrix], arithmetic: Arithmetic) -> Trial:
    """Aff does not depend on batch statistics: no output has a derivative by another sample of the batch.

    Place: Sec. 2, after Eq. 1
    Printed: as opposed to BatchNorm and Layer Normalization, the Aff operator does not depend on batch statistics
    Bound: none: a derivative is exactly zero or it is not
    """
    # Look for derivatives of one sample's output by another sample.
    aff, batch = case
    found = depends(aff.module(arithmetic), arithmetic.tensor(batch)).any(dim=3).any(dim=1)
    samples = range(len(batch))
    leaks = [[i + 1, j + 1] for i in samples for j in samples if i != j and found[i, j]]
    shown = {"alpha": aff.alpha, "beta": aff.beta, "batch": batch, "samples that depend on others": leaks}
    return Trial(not leaks, shown)


@claim(each_of(lambda d: st.tuples(affs(d), vectors(d)), (2, 3)))
def aff_uses_no_channel_statistics(case: tuple[AffCase, Vector], arithmetic: Arithmetic) -> Trial:
    """As a pre-normalization Aff uses no channel-wise statistics: no channel's output has a derivative by another
    channel.

    Place: Sec. 2, after Eq. 1
    Printed: As a pre-normalization, Aff replaces LayerNorm without using channel-wise statistics
    Bound: none: a derivative is exactly zero or it is not
    """
    # Look for derivatives of one channel by another.
    aff, x = case
    found = depends(aff.module(arithmetic), arithmetic.tensor(x))
    leaks = [[i + 1, j + 1] for i in range(len(x)) for j in range(len(x)) if i != j and found[i, j]]
    return Trial(not leaks, {"alpha": aff.alpha, "beta": aff.beta, "x": x, "channels that depend on others": leaks})


@claim(batches())
def batchnorm_uses_batch_statistics(case: Batch, arithmetic: Arithmetic) -> Trial:
    """BatchNorm depends on batch statistics: in training, a sample's output changes where the rest of its batch does.
    Read as: where the other samples are reflected about the sample, which moves the mean but not the variance.

    Place: Sec. 2, after Eq. 1
    Printed: as opposed to BatchNorm, the Aff operator does not depend on batch statistics (what it says of BatchNorm)
    Bound: none: the output's sign flips
    """
    # Hold the sample's outputs in both batches against each other.
    norm = arithmetic.place(nn.BatchNorm1d(2)).train()
    changes = case.of_own(norm, arithmetic) != case.reflected().of_own(norm, arithmetic)
    return Trial(changes, case.shown(norm, arithmetic))


@claim(batches())
def layernorm_uses_batch_statistics(case: Batch, arithmetic: Arithmetic) -> Trial:
    """Layer Normalization depends on batch statistics: a sample's output changes where the rest of its batch does. Read
    as: where the other samples are reflected about the sample, as BatchNorm's output does.

    Place: Sec. 2, after Eq. 1
    Printed: as opposed to BatchNorm and Layer Normalization, the Aff operator does not depend on batch statistics (what
        it says of Layer Normalization)
    Nearest: layernorm_uses_batch_statistics_corrected
    Bound: none: the output is the same to the bit or it is not
    """
    # Hold the sample's outputs in both batches against each other.
    norm = arithmetic.place(nn.LayerNorm(2))
    changes = case.of_own(norm, arithmetic) != case.reflected().of_own(norm, arithmetic)
    return Trial(changes, case.shown(norm, arithmetic))


@claim(batches())
def layernorm_uses_batch_statistics_corrected(case: Batch, arithmetic: Arithmetic) -> Trial:
    """Layer Normalization depends on the statistics of one sample's channels, and on no other sample: a channel's
    output changes where the sample's other channels are reflected about it, and stays where other samples are.

    Place: Sec. 2, after Eq. 1
    Corrected: as opposed to BatchNorm, which depends on batch statistics, and to Layer Normalization, which depends on
        channel statistics, the Aff operator depends on neither
    Bound: none: the output is the same to the bit, or its sign flips
    """
    # Hold outputs in both batches against each other, with its rows as samples and then with its columns.

    def over_columns(batch: Tensor) -> Tensor:
        normalised: Tensor = arithmetic.place(nn.LayerNorm(3))(batch.T)
        return normalised.T

    of_samples = arithmetic.place(nn.LayerNorm(2))
    stays = case.of_own(of_samples, arithmetic) == case.reflected().of_own(of_samples, arithmetic)
    changes = case.of_own(over_columns, arithmetic) != case.reflected().of_own(over_columns, arithmetic)
    return Trial(stays and changes, case.shown(over_columns, arithmetic))
