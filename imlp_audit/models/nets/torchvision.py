"""Classifiers of torchvision with fresh weights. Nothing is downloaded."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping

import torch
from pydantic import JsonValue
from torch import nn
from torchvision import models

from imlp_audit.errors import BuildError, did_you_mean
from imlp_audit.models.hosts.host import IMAGENET_SIZE, BuildRequest
from imlp_audit.models.names.known import Library, current_models, own_size
from imlp_audit.models.nets.devices import ArithmeticOnTheProcessor, current_device


def build_torchvision(name: str, arguments: Mapping[str, JsonValue], request: BuildRequest) -> nn.Module:
    """Build a classifier of torchvision on the current default device, with some of its arguments changed.

    It is built for images of its weights' size unless the request has another.

    Raises BuildError for a name that torchvision does not have, one that is not a classifier of images, or arguments
    that it does not take.
    """
    known = models.list_models(module=models)
    if name not in known:
        raise BuildError(f"torchvision has no classifier {name!r}; {did_you_mean(name, known, 'it has')}")
    options: dict[str, object] = {"num_classes": request.labels, **arguments}
    side = own_size(Library.TORCHVISION, name) if name in current_models(Library.TORCHVISION) else IMAGENET_SIZE[0]
    height, width = request.size((side, side))
    if "image_size" in inspect.signature(models.get_model_builder(name)).parameters or name.startswith("vit_"):
        if height != width:
            raise BuildError(f"image: {name} takes square images, not {height} x {width}")
        options["image_size"] = height
    elif name.startswith("maxvit"):
        options["input_size"] = (height, width)
    try:
        model = _create(name, options)
    except (TypeError, ValueError, AssertionError, RuntimeError, KeyError) as error:  # each model has its own
        if not arguments:
            raise
        raise BuildError(f"{name} with {dict(arguments)}: {type(error).__name__}: {error}") from error
    model.pretrained_cfg = {"input_size": (3, height, width)}  # type: ignore[assignment]  # where timm's models have it
    return model


def _create(name: str, options: Mapping[str, object]) -> nn.Module:
    device = current_device()
    with ArithmeticOnTheProcessor(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The default weight initialization", FutureWarning)  # there are no weights
        model: nn.Module = models.get_model(name, weights=None, **options)
    return model.to(device)


def find_first_tensor(name: str) -> str | None:
    """Return the name of the first tensor of a classifier's state dict, None for a name that torchvision lacks."""
    if name not in models.list_models(module=models):
        return None
    with torch.device("meta"):
        return next(iter(build_torchvision(name, {}, BuildRequest()).state_dict()))
