"""How images become a model's input: timm's pipeline with the model's own settings, or what a user says instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor, device, nn

    from imlp_audit.evaluate.dataset import Images


class Interpolation(StrEnum):
    """How images are resized."""

    BICUBIC = "bicubic"
    BILINEAR = "bilinear"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"
    NEAREST = "nearest"


@dataclass(frozen=True)
class Overrides:
    """What a user says instead of the model's own settings: height and width, crop, interpolation, mean and std."""

    size: tuple[int, int] | None = None
    crop_pct: float | None = None
    interpolation: Interpolation | None = None
    mean: tuple[float, float, float] | None = None
    std: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class Pipeline:
    """timm's settings for evaluating: a crop of `crop_pct` of the resized image is (height, width) = `size` large."""

    size: tuple[int, int]
    crop_pct: float
    crop_mode: str
    interpolation: str
    mean: tuple[float, float, float]
    std: tuple[float, float, float]

    def settings(self) -> dict[str, str]:
        """Return the settings by name, as text."""
        return {
            "input size": f"{self.size[0]} x {self.size[1]}",
            "crop_pct": repr(self.crop_pct),
            "crop_mode": self.crop_mode,
            "interpolation": self.interpolation,
            "mean": ", ".join(map(repr, self.mean)),
            "std": ", ".join(map(repr, self.std)),
        }


def pipeline(model: nn.Module, size: tuple[int, int], overrides: Overrides) -> Pipeline:
    """Return the settings that timm resolves for a model whose own images have a height and width."""
    from timm.data import resolve_data_config

    height, width = overrides.size or size
    given = {
        "input_size": (3, height, width),
        "crop_pct": overrides.crop_pct,
        "interpolation": overrides.interpolation and str(overrides.interpolation),
        "mean": overrides.mean,
        "std": overrides.std,
    }
    found = resolve_data_config(given, model=model)
    return Pipeline(
        (height, width), found["crop_pct"], found["crop_mode"], found["interpolation"], found["mean"], found["std"]
    )


def batches(
    images: Images, indices: Sequence[int], chosen: Pipeline, batch_size: int, workers: int, device: device
) -> Iterable[tuple[Tensor, Tensor]]:
    """Return timm's loader over the chosen images in their order, the last batch as long as what is left."""
    from timm.data import create_loader
    from torchvision.transforms.functional import pil_to_tensor

    from imlp_audit.evaluate.images import Guarded

    loader: Iterable[tuple[Tensor, Tensor]] = create_loader(
        Guarded(images, indices, pil_to_tensor),  # timm's loader sets the transform
        input_size=(3, *chosen.size),
        batch_size=batch_size,
        interpolation=chosen.interpolation,
        mean=chosen.mean,
        std=chosen.std,
        crop_pct=chosen.crop_pct,
        crop_mode=chosen.crop_mode,
        num_workers=workers,
        pin_memory=device.type == "cuda",
        device=device,
        persistent_workers=False,  # they end with the last batch
    )
    return loader
