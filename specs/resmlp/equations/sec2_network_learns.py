"""Sec. 2: every weight of a network is learned."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from imlp_audit.equations import draw as st
from imlp_audit.equations.arithmetic import Arithmetic
from imlp_audit.equations.claim import Trial, claim, equal
from imlp_audit.models.blocks import Communication, Pooling
from imlp_audit.models.reading import ResMlpForm

from ._network import Network
from ._network_slopes import slopes

_EXCHANGES = (
    Network(grid=(1, 2)),
    Network(communication=Communication.NONE, grid=(1, 2)),
    Network(communication=Communication.MLP, grid=(1, 2)),
    Network(communication=Communication.SEPARABLE, grid=(3, 3), layers=1),
)


@claim(
    st.builds(
        replace,
        st.sampled_from(_EXCHANGES),
        form=st.sampled_from(ResMlpForm),
        pooling=st.sampled_from(Pooling),
        seed=st.integers(0, 99),
    ),
    share=0.16,
)
def network_learns_every_weight(net: Network, arithmetic: Arithmetic) -> Trial:
    """Every weight of a network is learned by the derivatives of its formula: where all weights move in a direction,
    each logit changes as the printed formula does.

    Place: Sec. 2, after Eq. 1 and after Eq. 3
    Printed: alpha and beta are learnable weight vectors; A, B and C are the main learnable weight matrices of the layer
    Bound: of each layer, that of the derivatives of Eq. 2 and 3; a rounding for each weight that moves
    """
    # Hold backpropagation through the package's network against the derivatives of the formula.
    module = net.module(arithmetic)
    logits: Tensor = module(arithmetic.tensor(net.images()))
    weights, direction = dict(module.named_parameters()), net.direction()

    def slope(logit: Tensor) -> Tensor:
        gradients = torch.autograd.grad(logit, list(weights.values()), retain_graph=True, materialize_grads=True)
        along = zip(gradients, weights, strict=True)
        return torch.stack([(gradient * arithmetic.tensor(direction[name])).sum() for gradient, name in along]).sum()

    found = torch.stack([slope(logit) for logit in logits.flatten()]).view(logits.shape)
    return equal(found, slopes(net, arithmetic), **net.shown())
