"""Sec. 3, Eq. 1 and 2: the MLP, and its output as scales and biases of one input element."""

from operator import itemgetter

import torch
import torch.nn.functional as F
from torch import Tensor, einsum, stack
from torch.func import vmap

from imlp_audit.claims import Sides, choice, claim_about, size, tensors

from ._amlp import leaves, mlp, others, under_phi, with_gradients

C, H = size("C"), size("C'")
REAL = choice("N, C, C'", (1, 1, 1), (2, 2, 3), (3, 1, 2), (196, 192, 768))  # DeiT-Ti's tokens and widths
NR, CR, HR = (REAL.map(itemgetter(i)) for i in range(3))
TRAINING = choice("training", False, True)
claim = claim_about(Wa=tensors(C, H), Wb=tensors(H, C), x=tensors(C))


@claim(
    X=tensors(NR, CR),
    Wa=tensors(CR, HR),
    Wb=tensors(HR, CR),
    G=tensors(NR, CR),
    training=TRAINING,
    place='Sec. 3, Eq. 1, and "Without loss of generality, we assume N = 1"',
    printed="Y = MLP(X) = phi(X W^a) W^b; X in R^{N x C}; row n of Y is phi(x W^a) W^b of row n of X",
)
def eq1_rows_independent(X: Tensor, Wa: Tensor, Wb: Tensor, G: Tensor, training: bool) -> Sides:
    """Each row of the MLP's output is the MLP of the same row of its input, so one row says it all (N = 1)."""
    X, Wa, Wb = leaves(X, Wa, Wb)
    rows = vmap(lambda x: F.gelu(x @ Wa) @ Wb)(X)
    return with_gradients(mlp(X, Wa, Wb, training=training), rows, G, X, Wa, Wb)


@claim(place="Sec. 3, Eq. 2, first equality", printed="x W^a = (sum_{i=1}^{C} w^a_{ic'} x_i)_{c'=1}^{C'}")
def eq2_hidden(x: Tensor, Wa: Tensor) -> Sides:
    """Each element of x W^a is the sum of the inputs weighted by a column of W^a."""
    return under_phi(x, Wa), einsum("ic,i->c", Wa, x)


@claim(place="Sec. 3, Eq. 2, second equality", printed="phi(x W^a) = (phi(sum_{i=1}^{C} w^a_{ic'} x_i))_{c'=1}^{C'}")
def eq2_activation(x: Tensor, Wa: Tensor) -> Sides:
    """phi(x W^a) is phi of each of the sums that x W^a consists of."""
    phi_of_xWa = mlp(x, Wa, torch.eye(Wa.shape[1]))
    return phi_of_xWa, stack([F.gelu((Wa[:, c] * x).sum()) for c in range(Wa.shape[1])])


@claim(
    place="Sec. 3, Eq. 2, third equality",
    printed="y = phi(x W^a) W^b = (sum_{j=1}^{C'} w^b_{jc} phi(sum_{i=1}^{C} w^a_{ij} x_i))_{c=1}^{C}",
)
def eq2_output(x: Tensor, Wa: Tensor, Wb: Tensor) -> Sides:
    """Each output of the MLP is the sum of its hidden units weighted by a column of W^b."""
    return mlp(x, Wa, Wb), einsum("jc,j->c", Wb, F.gelu(einsum("ij,i->j", Wa, x)))


@claim(
    place="Sec. 3, Eq. 2, last equality",
    printed="phi(x W^a) W^b = (sum_{j=1}^{C'} w^b_{jc} phi(m_{cj} x_c + n_{cj}))_{c=1}^{C}, m_{cj} = w^a_{cj}, n_{cj} "
    "= sum_{i=1, i != c}^{C} w^a_{ij} x_i",
)
def eq2_scale_and_bias(x: Tensor, Wa: Tensor, Wb: Tensor) -> Sides:
    """The MLP's matrix form is, for each output, a sum over hidden units of phi of a scale times x_c plus a bias."""
    m, n = Wa, others(x, Wa)
    return mlp(x, Wa, Wb), einsum("jc,cj->c", Wb, F.gelu(m * x[:, None] + n))
