"""Parameters of convolutional models are checked where only the size of the images is missing."""

from __future__ import annotations

import pytest
import timm
import torch
import torchvision

from imlp_audit.models.build import SkipInitialisation
from imlp_audit.models.names.known import (
    Library,
    current_models,
    former_meaning,
    has_auxiliary_heads,
    has_bottlenecks,
    has_branches,
    has_sizeless_parameters,
    own_size,
)
from imlp_audit.transcribe.draft import Draft, draft_table
from imlp_audit.transcribe.image_sizes import Given, OwnSize
from imlp_audit.transcribe.write import DraftPaper, decisions_of, write_spec

from .test_draft import recipes, table

LINES = (
    "Model | Params (M) | FLOPs (G) | Top-1 (%)",
    "NFNet-F0 | 71.5 | 12.38 | 83.6",
    "EfficientNet-B3 | 12.2 | 1.8 | 81.6",
    "DeiT-B | 86.6 | 17.6 | 81.8",
)


def given(size: Given) -> Draft:
    return draft_table(table(*LINES).table, given=size)


@pytest.mark.parametrize("size", [None, 224, OwnSize.OWN])
def test_parameters_stay_and_what_the_images_change_waits(size: Given) -> None:
    first, second, _ = given(size).rows
    assert (first.model.recipe, *first.model.candidates) == (
        "{timm: nfnet_f0, image: 256}", "{timm: nfnet_f0, image: 192}"
    )  # fmt: skip
    assert first.numbers.printed == {"params": "71.5", "top1": "83.6"}
    assert first.numbers.waiting == {"flops": "12.38"}
    assert second.numbers.printed == {"params": "12.2", "top1": "81.6"}


def test_the_spec_says_what_waits_and_why() -> None:
    draft = given(None)
    spec = write_spec(draft, DraftPaper("x", "X", "A", "v1"))
    why = (
        "timm has this model trained on images of 192 and tested on 256, and papers count either: give the row its size"
    )
    assert f"# flops: 12.38 waits for the size of the images: {why}. Choose the model" in spec
    assert any(one.startswith(f"1 row with only parameters (NFNet-F0): {why}") for one in decisions_of(draft))


@pytest.mark.parametrize("label", ["DeiT-B", "ViT-B/16", "Swin-B", "CaiT-S36", "CrossViT-15", "NFNet-F0†", "RepVGG-A0"])
def test_a_model_whose_parameters_may_change_with_the_images_stays_open(label: str) -> None:
    (row,) = table("Model | Params (M) | FLOPs (G)", f"{label} | 9.9 | 9.9").rows
    assert row.model.recipe is None
    assert row.numbers.printed == {"params": "9.9", "flops": "9.9"}


def test_a_row_without_parameters_or_with_another_doubt_stays_open() -> None:
    assert recipes(table("Model | FLOPs (G)", "NFNet-F0 | 12.38")) == [None]
    assert recipes(table("Model | Params (M) | FLOPs (G)", "NFNet-F0 | 71.5 | 12.4", caption="CIFAR-10")) == [None]
    assert recipes(table("Model | Size | Params (M) | FLOPs (G)", "NFNet-F0 | 192/256 | 71.5 | 12.4")) == [None]


def test_a_row_with_its_size_keeps_its_flops() -> None:
    (row,) = table("Model | Size | Params (M) | FLOPs (G)", "NFNet-F0 | 256 | 71.5 | 12.38").rows
    assert (row.model.recipe, row.numbers.waiting) == ("{timm: nfnet_f0, image: 256}", {})
    assert row.numbers.printed == {"params": "71.5", "flops": "12.38"}


NAMES = sorted(name for name in current_models(Library.TIMM) if has_sizeless_parameters(Library.TIMM, name))


@pytest.mark.daily(3)
@pytest.mark.parametrize("name", NAMES)
def test_the_families_have_the_same_parameters_on_images_of_all_sizes(name: str) -> None:
    """A model that takes a size has the same when it is built for another; the others have no setting for one."""
    with torch.device("meta"), SkipInitialisation():
        try:
            larger = timm.create_model(name, img_size=own_size(Library.TIMM, name) + 32)
        except TypeError:  # it takes no size
            larger = None
        usual = timm.create_model(name)
    assert larger is None or _parameters(larger) == _parameters(usual)


def test_only_the_size_of_the_images_can_leave_these_families_open() -> None:
    for library in (Library.TIMM, Library.TORCHVISION):
        for name in (one for one in current_models(library) if has_sizeless_parameters(library, one)):
            assert not has_branches(library, name)
            assert not has_auxiliary_heads(library, name)
            assert not has_bottlenecks(library, name)
            assert former_meaning(library, name) is None


@pytest.mark.daily(2)
@pytest.mark.parametrize(
    "name", [f"efficientnet_b{digit}" for digit in range(8)] + ["efficientnet_v2_s", "efficientnet_v2_m"]
)
def test_the_libraries_have_the_same_efficientnets(name: str) -> None:
    with torch.device("meta"), SkipInitialisation():
        theirs = torchvision.models.get_model(name)
        ours = timm.create_model(name.replace("_v2", "v2"))
    assert has_sizeless_parameters(Library.TORCHVISION, name)
    assert _parameters(theirs) == _parameters(ours)


def _parameters(model: torch.nn.Module) -> int:
    return sum(one.numel() for one in model.parameters())


def test_only_rows_without_a_model_are_named_as_such() -> None:
    """Inception-v3 and -v4 are open for one reason, and the parameters of -v4 are checked."""
    draft = table("Model | Params (M) | FLOPs (G)", "Inception-v3 | 24 | 5.7", "Inception-v4 | 48 | 13")
    (first, second) = draft.rows
    assert first.model.recipe is None
    assert second.model.recipe is not None
    assert first.model.reason == second.model.reason
    named = [one for one in decisions_of(draft) if " without a model (" in one]
    assert [one.partition(":")[0] for one in named] == ["1 row without a model (Inception-v3)"]
