"""Models are built without numbers by old torch and timm too, which find the device, and compute widths, otherwise."""

from __future__ import annotations

import pytest
import timm
import torch
from torch import nn

from imlp_audit.models.build import build_host
from imlp_audit.models.recipe import Recipe
from imlp_audit.models.run_code import make_module
from imlp_audit.models.torch_modes import current_device


def built_on_meta(recipe: Recipe) -> nn.Module:
    with torch.device("meta"):
        return build_host(recipe, None)


def devices(model: nn.Module) -> set[str]:
    return {tensor.device.type for tensor in (*model.parameters(), *model.buffers())}


@pytest.fixture
def torch_2_6(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its `get_default_device` knows what `set_default_device` set and no `with torch.device(...)`."""
    monkeypatch.setattr(torch, "get_default_device", lambda: torch.device("cpu"))


def test_the_device_of_a_block_is_found(torch_2_6: None) -> None:
    assert current_device().type == "cpu"
    with torch.device("meta"):
        assert current_device().type == "meta"


def test_a_classifier_of_torchvision_stays_without_numbers(torch_2_6: None) -> None:
    assert devices(built_on_meta(Recipe.of(torchvision="regnet_y_400mf"))) == {"meta"}


def test_a_module_that_computes_with_numbers_loses_them_again(torch_2_6: None) -> None:
    def maker() -> nn.Module:
        return nn.Linear(int(torch.arange(4).max().item()), 2)

    with torch.device("meta"):
        model = make_module(maker)
    assert isinstance(model, nn.Linear)
    assert (model.in_features, devices(model)) == (3, {"meta"})


def test_a_model_of_timm_that_computes_its_widths_with_tensors_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    create = timm.create_model

    def older(name: str, **options: object) -> nn.Module:
        if torch.arange(3).is_meta:
            raise NotImplementedError("aten::_unique2: attempted to run this operator with Meta tensors")
        model: nn.Module = create(name, **options)
        return model

    expected = built_on_meta(Recipe.of(timm="regnety_002"))
    monkeypatch.setattr(timm, "create_model", older)
    model = built_on_meta(Recipe.of(timm="regnety_002"))
    assert devices(model) == {"meta"}
    shapes = {name: tensor.shape for name, tensor in model.state_dict().items()}
    assert shapes == {name: tensor.shape for name, tensor in expected.state_dict().items()}
