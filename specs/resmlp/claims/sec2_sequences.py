"""Sec. 2, sequence-to-sequence ResMLP: a triangular A, and padding."""

from functools import partial

from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import pad

from imlp_audit.claims import Sides, choice, claim, depends, modules, size, tensors
from imlp_audit.models.resmlp import CrossPatch

from ..models import EquationLayer
from ._layer import d, eq2, eq3

tokens = size("tokens")


@claim(
    layer=modules(partial(EquationLayer, causal=True), d, tokens),
    X=tensors(2, d, tokens),
    place="Sec. 2, Sequence-to-sequence ResMLP",
    printed="constraining the matrix A to be triangular, in order to prevent a given token representation to access "
    "tokens from the future",
)
def triangular_a_hides_the_future(layer: EquationLayer, X: Tensor) -> Sides:
    """Constraining A to be triangular keeps a token from accessing tokens from the future. Read as: lower triangular,
    as row n of A makes token n in A X^T; then the layer is Eq. 2 and 3 with that A, and no token has a derivative by a
    later one.
    """
    A = layer.get_parameter("across_patches.a.weight")
    between = depends(layer, X[:1].mT)[0, :, :, 0].any(dim=3).any(dim=1)
    return [(layer(X.mT).mT, eq3(eq2(X, layer, A.tril()), layer)), not bool(between.triu(1).any())]


length, padding = size("L", 1, 2), size("padding", 1, 2)
_longer = st.tuples(length, padding).map(lambda n: sum(n) + 1)  # A's, which is cut to the longest of the batch


@claim(
    layer=modules(partial(EquationLayer, causal=True), d, _longer),
    X=tensors(2, d, length),
    padding=padding,
    place="Sec. 2, Sequence-to-sequence ResMLP",
    printed="constraining the matrix A to be triangular; simply padding with zeros and extracting the submatrix A "
    "corresponding to the longest sequence in a batch",
)
def padding_adds_nothing_to_a_decoder(layer: EquationLayer, X: Tensor, padding: int) -> Sides:
    """Where A is triangular, padding a sequence with zeros and taking the submatrix of A for the longest of the batch
    adds nothing to its tokens, whatever the Affs are: padding comes after them.
    """
    L, A = X.shape[2], layer.get_parameter("across_patches.a.weight").tril()
    Z = layer.cross_patch(pad(X, (0, padding)).mT).mT
    return Z[..., :L], eq2(X, layer, A[:L, :L])


@claim(
    layer=modules(EquationLayer, d, _longer),
    X=tensors(2, d, length),
    padding=padding,
    place="Sec. 2, Sequence-to-sequence ResMLP",
    printed="simply padding with zeros and extracting the submatrix A corresponding to the longest sequence in a "
    "batch; in Eq. 2, Z_cn of the padded sequence = Z_cn of the sequence alone + alpha'_c beta_c "
    "sum_{m=L+1}^{longest} A_nm",
)
def padding_adds_what_aff_makes_of_zeros(layer: EquationLayer, X: Tensor, padding: int) -> Sides:
    """Padding a sequence with zeros and taking the submatrix of A for the longest of the batch adds to each token what
    the first Aff makes of the zeros: its beta times the weights of A on the padding, scaled by the last Aff; nothing
    where that beta is zero. The rest of A has no part in it.
    """
    L, A = X.shape[2], layer.get_parameter("across_patches.a.weight")
    Z = layer.cross_patch(pad(X, (0, padding)).mT).mT
    scale = layer.post1.get_parameter("alpha") * layer.pre1.get_parameter("beta")
    added = scale[:, None] * A[:L, L : L + padding].sum(dim=1)
    return Z[..., :L], eq2(X, layer, A[:L, :L]) + added


_causal, _tokens, _more = choice("triangular", False, True), size("L", 1, 2, 50), size("A", 0, 1, 2)


def _cross_patch(size: tuple[int, int], causal: bool) -> CrossPatch:
    return CrossPatch(sum(size), bias=True, causal=causal)


@claim(
    layer=modules(_cross_patch, st.tuples(_tokens, _more), _causal, training=st.booleans()),
    X=tensors(2, 2, _tokens),
    triangular=_causal,
    place="Sec. 2, Sequence-to-sequence ResMLP, and Appendix C, Algorithm 1",
    printed="extracting the submatrix A corresponding to the longest sequence in a batch",
)
def submatrix_of_the_first_tokens(layer: CrossPatch, X: Tensor, triangular: bool) -> Sides:
    """A sequence that is shorter than A takes A's first rows and columns, and where the linear layer has a bias, as in
    Algorithm 1, its first entries: one for each token.
    """
    L = X.shape[2]
    A, bias = layer.a.weight[:L, :L], layer.a.bias[:L]
    A = A.tril() if triangular else A
    return layer(X.mT), A @ X.mT + bias[:, None]
