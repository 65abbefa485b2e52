"""timm's pipeline: the model's own settings, what a user says instead, and images in their order."""

from __future__ import annotations

from pathlib import Path

import pytest
import timm
import torch
from PIL import Image
from timm.data import create_transform

from imlp_audit.evaluate.data.open import Labelling, open_images
from imlp_audit.evaluate.loop import load_batches, resolve_pipeline
from imlp_audit.evaluate.overrides import Overrides
from imlp_audit.spec.interpolation import Interpolation

CPU = torch.device("cpu")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(7):
        (tmp_path / str(number % 2)).mkdir(exist_ok=True)
        image = Image.radial_gradient("L").rotate(10 * number).convert("RGB").resize((60 + number, 50))
        image.save(tmp_path / str(number % 2) / f"{number}.png")
    (tmp_path / "1" / "3.png").write_bytes(b"no image")
    return tmp_path


@pytest.mark.parametrize(
    "name", ["deit_small_patch16_224", "swin_tiny_patch4_window7_224", "resmlp_12_224", "test_vit"]
)
def test_a_model_brings_its_own_settings(name: str) -> None:
    with torch.device("meta"):
        model = timm.create_model(name)
    own = timm.models.get_pretrained_cfg(name)
    assert own is not None
    found = resolve_pipeline(model, own.input_size[1:], Overrides())
    assert (found.size, found.crop_pct, found.crop_mode) == (
        own.input_size[1:],
        own.crop_pct,
        own.crop_mode or "center",
    )
    assert (found.interpolation, found.mean, found.std) == (own.interpolation, own.mean, own.std)


def test_a_model_without_settings_has_those_of_imagenet() -> None:
    found = resolve_pipeline(torch.nn.Linear(1, 1), (64, 48), Overrides())
    assert found.size == (64, 48)
    assert (found.crop_pct, found.interpolation) == (0.875, "bicubic")
    assert (found.mean, found.std) == ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def test_a_user_says_otherwise() -> None:
    says = Overrides((32, 40), 1.0, Interpolation.NEAREST, (0.1, 0.2, 0.3), (1.0, 2.0, 3.0))
    found = resolve_pipeline(timm.create_model("test_vit"), (160, 160), says)
    assert found.settings() == {
        "input size": "32 x 40",
        "crop_pct": "1.0",
        "crop_mode": "center",
        "interpolation": "nearest",
        "mean": "0.1, 0.2, 0.3",
        "std": "1.0, 2.0, 3.0",
    }


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")  # of the loader's processes
@pytest.mark.parametrize("workers", [0, 1])
def test_batches_are_the_images_in_their_order_as_timm_transforms_them(folder: Path, workers: int) -> None:
    images = open_images(str(folder), split="", labelling=Labelling(), allow_download=False)
    chosen = resolve_pipeline(torch.nn.Linear(1, 1), (32, 24), Overrides())
    indices = [0, 1, 2, 4, 5, 6]
    found = list(load_batches(images, indices, chosen, 4, workers, CPU))
    assert [len(one) for one, _ in found] == [4, 2]
    assert [(numbers >= 0).tolist() for _, numbers in found] == [
        [images.ids[index] != "1/3.png" for index in part] for part in (indices[:4], indices[4:])
    ]
    transform = create_transform(
        (3, 32, 24), interpolation="bicubic", mean=chosen.mean, std=chosen.std, crop_pct=0.875, crop_mode="center"
    )
    for index, one in zip(indices, torch.cat([one for one, _ in found]), strict=True):
        if images.ids[index] != "1/3.png":
            expected = transform(Image.open(folder / images.ids[index]))
            assert one.shape == expected.shape
            assert torch.allclose(one, expected, atol=1e-6)
