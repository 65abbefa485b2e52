"""Finding the MLPs of a host, and replacing them and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from timm.layers import Mlp
from torch import nn

from imlp_audit.models.nets.lvt_layers import DepthwiseMlp

KINDS = (Mlp, DepthwiseMlp)
"""The MLPs whose every part the IMLP block knows how to replace."""


def mlps_of(model: nn.Module) -> dict[str, Mlp]:
    """Return the model's MLP modules by their dotted paths, in order."""
    return {path: module for path, module in model.named_modules() if type(module) in KINDS}


@contextmanager
def swapped(model: nn.Module, replacements: Mapping[str, nn.Module]) -> Iterator[None]:
    """Put other modules at the given paths for the time of the context.

    One host on the meta device so serves all its variants, instead of being built again for each.
    """
    originals = {path: model.get_submodule(path) for path in replacements}
    try:
        _place(model, replacements)
        yield
    finally:
        _place(model, originals)


def _place(model: nn.Module, modules: Mapping[str, nn.Module]) -> None:
    for path, module in modules.items():
        parent, _, name = path.rpartition(".")
        setattr(model.get_submodule(parent), name, module)
