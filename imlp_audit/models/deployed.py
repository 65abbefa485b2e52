"""Models in the form that is deployed: branches merged, or batch norms folded into convolutions."""

from __future__ import annotations

from timm.utils.model import reparameterize_model
from torch import nn

from imlp_audit.errors import BuildError
from imlp_audit.models.folding import fold_batch_norms
from imlp_audit.models.hosts.host import Host
from imlp_audit.models.hosts.timm import Timm


def deploy(model: nn.Module, host: Host) -> None:
    """Merge the branches of a model, in eval mode, as timm does for inference; fold the batch norms of any other.

    Of a model that timm merges, the norms that timm leaves stay. Raises BuildError for a model with neither.
    """
    merged = isinstance(host, Timm) and _merge_branches(model)
    if not merged and not fold_batch_norms(model):
        raise BuildError(
            f"form: {host.value()} has no branches that timm merges and no batch norm that directly follows a "
            "convolution, so its deployed form is its training form"
        )


def _merge_branches(model: nn.Module) -> bool:
    """Merge branches as timm does for inference; return whether there were any."""
    before = {path: tensor.shape for path, tensor in model.state_dict().items()}
    reparameterize_model(model, inplace=True)
    return {path: tensor.shape for path, tensor in model.state_dict().items()} != before
