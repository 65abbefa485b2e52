"""The lists of names are those of the installed libraries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import timm
import torch
from timm.utils.model import reparameterize_model

from imlp_audit.count.build_and_count import measure_models
from imlp_audit.count.facts import Failure, ModelKey, Need
from imlp_audit.models import names
from imlp_audit.models.names.data_sets import PUBLISHED_HEADS, USUAL_CLASSES
from imlp_audit.models.names.known import (
    Library,
    Trait,
    current_models,
    has,
    known_models,
    sizes_of,
    takes_size,
    version_of,
)
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.torch_modes import SkipInitialisation

from .lists import installed, written


@pytest.mark.parametrize("library", Library)
def test_a_list_is_what_the_library_of_its_version_has(library: Library) -> None:
    if version_of(library) != installed(library):
        pytest.skip(f"the list is of {version_of(library)}; `python -m tests.models.names.lists` writes it anew")
    assert Path(names.__path__[0], f"{library}.txt").read_text(encoding="utf-8") == written(library)


def test_names_for_old_code_are_known_and_not_current() -> None:
    old = known_models(Library.TIMM) - current_models(Library.TIMM)
    assert "adv_inception_v3" in old
    assert not old & set(timm.list_models())
    assert "resnet50" in current_models(Library.TIMM)


@pytest.mark.slow
def test_the_models_with_branches_are_those_that_lose_layers_when_they_are_merged() -> None:
    """Folding a norm into the layer before it loses none; of `dist` the second head is merged."""
    usual = re.compile(r"resnet|vit_|efficientnet_|tf_|regnet|convnext|mixnet|swin|maxvit|eva|hrnet|mobilenet")
    for name in sorted(current_models(Library.TIMM)):
        if usual.match(name) is not None:
            continue
        with torch.device("meta"), SkipInitialisation():
            model = timm.create_model(name).eval()
            if any(hasattr(one, "reparameterize") or hasattr(one, "fuse") for one in model.modules()):
                before = _layers(model)
                merged = before > _layers(reparameterize_model(model, inplace=True))
                second_head = re.search(r"_dist|^levit_.*d$", name) is not None
                assert has(Trait.BRANCHES, Library.TIMM, name) is (merged and not second_head), name


def _layers(model: torch.nn.Module) -> int:
    return sum(tensor.ndim > 1 for tensor in model.state_dict().values())


def test_the_sizes_of_a_model_are_those_of_its_weights() -> None:
    assert sizes_of(Library.TIMM, "dm_nfnet_f1") == (224, 320)
    assert sizes_of(Library.TIMM, "resnet50")[:2] == (224, 288)
    assert sizes_of(Library.TORCHVISION, "vit_b_16") == (224, 384)


@pytest.mark.parametrize(
    ("library", "name", "side", "takes"),
    [
        (Library.TIMM, "crossvit_15_240", 384, False),
        (Library.TIMM, "efficientformer_l1", 384, False),
        (Library.TORCHVISION, "maxvit_t", 384, False),
        (Library.TIMM, "maxvit_tiny_tf_224", 384, True),
        (Library.TIMM, "levit_256", 384, True),
    ],
)
def test_a_size_that_a_model_cannot_take_is_known(library: Library, name: str, side: int, *, takes: bool) -> None:
    assert takes_size(library, name, side) is takes
    key = ModelKey(Recipe.of(**{str(library): name}, image=side), None)
    found = dict(measure_models({key: Need(work=True)}, lambda _: None))[key]
    assert isinstance(found, Failure) is not takes


def test_the_published_heads_are_those_of_timms_weights() -> None:
    if installed(Library.TIMM) != version_of(Library.TIMM):
        pytest.skip(f"the heads are those of timm {version_of(Library.TIMM)}")
    names = (timm.get_pretrained_cfg(name) for name in timm.list_pretrained())
    assert {one.num_classes for one in names if one is not None} - {0, USUAL_CLASSES} == set(PUBLISHED_HEADS)
