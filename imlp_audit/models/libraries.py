"""Classifiers of timm and torchvision with fresh weights. Nothing is downloaded."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import timm
from pydantic import JsonValue
from torch import nn
from torchvision import models

from imlp_audit.errors import BuildError, did_you_mean
from imlp_audit.models.host import IMAGENET_SIZE, BuildRequest
from imlp_audit.models.names.known import Library, current_models, own_size
from imlp_audit.models.readings import ClassToken
from imlp_audit.models.torch_modes import ArithmeticOnTheProcessor, current_device


def build_timm(request: BuildRequest, architecture: str, arguments: Mapping[str, JsonValue]) -> nn.Module:
    """Build an architecture of timm, with some of its arguments changed.

    Raises BuildError for a name that timm does not have, arguments that it does not take, or an unfit image size.

    A ViT whose class token is removed averages its patches after its last norm, as the released IFFN code does.
    """
    name = architecture
    if not timm.is_model(name):
        raise BuildError(f"timm has no model {name!r}; {did_you_mean(name, timm.list_models(), 'it has')}")
    options: dict[str, object] = {"num_classes": request.labels, **arguments}
    if request.class_token is ClassToken.REMOVED:
        options |= {"class_token": False, "global_pool": "avg", "fc_norm": False}
    own = timm.models.get_pretrained_cfg(name)
    if request.image is not None and own is not None and own.fixed_input_size:
        options["img_size"] = request.image
    channels = arguments.get("in_chans")
    size = request.image or (own.input_size[1:] if own is not None and channels is not None else None)
    if size is not None:
        options["pretrained_cfg_overlay"] = {"input_size": (channels or 3, *size)}
    with _blaming(name, arguments):
        model = _create(name, options)
    _check_patches(model, request.image or (own.input_size[1:] if own is not None and arguments else ()))
    return model


@contextmanager
def _blaming(name: str, arguments: Mapping[str, JsonValue]) -> Iterator[None]:
    """Name the arguments that were changed, if any, in what a library raises; each model has its own errors."""
    try:
        yield
    except (TypeError, ValueError, AssertionError, RuntimeError, KeyError) as error:
        if not arguments:
            raise
        raise BuildError(f"{name} with {dict(arguments)}: {type(error).__name__}: {error}") from error


def _create(name: str, options: Mapping[str, object]) -> nn.Module:
    """Build a model; timm before 1.0.30 computes RegNet's widths with tensors, which on the meta device hold none."""
    try:
        model: nn.Module = timm.create_model(name, pretrained=False, **options)
    except NotImplementedError:
        device = current_device()
        with ArithmeticOnTheProcessor():
            model = timm.create_model(name, pretrained=False, **options).to(device)
    return model


def _check_patches(model: nn.Module, image: tuple[int, ...]) -> None:
    """Raise BuildError where the size of the images is not a multiple of the patch size; timm would drop the rest."""
    embedding = getattr(model, "patch_embed", None) or getattr(model, "stem", None)
    patch = getattr(embedding, "patch_size", None)
    overlap = getattr(getattr(embedding, "proj", None), "stride", patch) != patch  # as PVT v2's 7 x 7 with strides of 4
    if not isinstance(patch, tuple) or overlap:
        return
    for side, part in zip(image, patch, strict=False):
        if side % part:
            raise BuildError(f"image: patches of {part} do not divide {side}")


def build_torchvision(request: BuildRequest, architecture: str, arguments: Mapping[str, JsonValue]) -> nn.Module:
    """Build a classifier of torchvision on the current default device, with some of its arguments changed.

    It is built for images of its weights' size unless the request has another.

    Raises BuildError for a name that torchvision does not have, one that is not a classifier of images, or arguments
    that it does not take.
    """
    name, known = architecture, models.list_models(module=models)
    if name not in known:
        raise BuildError(f"torchvision has no classifier {name!r}; {did_you_mean(name, known, 'it has')}")
    options: dict[str, object] = {"num_classes": request.labels, **arguments}
    side = own_size(Library.TORCHVISION, name) if name in current_models(Library.TORCHVISION) else IMAGENET_SIZE[0]
    height, width = request.image or (side, side)
    if "image_size" in inspect.signature(models.get_model_builder(name)).parameters or name.startswith("vit_"):
        if height != width:
            raise BuildError(f"image: {name} takes square images, not {height} x {width}")
        options["image_size"] = height
    elif name.startswith("maxvit"):
        options["input_size"] = (height, width)
    with _blaming(name, arguments), ArithmeticOnTheProcessor(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The default weight initialization", FutureWarning)  # there are no weights
        model: nn.Module = models.get_model(name, weights=None, **options)
    model = model.to(current_device())
    model.pretrained_cfg = {"input_size": (3, height, width)}  # type: ignore[assignment]  # where timm's models have it
    return model
