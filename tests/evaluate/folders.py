"""Folders of images, made for a test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from imlp_audit.evaluate.labels import real_labels


def picture(seed: int, size: tuple[int, int] = (40, 32)) -> Image.Image:
    """Return an RGB image of noise, `size` being width and height."""
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def same(one: Image.Image, other: Image.Image) -> bool:
    """Say whether two images have the same pixels."""
    return one.mode == other.mode and bool(np.array_equal(np.asarray(one), np.asarray(other)))


def image_folder(root: Path, classes: Mapping[str, int], ending: str = "png") -> Path:
    """Write so many images into a folder for each class, `root/CLASS/CLASS_NUMBER.ending`; all are different."""
    seed = 0
    for name, count in classes.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            picture(seed).save(root / name / f"{name}_{number}.{ending}")
            seed += 1
    return root


@cache
def sorted_like_imagenet() -> dict[int, int]:
    """Return a class for each number of ImageNet's validation images, 50 a class, that agrees with most ReaL labels.

    The first class that people accept where there is room for it still, any other for the rest: the published classes
    are not known here.
    """
    room = Counter(dict.fromkeys(range(1000), 50))
    places: dict[int, int] = {}
    rest = []
    for number, accepted in enumerate(real_labels(), 1):
        label = next((label for label in accepted if room[label]), None)
        if label is None:
            rest.append(number)
        else:
            places[number] = label
            room[label] -= 1
    places |= dict(zip(rest, room.elements(), strict=True))
    return dict(sorted(places.items()))
