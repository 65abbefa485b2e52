"""What tells without building it that a model cannot be the one of a checkpoint."""

from __future__ import annotations

from imlp_audit.checkpoint.problems import Shapes
from imlp_audit.models.build import Builder
from imlp_audit.models.hosts.bert import Bert
from imlp_audit.models.hosts.dense import MaskRcnn, UperNet
from imlp_audit.models.hosts.gmlp import Gmlp, GmlpText
from imlp_audit.models.hosts.host import Host
from imlp_audit.models.hosts.lvt import Lvt
from imlp_audit.models.hosts.mixer import Mixer
from imlp_audit.models.hosts.resmlp import CaitChain, ResMlp, ResMlpTranslation
from imlp_audit.models.hosts.vanillanet import VanillaBlock
from imlp_audit.models.recipe import Recipe

CLUES: dict[type[Host], tuple[str, ...]] = {
    Mixer: ("token_mixing",),
    Gmlp: ("sgu",),
    GmlpText: ("sgu",),
    Bert: ("word_embeddings",),
    ResMlp: ("across_channels", "mlp_channels", "gamma_1"),
    CaitChain: ("across_channels",),
    ResMlpTranslation: ("across_tokens",),
    Lvt: ("backbone",),
    MaskRcnn: ("roi_heads",),
    UperNet: ("auxiliary_head",),
    VanillaBlock: ("act",),
}
"""Parts of names of which every model of a host has one, by our names or those of published code."""


def plausible(recipe: Recipe, held: Shapes) -> bool:
    """Say whether a checkpoint has tensors of the names, and of the width, that the model would have.

    A model of timm is known by the name of its first layer, one of ours by that of a part and by its width.
    """
    host = recipe.host
    if isinstance(host, str):
        first = _first_layer(host)
        return first is None or _shape_of(first, held) is not None
    parts = {part for name in held for part in name.split(".")}
    width = getattr(host, "width", None)
    return bool(parts & set(CLUES[type(host)])) and (width is None or any(width in shape for shape in held.values()))


def starts_alike(recipe: Recipe, held: Shapes, builder: Builder) -> bool:
    """Say whether the first layer of a model is the checkpoint's, which its host alone tells. Raises BuildError."""
    first = _first_layer(recipe.host) if isinstance(recipe.host, str) else None
    if first is None:
        return True
    host = recipe.model_copy(update={"mlp": None, "activation": None, "agelu": False})
    with builder.variant(host, None) as variant:
        weight = dict(variant.model.named_parameters()).get(first)
    return weight is None or tuple(weight.shape) == _shape_of(first, held)


def _first_layer(name: str) -> str | None:
    """Return what timm calls the weight of a model's first layer."""
    import timm

    known = timm.models.get_pretrained_cfg(name) if timm.is_model(name) else None
    first = getattr(known, "first_conv", None)
    return f"{first}.weight" if isinstance(first, str) else None


def _shape_of(name: str, held: Shapes) -> tuple[int, ...] | None:
    """Return the shape of a tensor in a checkpoint, whatever stands before its name there."""
    return next((shape for one, shape in held.items() if f".{one}".endswith(f".{name}")), None)
