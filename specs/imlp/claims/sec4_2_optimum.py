"""Sec. 4.2, after Theorem 1: its bound as the optimum of a semidefinite program."""

from itertools import product
from math import pi, sqrt
from operator import itemgetter

import numpy as np
import torch
from hypothesis import assume
from hypothesis import strategies as st
from torch import Tensor, eye, linalg, tensor

from imlp_audit.claims import Side, Sides, below, choice, claim, jacobian, modules, strictly_below, tensors
from imlp_audit.models.imlp import AGeLU, Imlp, amlp

from ._amlp import agelus
from ._certificate import GELU, Q, Solver, branches, ends, holds, prove, prove_least
from ._imlp import SMALL
from ._theorem import block

WEIGHT = st.sampled_from((1.0, 2.0, 0.5))
SIZES = choice("n_0, n, m", (1, 1, 1), (2, 3, 2), (2, 2, 1), (1, 3, 2))
n_0, n, m = (SIZES.map(itemgetter(place)) for place in range(3))


@claim(
    W11=WEIGHT,
    W12=WEIGHT,
    place="Sec. 4.2, after Theorem 1",
    printed="Theorem 1 gives an upper bound of L(f) = sqrt(rho_1) + sqrt(rho_2) on the Lipschitz constant of the AMLP "
    "module; it can be treated as a semi-definite program which can be solved numerically to derive its global minimum",
    nearest="theorem1_optimum_corrected",
    examples=[{"W11": 1.0, "W12": 2.0}],
    tolerance=1e-4,
    because="T is searched in steps of 0.2 % of 2 T - w^2, and L(f) at the two is 8e-4 or more apart",
)
def theorem1_optimum(W11: float, W12: float) -> Sides:
    """A semidefinite program finds the global minimum of sqrt(rho_1) + sqrt(rho_2).

    Read as: over rho_1, rho_2 and the one T that the theorem has for both inequalities. A semidefinite program
    minimises a linear function, here rho_1 + rho_2. Tested with one hidden unit, W^0 = 1, W^11 other than W^12 and
    phi_1 = phi_2 = GeLU, where the least rho_i of a T is a formula; no solver is run.
    """
    assume(W11 != W12)
    p, q = GELU
    T = max(W11**2, W12**2) * (1 + torch.logspace(-4, 2, 8000)) / 2
    rho_1, rho_2 = (-2 * p * q * T + (p + q) ** 2 * T**2 / (2 * T - w**2) for w in (W11, W12))
    L = rho_1.sqrt() + rho_2.sqrt()
    return below(L[(rho_1 + rho_2).argmin()], L.min())


@claim(
    W0=tensors(n, n_0, values=SMALL),
    W1=tensors(m, n, values=SMALL),
    phi=agelus(1, values=SMALL),
    place="Sec. 4.2, Eq. 9",
    corrected="M(rho_i, T) = [[-2 p_i q_i W^0' T W^0 - rho_i I, (p_i + q_i) W^0' T], [(p_i + q_i) T W^0, -2 T + W^1i' "
    "W^1i]] <= 0 for the least rho_i alone",
)
def theorem1_inequality(W0: Tensor, W1: Tensor, phi: AGeLU) -> Sides:
    """The least rho_i of a T makes M(rho_i, T) negative semidefinite, and 0.99 rho_i does not: the matrix of Eq. 9 is
    the one that the package proves the inequality of.
    """
    p, q = ends(phi, GELU)
    omega = linalg.matrix_norm(W1, 2) ** 2
    assume(W0.any() and omega > 0 and p != q)
    T = omega * (1 + (p + q).abs() / (q - p)) / 2 * eye(len(W0))
    branch, slopes = (W0.cpu().numpy(), W1.cpu().numpy()), (p.item(), q.item())
    proven = prove(branch, T.diag().cpu().numpy(), slopes)
    if proven is None:
        return False

    def largest(rho: float) -> Tensor:
        upper = -2 * p * q * W0.T @ T @ W0 - rho * eye(W0.shape[1])
        M = block([[upper, (p + q) * W0.T @ T], [(p + q) * T @ W0, -2 * T + W1.T @ W1]])
        eigenvalues: Tensor = linalg.eigvalsh(M / M.norm())
        return eigenvalues[-1]

    less = 0.99 * proven.rho
    return [
        strictly_below(largest(proven.rho), 1e-13),
        strictly_below(1e-13, largest(less)),
        not holds(branch, less, proven.t, slopes),
    ]


@claim(
    f=modules(amlp, n_0, n, m, values=SMALL),
    x=tensors(n_0),
    y=tensors(n_0),
    place="Sec. 4.2, after Theorem 1",
    corrected="L(f) = sqrt(rho_1) + sqrt(rho_2), rho_i the minimum of the semi-definite program over rho_i and T_i "
    "with M(rho_i, T_i) <= 0; gradient norm <= L(f) <= sum_{i=1}^{2} 1.12890 ||diag(alpha_i) W^0|| ||W^1i "
    "diag(beta_i)||",
    needs="a semidefinite program",
    share=0.1,
)
def theorem1_optimum_corrected(f: Imlp, x: Tensor, y: Tensor) -> Sides:
    """With a T of its own, the least rho_i of each inequality is the optimum of a semidefinite program, and
    sqrt(rho_1) + sqrt(rho_2) is never above the product of the spectral norms and GeLU's steepest slope, branch by
    branch, and never below the largest gradient norm of the module.

    The branches are those of the package's module, whose gradient is held against theirs. What the solver proposes is
    proven in exact fractions; its own status proves nothing. The least rho is a
    convex function of T: that it is the optimum is tested by steps of 5 % from T in every direction of its entries.
    """
    proofs = [prove_least(branch, Solver.CLARABEL) for branch in branches(f)]
    L = sum(sqrt(proof.rho) for proof in proofs)
    norms = sum(Q * float(np.linalg.norm(w0, 2) * np.linalg.norm(w1, 2)) for w0, w1 in branches(f))
    sides: list[Side] = [below(L, norms * (1 + 1e-4))]
    for branch, proof in zip(branches(f), proofs, strict=True):
        nearby = product((1.0, 0.95, 1.05), repeat=len(proof.t)) if proof.rho else ()
        others = (prove(branch, proof.t * np.array(factors)) for factors in nearby)
        sides += [below(sqrt(proof.rho), sqrt(other.rho) * (1 + 1e-4)) for other in others if other]
    for place in (x, y, (x + y) / 2):
        gradient = jacobian(lambda x: f(x[None])[0], place)
        sides += [(gradient, gradient_of_branches(f, place)), below(linalg.matrix_norm(gradient, 2), L)]
    return sides


def gradient_of_branches(f: Imlp, x: Tensor) -> Tensor:
    """Return sum_i W^1i diag(beta_i) diag(GeLU'(alpha_i (W^0 x + b^0) + gamma_i)) diag(alpha_i) W^0."""
    agelus = f.act.get_submodule("agelu1"), f.act.get_submodule("agelu2")
    arguments = [agelu.alpha * f.fc1(x) + agelu.gamma for agelu in agelus]
    slopes = [torch.special.ndtr(z) + z * (-z * z / 2).exp() / sqrt(2 * pi) for z in arguments]
    products = (tensor(w1) * slope @ tensor(w0) for (w0, w1), slope in zip(branches(f), slopes, strict=True))
    total: Tensor = sum(products, torch.zeros_like(tensor(branches(f)[0][1] @ branches(f)[0][0])))
    return total
