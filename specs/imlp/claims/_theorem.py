"""The AMLP module f of Theorem 1: W^1 concat(phi_1(W^0 x + b^0), phi_2(W^0 x + b^0)) + b^1."""

from dataclasses import dataclass
from operator import itemgetter

import torch
from torch import Tensor, cat, linalg

from imlp_audit.claims import choice, modules, tensors
from imlp_audit.models.imlp import AGeLU, ChannelPart, Imlp, amlp
from imlp_audit.models.new_modules import of_ones

from ._certificate import GELU, ends, prove

PLAIN = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1.5, -1.5, 0.25, -0.25)  # sums of their products are exact
_SIZES = choice("n_0, n, m", (1, 1, 1), (2, 1, 2), (1, 2, 2), (2, 3, 1))


def of_one_phi(f: Imlp) -> Imlp:
    """Give all n hidden units of each half the coefficients of the first one."""
    for phi in phis(f):
        for coefficients in phi.parameters():
            coefficients.data[:] = coefficients.data[0].clone()
    return f


MODULE = modules(amlp, *(_SIZES.map(itemgetter(i)) for i in range(3)), values=PLAIN).map(of_one_phi)
X = tensors(_SIZES.map(itemgetter(0)), values=PLAIN)
T = tensors(_SIZES.map(itemgetter(1)), values=(1.0, 2.0, 0.5, 3.0, 1.5, 0.25))  # the diagonal
B = tensors(_SIZES.map(itemgetter(2)), values=PLAIN)


@dataclass(frozen=True)
class Half:
    """g(x) = W^11 phi_1(W^0 x + b^0), with [p_1, q_1], or h(x), the other half; without a bias of its own."""

    W0: Tensor
    b0: Tensor
    phi: AGeLU
    W1: Tensor

    def x1(self, x: Tensor) -> Tensor:
        """Return x^1 = phi_1(W^0 x + b^0)."""
        y: Tensor = self.phi(self.W0 @ x + self.b0)
        return y

    def __call__(self, x: Tensor) -> Tensor:
        """Return W^11 x^1."""
        return self.W1 @ self.x1(x)

    @property
    def pq(self) -> tuple[Tensor, Tensor]:
        """Return p_1 and q_1."""
        return ends(self.phi, GELU)

    def chosen(self, t: Tensor) -> Tensor:
        """Return the diagonal of a T that has a rho: what is best for one hidden unit, or more where t is above 1."""
        p, q = self.pq
        omega: Tensor = linalg.matrix_norm(self.W1, 2) ** 2
        return omega * (1 + (p + q).abs() / (q - p)) / 2 * t.clamp(min=1)

    def rho(self, T: Tensor) -> float:
        """Return the least rho with M(rho, T) <= 0, as it is proven."""
        p, q = self.pq
        proof = prove((self.W0.numpy(), self.W1.numpy()), T.diag().numpy(), (p.item(), q.item()))
        assert proof is not None, "a T above half the squared norm of W^1i always has a rho"
        return proof.rho


def layers(f: Imlp) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return W^0, b^0, W^1 and b^1."""
    W0, b0, W1, b1 = (f.get_parameter(f"fc{i}.{name}").detach() for i in (1, 2) for name in ("weight", "bias"))
    return W0, b0, W1, b1


def phis(f: Imlp) -> tuple[AGeLU, AGeLU]:
    """Return phi_1 and phi_2."""
    assert isinstance(f.act, ChannelPart)
    first, second = f.act.agelu1, f.act.agelu2
    assert isinstance(first, AGeLU)
    assert isinstance(second, AGeLU)
    return first, second


def halves(f: Imlp) -> tuple[Half, Half]:
    """Return g and h."""
    W0, b0, W1, _ = layers(f)
    first, second = (Half(W0, b0, phi, W1i) for phi, W1i in zip(phis(f), W1.chunk(2, dim=1), strict=True))
    return first, second


def block(rows: list[list[Tensor]]) -> Tensor:
    """Return a matrix of blocks."""
    return cat([cat(row, dim=1) for row in rows])


def steep(alpha: float, beta: float, other: float) -> dict[str, object]:
    """Return a module of one number at each place, both halves of which are about as steep as can be from x to y."""
    f = of_ones(amlp(1, 1, 1))
    f.get_parameter("fc1.bias").data.zero_()
    for phi, slope in zip(phis(f), (alpha, other), strict=True):
        phi.alpha.data.fill_(slope)
        phi.beta.data.fill_(beta)
        phi.gamma.data.fill_(2**0.5 - slope * 0.0625)  # GeLU is steepest at sqrt 2
    f.get_parameter("fc2.weight").data.copy_(torch.tensor([[1.0, 1.0 if alpha * other > 0 else -1.0]]))
    return {"f": f, "x": torch.tensor([0.0]), "y": torch.tensor([0.125])}
