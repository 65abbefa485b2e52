"""From what a recipe says of its host to a module with fresh weights."""

from __future__ import annotations

import timm
from torch import nn

from imlp_audit.errors import BuildError
from imlp_audit.models.hosts.bert import Bert
from imlp_audit.models.hosts.dense import MaskRcnn, UperNet
from imlp_audit.models.hosts.gmlp import Gmlp, GmlpText
from imlp_audit.models.hosts.host import Host
from imlp_audit.models.hosts.lvt import Lvt
from imlp_audit.models.hosts.mixer import Mixer
from imlp_audit.models.hosts.resmlp import CaitChain, ResMlp, ResMlpTranslation
from imlp_audit.models.hosts.vanillanet import VanillaBlock
from imlp_audit.models.reading import AnyReading, ClassToken, ResMlpReading, TextReading
from imlp_audit.models.recipe import Recipe
from imlp_audit.near import did_you_mean

IMAGENET_CLASSES = 1000
IMAGENET_SIZE = (224, 224)


def build_host(recipe: Recipe, reading: AnyReading | None, class_token: ClassToken = ClassToken.KEPT) -> nn.Module:
    """Build the host of a recipe with fresh weights on the current default device, in eval mode.

    A ViT whose class token is removed averages its patches after its last norm, as the released IFFN
    code does; hosts without a class token are the same either way. Nothing is downloaded. Raises BuildError.
    """
    host = recipe.host
    model = _timm(host, recipe, class_token) if isinstance(host, str) else _ours(host, recipe, reading)
    return model.eval()


def _timm(name: str, recipe: Recipe, class_token: ClassToken) -> nn.Module:
    if not timm.is_model(name):
        raise BuildError(f"timm has no model {name!r}; {did_you_mean(name, timm.list_models(), 'it has')}")
    options: dict[str, object] = {"num_classes": recipe.classes or IMAGENET_CLASSES}
    if class_token is ClassToken.REMOVED:
        options |= {"class_token": False, "global_pool": "avg", "fc_norm": False}
    own = timm.models.get_pretrained_cfg(name)
    if recipe.image is not None and own is not None and own.fixed_input_size:
        options["img_size"] = recipe.image
    if recipe.image is not None:
        options["pretrained_cfg_overlay"] = {"input_size": (3, *recipe.image)}
    model: nn.Module = timm.create_model(name, pretrained=False, **options)
    _refuse_torn_patches(model, recipe.image or ())
    return model


def _refuse_torn_patches(model: nn.Module, image: tuple[int, ...]) -> None:
    """Raise BuildError where a size that the recipe says is no multiple of the patches; timm would drop the rest."""
    embedding = getattr(model, "patch_embed", None) or getattr(model, "stem", None)
    patch = getattr(embedding, "patch_size", None)
    if not isinstance(patch, tuple):
        return
    for side, part in zip(image, patch, strict=False):
        if side % part:
            raise BuildError(f"image: patches of {part} do not divide {side}")


def _ours(host: Host, recipe: Recipe, reading: AnyReading | None) -> nn.Module:
    """Build one of the hosts that are defined here; each is imported when it is needed."""
    size, classes = recipe.image or IMAGENET_SIZE, recipe.classes or IMAGENET_CLASSES
    match host:
        case Mixer():
            from imlp_audit.models.mixer import build_mixer

            return build_mixer(host, size, classes)
        case Gmlp():
            from imlp_audit.models.nets.gmlp import build_gmlp

            return build_gmlp(host, size, classes)
        case GmlpText():
            from imlp_audit.models.nets.gmlp import build_gmlp_text

            assert isinstance(reading, TextReading)
            return build_gmlp_text(host, reading, recipe.classes)
        case Bert():
            from imlp_audit.models.nets.bert import build_bert

            assert isinstance(reading, TextReading)
            return build_bert(host, reading, recipe.classes)
        case ResMlp():
            from imlp_audit.models.nets.resmlp import build_resmlp

            form = reading.resmlp_form if isinstance(reading, ResMlpReading) else host.form
            assert form is not None, "spec.rules has seen to it"
            return build_resmlp(host, form, size, classes)
        case ResMlpTranslation():
            from imlp_audit.models.nets.translation import build_translation

            return build_translation(host)
        case CaitChain():
            from imlp_audit.models.nets.cait_chain import build_cait_chain

            return build_cait_chain(host, size, classes)
        case Lvt():
            from imlp_audit.models.nets.lvt import build_lvt

            return build_lvt(host, size, classes)
        case MaskRcnn():
            from imlp_audit.models.nets.mask_rcnn import build_mask_rcnn

            return build_mask_rcnn(host, recipe.image or (800, 1280))
        case UperNet():
            from imlp_audit.models.nets.upernet import build_upernet

            return build_upernet(host, recipe.image or (512, 2048))
        case VanillaBlock():
            from imlp_audit.models.vanillanet import build_vanilla_block

            return build_vanilla_block(host, size)
        case _:
            raise BuildError(f"no builder for {type(host).__name__}")
