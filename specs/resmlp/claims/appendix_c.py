"""Appendix C, Algorithm 1, against Eq. 2 and 3."""

from hypothesis import strategies as st
from torch import Tensor, ones, tensor, zeros

from imlp_audit.claims import NONZERO, Sides, claim, modules, parameters, tensors

from ..models import AlgorithmLayer, EquationLayer
from ._layer import aff, d, eq3, loaded, patches


def _algorithm1(layer: EquationLayer, biases: dict[str, Tensor]) -> AlgorithmLayer:
    """Algorithm 1's layer with all that it has of Eq. 2 and 3, and with biases of its own."""
    names = [name for name, _ in layer.named_parameters() if name not in ("post1.beta", "post2.beta")]
    shared = {name: layer.get_parameter(name) for name in names}
    d, n = len(layer.get_parameter("pre1.alpha")), len(layer.get_parameter("across_patches.a.weight"))
    return loaded(AlgorithmLayer(d, n), shared | biases)


_channels_differ = {
    "X": ones(2, 1),
    "A": ones(1, 1),
    "before": ones(2),
    "after": {"alpha": ones(2), "beta": tensor([0.0, 1.0])},
}
_two = tensors(2, values=NONZERO)


@claim(
    X=tensors(2, patches, values=NONZERO),
    A=tensors(patches, patches, values=NONZERO),
    before=_two,
    after=st.fixed_dictionaries({"alpha": _two, "beta": tensors(2)}),
    examples=[_channels_differ],
    place="Appendix C, and Sec. 2, Eq. 2",
    printed="In Algorithm 1 we provide the pseudo-pytorch-code associated with our model (of Eq. 2: Z = X + Aff((A "
    "Aff(X)^T)^T); Algorithm 1: Z = X + Diag(alpha) (A Aff(X)^T + a)^T)",
    nearest="algorithm1_computes_eq2_corrected",
)
def algorithm1_computes_eq2(X: Tensor, A: Tensor, before: Tensor, after: dict[str, Tensor]) -> Sides:
    """Algorithm 1's cross-patch sublayer computes Eq. 2: with Eq. 2's A, first Aff and alpha after A, some bias of A
    takes the place of beta after A. Channel 1 leaves one bias for it, beta_1 / alpha_1 for every patch.
    """
    alpha, beta = after["alpha"], after["beta"]
    mixed = A @ (before.diag() @ X).T
    a = beta[0] / alpha[0]
    return X + alpha.diag() @ (mixed + a).T, X + alpha.diag() @ mixed.T + beta[:, None]


@claim(
    X=tensors(2, d, patches),
    layer=modules(EquationLayer, d, patches),
    b=tensors(),
    place="Appendix C, and Sec. 2, Eq. 2",
    corrected="X + Diag(alpha) (A Aff(X)^T + b)^T = X + Aff((A Aff(X)^T)^T), with beta = b alpha in the last Aff",
)
def algorithm1_computes_eq2_corrected(X: Tensor, layer: EquationLayer, b: Tensor) -> Sides:
    """Algorithm 1's cross-patch sublayer with a bias b for every patch computes Eq. 2 where the Aff after A has beta =
    b alpha: where b is zero, a LayerScale.
    """
    A, alpha = layer.get_parameter("across_patches.a.weight"), layer.post1.get_parameter("alpha")
    algorithm1 = _algorithm1(layer, {"across_patches.a.bias": b.expand(len(A))})
    beta = b * alpha
    Z = X + alpha.diag() @ (A @ aff(X, layer.pre1).mT).mT + beta[:, None]
    return algorithm1.cross_patch(X.mT).mT, Z


@claim(
    Z=tensors(2, d, patches),
    layer=modules(EquationLayer, d, patches, values=NONZERO),
    place="Appendix C, and Sec. 2, Eq. 3",
    printed="In Algorithm 1 we provide the pseudo-pytorch-code associated with our model (of Eq. 3: Y = Z + Aff(C "
    "GELU(B Aff(Z))); Algorithm 1: Y = Z + Diag(alpha) (C GELU(B Aff(Z) + b) + c))",
)
def algorithm1_computes_eq3(Z: Tensor, layer: EquationLayer) -> Sides:
    """Algorithm 1's cross-channel sublayer computes Eq. 3: with Eq. 3's B, C, first Aff and alpha after C, no bias of
    B, and beta / alpha as the bias of C.
    """
    alpha, beta = layer.post2.get_parameter("alpha"), layer.post2.get_parameter("beta")
    algorithm1 = _algorithm1(
        layer, {"across_channels.b.bias": zeros(4 * len(alpha)), "across_channels.c.bias": beta / alpha}
    )
    return algorithm1.cross_channel(Z.mT).mT, eq3(Z, layer)


@claim(
    d=st.integers(1, 4),
    N=st.integers(1, 3),
    examples=[{"d": 1, "N": 1}],
    place="Appendix C, and Sec. 2, Eq. 2 and 3",
    printed="In Algorithm 1 we provide the pseudo-pytorch-code associated with our model (for Eq. 2 and 3, that is "
    "N^4 + 8 d^2 weights and 4 x 2d of the Affs)",
    nearest="algorithm1_has_the_parameters_of_eq2_eq3_corrected",
)
def algorithm1_has_the_parameters_of_eq2_eq3(d: int, N: int) -> Sides:
    """Algorithm 1's layer has as many parameters as Eq. 2 and 3: A, B, C and four Affs."""
    return parameters(lambda: AlgorithmLayer(d, N**2)), N**4 + 8 * d**2 + 4 * 2 * d


@claim(
    d=st.integers(1, 4),
    N=st.integers(1, 3),
    place="Appendix C, and Sec. 2, Eq. 2 and 3",
    corrected="N^4 + 8 d^2 + 8d parameters of Eq. 2 and 3; N^2 + 4d + d of biases and -2d of beta to Algorithm 1",
)
def algorithm1_has_the_parameters_of_eq2_eq3_corrected(d: int, N: int) -> Sides:
    """Algorithm 1's layer has N^2 + 3d parameters more than Eq. 2 and 3: biases of A, B and C, less the biases of the
    two Affs after the sublayers, which are LayerScales.
    """
    printed = N**4 + 8 * d**2 + 4 * 2 * d
    return [
        (parameters(lambda: EquationLayer(d, N**2)), printed),
        (parameters(lambda: AlgorithmLayer(d, N**2)), printed + N**2 + 4 * d + d - 2 * d),
    ]
