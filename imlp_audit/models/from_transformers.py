"""Models of transformers with fresh weights, from a configuration. Nothing is downloaded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from types import MethodType

import huggingface_hub.constants
import transformers
from pydantic import JsonValue
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.utils import logging

from imlp_audit.errors import BuildError, did_you_mean
from imlp_audit.models.host import IMAGENET_CLASSES, IMAGENET_SIZE, BuildRequest, Size, TensorInput
from imlp_audit.models.run_code import make_module, set_inputs, tensors_in, write_error
from imlp_audit.models.torch_modes import NothingIsPadded

_LABELLED = ("Classification", "Detection", "Segmentation", "QuestionAnswering")
_OF_FILES = frozenset({"model_type", "torch_dtype"})
"""What a config.json also has, and what does not change the model."""


_HEADS = ("classifier", "classifier_distill", "cls_classifier", "distillation_classifier")
_OF_POSITIONS = re.compile(r"(^|\.)(wpe|[a-z_]*(?<!relative_)position[a-z_]*)\Z")


def build_transformers(
    request: BuildRequest,
    architecture: str,
    config: Mapping[str, JsonValue],
    tokens: int | None,
    inputs: Mapping[str, TensorInput] | None,
) -> nn.Module:
    """Build a model on the current default device.

    Raises BuildError for a class or a field of its configuration that transformers does not have.
    """
    model_class, given = _find_class(architecture), _with_labels(architecture, config, request)
    kind = model_class.config_class
    _refuse_unknown_fields(kind, given, kind.__name__)
    if request.image is not None and "image_size" in _names(kind):
        height, width = request.image
        square = height == width and isinstance(kind().image_size, int)  # others have a list
        given["image_size"] = height if square else [height, width]
    with _offline_and_quiet():
        made = _make_config(kind, given)
        model = make_module(lambda: model_class(made))
    assert isinstance(model, nn.Module)
    if inputs is not None and request.image is not None:
        raise BuildError("image: the shapes of this model's inputs are given next to its class")
    inputs = inputs or _usual_inputs(architecture, tokens, model, request.image)
    _refuse_more_than_positions(model, inputs)
    set_inputs(model, inputs, _run)
    heads = [name for name in _HEADS if isinstance(getattr(model, name, None), nn.Module)]
    if heads:
        model.get_classifier = MethodType(  # type: ignore[assignment]
            lambda self: tuple(getattr(self, name) for name in heads), model
        )
    return model


@contextmanager
def _offline_and_quiet() -> Iterator[None]:
    """Keep the hub from being asked while a model is built, whatever its configuration names."""
    before = huggingface_hub.constants.HF_HUB_OFFLINE, logging.get_verbosity()
    huggingface_hub.constants.HF_HUB_OFFLINE = True
    logging.set_verbosity_error()
    try:
        yield
    finally:
        huggingface_hub.constants.HF_HUB_OFFLINE, verbosity = before
        logging.set_verbosity(verbosity)


def _make_config(kind: type[PreTrainedConfig], given: Mapping[str, JsonValue]) -> PreTrainedConfig:
    """Make a configuration with the attention that writes out its two products, so that every counter sees them."""
    try:
        config = kind(**given, attn_implementation="eager", experts_implementation="eager")
    except Exception as error:  # whatever a configuration raises is wrong with what was given
        raise BuildError(f"{kind.__name__}: {write_error(error)}") from error
    _refuse_unknown_inside(config, given)
    return config


def _find_class(name: str) -> type[PreTrainedModel]:
    found = getattr(transformers, name, None)
    if isinstance(found, type) and issubclass(found, PreTrainedModel) and getattr(found, "config_class", None):
        return found
    known = [one for one in dir(transformers) if ("Model" in one or "For" in one) and not one.startswith("Auto")]
    raise BuildError(f"transformers {transformers.__version__} has no model {name!r}; {did_you_mean(name, known)}")


def _with_labels(name: str, written: Mapping[str, JsonValue], request: BuildRequest) -> dict[str, JsonValue]:
    """Return the configuration with the number of classes: the recipe's, or ImageNet's for a classifier of images."""
    given = dict(written)
    classes = request.classes
    if classes is not None and not any(word in name for word in _LABELLED):
        raise BuildError(f"classes: {name} does not classify")
    named = given.get("id2label")
    own = given.get("num_labels", len(named) if isinstance(named, Mapping) else None)
    if own is not None:
        if classes not in (None, own):
            raise BuildError(f"classes: {classes}, but the configuration has num_labels {own}")
        return given
    if classes is None and "ForImageClassification" in name:
        classes = IMAGENET_CLASSES
    return {"num_labels": classes, **given} if classes is not None else given


def _names(kind: type[PreTrainedConfig]) -> set[str]:
    """Return the fields that a configuration can be given."""
    own = {field.name for field in fields(kind)}
    settable = {name for name in dir(kind) if getattr(getattr(kind, name, None), "fset", None) is not None}
    return {name for name in own | settable | set(kind.attribute_map) if not name.startswith("_")} | _OF_FILES


def _refuse_unknown_fields(kind: type[PreTrainedConfig], given: Mapping[str, JsonValue], place: str) -> None:
    """Raise BuildError for a field that a configuration lacks; transformers would keep it and do nothing with it."""
    known = _names(kind)
    for name in given:
        if name not in known:
            raise BuildError(f"{place} has no field {name!r}; {did_you_mean(name, sorted(known), 'it has')}")
    if given.get("model_type", kind.model_type) != kind.model_type:
        raise BuildError(f"model_type: {place} is of {kind.model_type!r}, not {given['model_type']!r}")


def _refuse_unknown_inside(config: PreTrainedConfig, given: Mapping[str, JsonValue]) -> None:
    """Do the same with the configurations inside a configuration, whose kinds it decides itself."""
    for name, written in given.items():
        inner = getattr(config, name, None)
        if isinstance(inner, PreTrainedConfig) and isinstance(written, Mapping):
            _refuse_unknown_fields(type(inner), written, f"{name}: {type(inner).__name__}")
            _refuse_unknown_inside(inner, written)


def _usual_inputs(
    name: str, tokens: int | None, model: PreTrainedModel, image: Size | None
) -> Mapping[str, TensorInput]:
    """Return an image or a text, whichever the model reads."""
    reads = model.main_input_name
    size = image or _own_size(model.config)
    if size is None and name.endswith("ForImageClassification"):
        size = IMAGENET_SIZE
    if reads == "input_ids" and not model.config.is_encoder_decoder:
        if tokens is None or image is not None:
            raise BuildError(f"{name} reads text: give tokens, the length of the text, and no image")
        return {"input_ids": TensorInput(shape=[tokens], dtype="int64")}
    if reads == "pixel_values":
        if tokens is not None:
            raise BuildError(f"tokens: {name} reads an image")
        if size is None:
            raise BuildError(f"{name} takes images of any size: give image")
        _refuse_a_rest(getattr(model.config, "patch_size", None), size)
        return {"pixel_values": TensorInput(shape=[getattr(model.config, "num_channels", 3), *size])}
    second = " and decoder_input_ids" if reads == "input_ids" else ""
    raise BuildError(f"{name} reads {reads}{second}: give inputs, with the shape of each")


def _refuse_a_rest(patch: object, size: Size) -> None:
    """Raise BuildError where patches do not divide the image; models would drop the rest, or pad it."""
    for side in size:
        if isinstance(patch, int) and side % patch:
            raise BuildError(f"image: patches of {patch} do not divide {side}")


def _refuse_more_than_positions(model: PreTrainedModel, inputs: Mapping[str, TensorInput]) -> None:
    """Raise BuildError for a text longer than a table of positions: without values, no index is out of range."""
    tokens = max((one.shape[-1] for one in inputs.values() if one.dtype == "int64" and one.shape), default=0)
    most = getattr(getattr(model.config, "text_config", model.config), "max_position_embeddings", None)
    for name, table in model.named_modules():
        if not isinstance(table, nn.Embedding) or not _OF_POSITIONS.search(name) or most is None:
            continue
        before = getattr(table, "offset", 0) + (0 if table.padding_idx is None else table.padding_idx + 1)
        if table.num_embeddings >= most and tokens > table.num_embeddings - before:
            room = table.num_embeddings - before
            raise BuildError(f"tokens: {type(model).__name__} has positions for {room}, not for {tokens}")


def _own_size(config: PreTrainedConfig) -> Size | None:
    match getattr(config, "image_size", None):
        case int(side):
            return side, side
        case [int(height), int(width)]:
            return height, width
        case _:
            return None


def _run(model: nn.Module, **inputs: Tensor | dict[str, Tensor]) -> object:
    """Return the model's tensors, alone or as a tuple, instead of a record."""
    with NothingIsPadded():
        found = type(model).forward(model, **inputs)
    held = tuple(tensors_in(found))
    return held[0] if len(held) == 1 else held
