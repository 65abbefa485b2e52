"""Sec. 2, after Eq. 1: which statistics normalisations use."""

from collections.abc import Callable

from hypothesis import assume
from torch import Tensor, cat, eye, nn, tensor

from imlp_audit.claims import Sides, claim_about, depends, modules, tensors
from imlp_audit.models.resmlp import Aff

from ._layer import d

claim = claim_about(aff=modules(Aff, d), x=tensors(2).filter(lambda x: bool(x[0] != x[1])), others=tensors(2, 2))


@claim(
    batch=tensors(3, d),
    place="Sec. 2, after Eq. 1",
    printed="as opposed to BatchNorm and Layer Normalization, the Aff operator does not depend on batch statistics",
)
def aff_uses_no_batch_statistics(aff: Aff, batch: Tensor) -> Sides:
    """Aff does not depend on batch statistics: no output has a derivative by another sample of the batch."""
    between_samples = depends(aff, batch).any(dim=3).any(dim=1)
    return not bool((between_samples & ~eye(3).bool()).any())


@claim(
    x=tensors(d),
    place="Sec. 2, after Eq. 1",
    printed="As a pre-normalization, Aff replaces LayerNorm without using channel-wise statistics",
)
def aff_uses_no_channel_statistics(aff: Aff, x: Tensor) -> Sides:
    """As a pre-normalization Aff uses no channel-wise statistics: no channel's output has a derivative by another
    channel.
    """
    return not bool((depends(aff, x) & ~eye(len(x)).bool()).any())


def _changes(norm: Callable[[Tensor], Tensor], x: Tensor, others: Tensor) -> bool:
    """Whether the output of x changes where the other samples of its batch are reflected about it."""
    assume(bool(((x - others.mean(dim=0)) != 0).any()))
    outputs = [norm(cat([x[None], rest]))[0] for rest in (others, 2 * x - others)]
    return bool((outputs[0] - outputs[1]).abs().max() > 1e-6)


@claim(
    place="Sec. 2, after Eq. 1",
    printed="as opposed to BatchNorm, the Aff operator does not depend on batch statistics (what it says of BatchNorm)",
)
def batchnorm_uses_batch_statistics(x: Tensor, others: Tensor) -> Sides:
    """BatchNorm depends on batch statistics: in training, a sample's output changes where the rest of its batch does.
    Read as: where the other samples are reflected about the sample, which moves the mean but not the variance.
    """
    return _changes(nn.BatchNorm1d(2).train(), x, others)


@claim(
    examples=[{"x": tensor([0.0, 1.0]), "others": tensor([[1.0, 0.0], [2.0, 0.0]])}],
    place="Sec. 2, after Eq. 1",
    printed="as opposed to BatchNorm and Layer Normalization, the Aff operator does not depend on batch statistics "
    "(what it says of Layer Normalization)",
    nearest="layernorm_uses_batch_statistics_corrected",
)
def layernorm_uses_batch_statistics(x: Tensor, others: Tensor) -> Sides:
    """Layer Normalization depends on batch statistics: a sample's output changes where the rest of its batch does. Read
    as: where the other samples are reflected about the sample, as BatchNorm's output does.
    """
    return _changes(nn.LayerNorm(2), x, others)


@claim(
    place="Sec. 2, after Eq. 1",
    corrected="as opposed to BatchNorm, which depends on batch statistics, and to Layer Normalization, which depends "
    "on channel statistics, the Aff operator depends on neither",
)
def layernorm_uses_batch_statistics_corrected(x: Tensor, others: Tensor) -> Sides:
    """Layer Normalization depends on the statistics of one sample's channels, and on no other sample: a channel's
    output changes where the sample's other channels are reflected about it, and stays where other samples are.
    """

    def over_columns(batch: Tensor) -> Tensor:
        normal: Tensor = nn.LayerNorm(3)(batch.T)
        return normal.T

    return [not _changes(nn.LayerNorm(2), x, others), _changes(over_columns, x, others)]
