"""Sec. 2, Eq. 1: the affine transformation Aff, how layers start, and what absorbs an Aff."""

import torch
from hypothesis import strategies as st
from torch import Tensor, einsum, ones, stack, tensor

from imlp_audit.claims import NONZERO, Sides, below, choice, claim_about, gradients, jacobian, modules, size, tensors
from imlp_audit.models.resmlp import Aff, CrossPatch, LayerScale

from ..models import EquationLayer
from ._layer import d, eq2, eq3, loaded, patches

any_d = size("d", 1, 2, 3, 384)
claim = claim_about(
    aff=modules(Aff, d),
    x=tensors(d),
    X=tensors(2, d, patches),
    B=tensors(d.map(lambda n: 4 * n), d),
    C=tensors(d, d.map(lambda n: 4 * n)),
)


@claim(
    aff=modules(Aff, any_d, training=st.booleans()),
    x=tensors(any_d),
    place="Sec. 2, Eq. 1",
    printed="Aff(x) = Diag(alpha) x + beta",
)
def eq1_aff(aff: Aff, x: Tensor) -> Sides:
    """Aff(x) is the product of the diagonal matrix of alpha with x, plus beta."""
    printed = aff.alpha.diag() @ x + aff.beta
    return [(aff(x), printed), (gradients(aff(x), aff), gradients(printed, aff))]


@claim(
    X=tensors(d, patches),
    place="Sec. 2, after Eq. 1",
    printed="we denote by Aff(X) the Affine operation applied independently to each column of the matrix X",
)
def aff_acts_on_each_column(aff: Aff, X: Tensor) -> Sides:
    """Aff(X) is Aff of each column of X, that is of each patch's d features, on its own."""
    columns = [aff.alpha.diag() @ column + aff.beta for column in X.T]
    return aff(X.T[None])[0].T, stack(columns, dim=1)


@claim(place="Sec. 2, after Eq. 1", printed="This operation only rescales and shifts the input element-wise")
def aff_rescales_and_shifts(aff: Aff, x: Tensor) -> Sides:
    """Aff only rescales and shifts its input element by element: whatever the input is, an output's only derivative is
    alpha, by the input element in its own place, and at zero the output is beta.
    """
    return [(jacobian(aff, x), aff.alpha.diag()), (aff(0 * x), aff.beta)]


@claim(X=tensors(1, patches, d), place="Sec. 2, after Eq. 1", printed="Here, we initialize alpha = 1, and beta = 0")
def aff_starts_as_the_identity(X: Tensor) -> Sides:
    """As a pre-normalization Aff starts as the identity."""
    layer = EquationLayer(X.shape[2], X.shape[1])
    return [(layer.pre1(X), X), (layer.pre2(X), X)]


@claim(
    alpha=choice("alpha", 0.0, 0.25, 2.0**-10),
    A=tensors(patches, patches),
    place="Sec. 2, after Eq. 1",
    printed="As a post-normalization, Aff is similar to LayerScale and we initialize alpha with the same small "
    "value; |Y - X| <= alpha (|X| |A|^T + |C| |B| |Z|), with |Z| <= |X| + alpha |X| |A|^T, as |GELU(t)| <= |t|",
)
def layer_starts_near_the_identity(alpha: float, X: Tensor, A: Tensor, B: Tensor, C: Tensor) -> Sides:
    """A layer starts near the identity, the nearer the smaller the alpha that the Affs after its sublayers start with:
    read as |Y - X| at most alpha times the magnitudes that A, B and C give, and Y = X where that alpha is zero.
    """
    weights = {"across_patches.a.weight": A, "across_channels.b.weight": B, "across_channels.c.weight": C}
    layer = loaded(EquationLayer(len(C), len(A), scale=alpha), weights)
    Y = layer(X.mT).mT
    first = alpha * X.abs() @ A.abs().T
    return [(Y, eq3(eq2(X, layer), layer)), below((Y - X).abs(), first + alpha * C.abs() @ B.abs() @ (X.abs() + first))]


@claim(
    place="Sec. 2, after Eq. 1", printed="The closer operator to Aff is the LayerScale, with an additional bias term"
)
def aff_is_layer_scale_plus_bias(aff: Aff, x: Tensor) -> Sides:
    """Aff is LayerScale with an additional bias."""
    scale = loaded(LayerScale(len(x), 1.0), {"alpha": aff.alpha})
    return scale(x) + aff.beta, aff.alpha.diag() @ x + aff.beta


_alpha, _x = tensors(2, values=NONZERO), tensors(2, patches, values=NONZERO)
_a = tensors(patches, patches, values=NONZERO)
_channels_differ = {"A": ones(1, 1), "alpha": tensor([1.0, 2.0]), "X": ones(2, 1)}


@claim(
    A=_a,
    alpha=_alpha,
    X=_x,
    examples=[_channels_differ],
    place="Sec. 2, after Eq. 1, of Eq. 2's A and the Aff before it",
    printed="it has no cost at inference time, since it can absorbed in the adjacent linear layer",
    nearest="aff_absorbed_by_a_after_it_corrected",
)
def aff_absorbed_by_a_after_it(A: Tensor, alpha: Tensor, X: Tensor) -> Sides:
    """The Aff before A can be absorbed in A: a linear layer across patches, shared by all channels, with a bias for
    each patch, gives what A gives after the Aff. Channel 1 leaves one such layer: its weights are alpha_1 A, its biases
    beta_1 times the sums of A's rows. Tried where beta is zero and no other number is.
    """
    beta = 0 * alpha
    apart = A @ (alpha.diag() @ X + beta[:, None]).T
    return apart, alpha[0] * A @ X.T + beta[0] * A.sum(dim=1, keepdim=True)


def _is_absorbed(A: Tensor, alpha: Tensor, beta: Tensor, *, aff_first: bool) -> bool:
    """Whether A and an Aff of two channels are one affine map across patches, which both channels share.

    Such a map is known by what it makes of zero and of each patch set to 1.
    """
    linear = loaded(CrossPatch(len(A), bias=False), {"a.weight": A})
    aff = loaded(Aff(2), {"alpha": alpha, "beta": beta})
    probes = torch.cat([torch.zeros(1, len(A)), torch.eye(len(A))])[:, :, None].expand(-1, -1, 2)
    y = linear(aff(probes)) if aff_first else aff(linear(probes))
    return torch.equal(y[..., 0], y[..., 1])


_few_a = size("N^2", 1, 2).flatmap(lambda n: tensors(n, n, values=(0.0, 1.0, -1.0)))
_few_alpha, _few_beta = tensors(2, values=(1.0, 2.0)), tensors(2, values=(0.0, 1.0))


@claim(
    A=_few_a,
    alpha=_few_alpha,
    beta=_few_beta,
    examples=[
        {"A": tensor([[1.0, -1.0], [1.0, -1.0]]), "alpha": ones(2), "beta": tensor([0.0, 1.0])},
        {"A": tensor([[1.0, 1.0], [-1.0, -1.0]]), "alpha": ones(2), "beta": tensor([0.0, 1.0])},
    ],
    place="Sec. 2, after Eq. 1, of Eq. 2's A and the Aff before it",
    corrected="A Aff(X)^T = A' X^T + a' for all X, if and only if (alpha_c - alpha_1) A = 0 and (beta_c - beta_1) "
    "sum_m A_nm = 0 for all c and n",
)
def aff_absorbed_by_a_after_it_corrected(A: Tensor, alpha: Tensor, beta: Tensor) -> Sides:
    """The Aff before A can be absorbed in A exactly where all channels have the same alpha, or A is zero, and all
    channels have the same beta, or every row of A sums to zero: A acts on patches and is shared by the channels, alpha
    and beta belong to channels.
    """
    scales_agree = not bool(((alpha[1] - alpha[0]) * A).any())
    shifts_agree = not bool(((beta[1] - beta[0]) * A.sum(dim=1)).any())
    return _is_absorbed(A, alpha, beta, aff_first=True), scales_agree and shifts_agree


@claim(
    A=_a,
    alpha=_alpha,
    X=_x,
    examples=[_channels_differ],
    place="Sec. 2, after Eq. 1, of Eq. 2's A and the Aff after it",
    printed="it has no cost at inference time, since it can absorbed in the adjacent linear layer",
    nearest="aff_absorbed_by_a_before_it_corrected",
)
def aff_absorbed_by_a_before_it(A: Tensor, alpha: Tensor, X: Tensor) -> Sides:
    """The Aff after A can be absorbed in A: a linear layer across patches, shared by all channels, with a bias for each
    patch, gives what the Aff gives after A. Channel 1 leaves one such layer: its weights are alpha_1 A, its biases all
    beta_1. Tried where beta is zero and no other number is.
    """
    beta = 0 * alpha
    apart = alpha.diag() @ (A @ X.T).T + beta[:, None]
    return apart, (alpha[0] * A @ X.T).T + beta[0]


@claim(
    A=_few_a,
    alpha=_few_alpha,
    beta=_few_beta,
    place="Sec. 2, after Eq. 1, of Eq. 2's A and the Aff after it",
    corrected="Aff((A X^T)^T)^T = A' X^T + a' for all X, if and only if (alpha_c - alpha_1) A = 0 and beta_c = "
    "beta_1 for all c",
)
def aff_absorbed_by_a_before_it_corrected(A: Tensor, alpha: Tensor, beta: Tensor) -> Sides:
    """The Aff after A can be absorbed in A exactly where all channels have the same alpha, or A is zero, and all
    channels have the same beta: A acts on patches and is shared by the channels, alpha and beta belong to channels.
    """
    scales_agree = not bool(((alpha[1] - alpha[0]) * A).any())
    return _is_absorbed(A, alpha, beta, aff_first=False), scales_agree and bool(beta[1] == beta[0])


@claim(
    z=tensors(d),
    place="Sec. 2, after Eq. 1, of Eq. 3's B",
    printed="it has no cost at inference time, since it can absorbed in the adjacent linear layer",
)
def aff_absorbed_by_b(aff: Aff, B: Tensor, z: Tensor) -> Sides:
    """The Aff before B can be absorbed in it: B Aff(z) is a linear layer of weights B Diag(alpha) and bias B beta."""
    return B @ aff(z), (B @ aff.alpha.diag()) @ z + B @ aff.beta


@claim(
    h=tensors(d.map(lambda n: 4 * n)),
    place="Sec. 2, after Eq. 1, of Eq. 3's C",
    printed="it has no cost at inference time, since it can absorbed in the adjacent linear layer",
)
def aff_absorbed_by_c(aff: Aff, C: Tensor, h: Tensor) -> Sides:
    """The Aff after C can be absorbed in it: Aff(C h) is a linear layer of weights Diag(alpha) C and bias beta."""
    return aff(C @ h), (aff.alpha.diag() @ C) @ h + aff.beta


@claim(
    layer=modules(EquationLayer, d, patches),
    place="Sec. 2, after Eq. 1, of Eq. 2's A",
    corrected="Aff((A Aff(X)^T)^T)_cn = alpha'_c alpha_c sum_m A_nm X_cm + alpha'_c beta_c sum_m A_nm + beta'_c, "
    "with alpha, beta of the Aff before A and alpha', beta' of the one after it",
)
def affs_around_a_merge(layer: EquationLayer, X: Tensor) -> Sides:
    """One of the two Affs around A can be saved at inference: together they scale each channel of (A X^T)^T
    once and add a d x N^2 bias.
    """
    A = layer.get_parameter("across_patches.a.weight")
    first, last = (layer.get_submodule(name) for name in ("pre1", "post1"))
    alpha, beta = first.get_parameter("alpha"), first.get_parameter("beta")
    alpha_, beta_ = last.get_parameter("alpha"), last.get_parameter("beta")
    merged = einsum("c,nm,bcm->bcn", alpha_ * alpha, A, X) + einsum("c,nm->cn", alpha_ * beta, A) + beta_[:, None]
    return layer.cross_patch(X.mT).mT, X + merged
