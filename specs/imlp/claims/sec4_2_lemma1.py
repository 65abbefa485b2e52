"""Sec. 4.2, Lemma 1: the quadratic form of functions whose slopes lie in an interval."""

from hypothesis import strategies as st
from torch import Tensor, cat, diag, nn, ones, tensor

from imlp_audit.claims import POSITIVE, Sides, below, claim, size, tensors
from imlp_audit.models.imlp import AGeLU

from ._amlp import agelus
from ._certificate import GELU, ends
from ._theorem import PLAIN, block

n = size("n")
lam = tensors(n, values=(0.0, *POSITIVE))
FURTHER = st.sampled_from((0.0, 0.5, 2.0))


def starting(phi: AGeLU) -> AGeLU:
    """Return an APReLU with the slope that PReLU starts with."""
    nn.init.constant_(phi.get_parameter("phi.weight"), 0.25)
    return phi


@claim(
    x=tensors(n),
    y=tensors(n),
    phi=agelus(1),
    lam=lam,
    place="Sec. 4.2, Lemma 1 and Eq. 8",
    printed="[x - y; phi(x) - phi(y)]' [[-2 p q T, (p + q) T], [(p + q) T, -2 T]] [x - y; phi(x) - phi(y)] >= 0 for "
    "all x, y in R^n, T = sum_{i=1}^{n} lambda_ii e_i e_i', lambda_ii >= 0",
    examples=[
        {"x": tensor([z + 0.125]), "y": tensor([z - 0.125]), "phi": AGeLU(1), "lam": ones(1)} for z in (-1.4, 1.4)
    ],
)
def lemma1(x: Tensor, y: Tensor, phi: AGeLU, lam: Tensor) -> Sides:
    """For AGeLU applied to every element, slope-restricted on [p, q], and any diagonal T with no negative entries, the
    quadratic form of Lemma 1 in the differences of inputs and outputs is never negative.
    """
    v = cat([x - y, phi(x) - phi(y)])
    T, (p, q) = diag(lam), ends(phi, GELU)
    return below(0.0, v @ block([[-2 * p * q * T, (p + q) * T], [(p + q) * T, -2 * T]]) @ v)


@claim(
    x=tensors(n, values=PLAIN),
    y=tensors(n, values=PLAIN),
    phi=agelus(1, nn.PReLU, values=PLAIN).map(starting),
    lam=lam,
    less=FURTHER,
    more=FURTHER,
    examples=[  # where the slopes are those at the ends
        {
            **{name: tensor([z * at]) for name, at in (("x", 1.0), ("y", 2.0))},
            "phi": starting(AGeLU(1, nn.PReLU)),
            "lam": ones(1),
            "less": 0.0,
            "more": 0.0,
        }
        for z in (1.0, -1.0)
    ],
    place="Sec. 4.2, Lemma 1",
    printed="Suppose phi : R -> R is slope-restricted on [p, q]. Then [x - y; phi(x) - phi(y)]' [[-2 p q T, (p + q) "
    "T], [(p + q) T, -2 T]] [x - y; phi(x) - phi(y)] >= 0",
)
def lemma1_any_function(x: Tensor, y: Tensor, phi: AGeLU, lam: Tensor, less: float, more: float) -> Sides:
    """Lemma 1 holds for functions other than AGeLU, and for every interval that holds their slopes, not only for the
    narrowest.

    Tested with APReLU, whose slopes are alpha beta and alpha beta / 4, and with intervals that go beyond them at one
    end, at both or at none.
    """
    v, T, (p, q) = cat([x - y, phi(x) - phi(y)]), diag(lam), ends(phi, (0.25, 1.0))
    p, q = p - less, q + more
    return below(0.0, v @ block([[-2 * p * q * T, (p + q) * T], [(p + q) * T, -2 * T]]) @ v)
