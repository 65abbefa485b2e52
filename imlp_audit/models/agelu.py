"""Arbitrary nonlinear functions: a base activation scaled and shifted before and after (IMLP, Eq. 3 and 4)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from imlp_audit.models.blocks import Activation

BASE_ACTIVATIONS: dict[Activation, type[nn.Module]] = {
    Activation.GELU: nn.GELU,
    Activation.RELU: nn.ReLU,
    Activation.PRELU: nn.PReLU,
    Activation.SOFTPLUS: nn.Softplus,
}


class AGeLU(nn.Module):
    """Computes beta * phi(alpha * x + gamma) + theta (Eq. 3; Eq. 4 with phi = GeLU).

    `channels` is the number of coefficients of each kind: the width for one per channel, 1 for one per
    layer. The channel axis of the input is its last, or the second where `channels_first`.
    Initialised so that it equals phi.
    """

    def __init__(self, channels: int, act_layer: type[nn.Module] = nn.GELU, *, channels_first: bool = False) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(channels))
        self.gamma = nn.Parameter(torch.zeros(channels))
        self.phi = act_layer()
        self.beta = nn.Parameter(torch.ones(channels))
        self.theta = nn.Parameter(torch.zeros(channels))
        self.shape = (-1, 1, 1) if channels_first else (-1,)

    def forward(self, x: Tensor) -> Tensor:
        alpha, gamma = self.alpha.view(self.shape), self.gamma.view(self.shape)
        beta, theta = self.beta.view(self.shape), self.theta.view(self.shape)
        bent: Tensor = self.phi(alpha * x + gamma)
        return beta * bent + theta
